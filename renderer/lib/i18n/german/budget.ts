import type { Words } from '../words.ts';

export const budget: Words['budget'] = {
  status: 'Modell und Budget',
  noModel: 'Kein Modell',
  spentOf: (spent, limit) => `heute ${spent} von ${limit}`,
  spent: (spent) => `heute ${spent}`,
  details: 'Budget im Einzelnen',
  title: 'Budget',
  scopes: { turn: 'Diese Runde', session: 'Diese Sitzung', day: 'Heute' },
  noLimit: 'keine Grenze',
  of: (spent, limit) => `${spent} von ${limit}`,
  reserved: (amount) => `${amount} zurückgelegt für laufende Aufrufe`,
  allowed: (amount) => `${amount} mehr als eingestellt`,
  lowerBound: 'mindestens; für manche Aufrufe ist kein Preis bekannt',
  none: 'Es ist keine Grenze gesetzt. Gezählt wird trotzdem, was ausgegeben wird.',
  change: 'Grenzen ändern',
  usage: 'Verbrauch',
  models: 'Anderes Modell wählen',
};
