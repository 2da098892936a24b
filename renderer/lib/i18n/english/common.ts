// Texts that more than one view uses.

export const common = {
  tokens: (count: number) => (count === 1 ? 'token' : 'tokens'),
  costUnknown: 'cost unknown',
  loading: 'Loading…',
  today: 'Today',
  thisWeek: 'This week',
  earlier: 'Earlier',
} as const;
