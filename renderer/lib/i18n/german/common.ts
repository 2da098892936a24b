import type { Words } from '../words.ts';

export const common: Words['common'] = {
  tokens: (count, shown) => `${shown} ${count === 1 ? 'Token' : 'Tokens'}`,
  costUnknown: 'Kosten unbekannt',
  costNothing: '0 $',
  today: 'Heute',
  thisWeek: 'Diese Woche',
  earlier: 'Früher',
};
