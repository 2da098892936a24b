// Texts about the model and the budget in the header.

export const budget = {
  status: 'Model and budget',
  noModel: 'No model',
  spentOf: (spent: string, limit: string) => `${spent} of ${limit} today`,
  spent: (spent: string) => `${spent} today`,
  details: 'Budget details',
  title: 'Budget',
  scopes: { turn: 'This turn', session: 'This session', day: 'Today' },
  noLimit: 'no limit',
  of: (spent: string, limit: string) => `${spent} of ${limit}`,
  reserved: (amount: string) => `${amount} reserved for calls in progress`,
  allowed: (amount: string) => `${amount} more than configured`,
  lowerBound: 'at least; some calls have no known price',
  none: 'No limit is set. Spending is still counted.',
  change: 'Change the limits',
  usage: 'Usage',
  models: 'Choose another model',
} as const;
