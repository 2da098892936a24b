// Texts that more than one view uses.

export const common = {
  tokens: (count: number, shown: string) => `${shown} ${count === 1 ? 'token' : 'tokens'}`,
  costUnknown: 'cost unknown',
  costNothing: '$0',
  loading: 'Loading…',
  today: 'Today',
  thisWeek: 'This week',
  earlier: 'Earlier',
} as const;
