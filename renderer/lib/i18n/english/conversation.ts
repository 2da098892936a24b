// Texts of the frame around a session's turns.

export const conversation = {
  notFound: 'This place of the session is not there.',
  exportToRead: 'Export the session to read all of it.',
  conversation: 'Conversation',
  tryAgain: 'Try again',
  showEarlier: 'Show earlier',
  waitsBelow: 'An approval is waiting below',
  newest: 'Newest',
  find: 'Find in this session',
  spokenCode: (name: string) => (name === '' ? 'Code.' : `Code in ${name}.`),
} as const;
