// Texts about the review of changed files, and about restoring to an earlier message.

const files = (count: number): string => (count === 1 ? '1 file' : `${count.toLocaleString('en-GB')} files`);

export const review = {
  title: 'Changes',
  open: 'Review',
  close: 'Close the review',
  scope: 'Changes of',
  turn: 'This turn',
  session: 'Whole session',
  list: 'Changed files',
  count: (count: number) => `${files(count)} changed`,
  none: 'No file is changed.',
  noneAbout: 'Files that tools write are listed here, with every change they made. What a command wrote on its own is not.',
  undoAll: 'Undo all',
  undoFile: 'Undo file',
  undoFileOf: (name: string) => `Undo file ${name}`,
  undoHunk: 'Undo part',
  undoHunkOf: (at: number, name: string) => `Undo part ${at} of ${name}`,
  anyway: 'Put back anyway',
  others: 'Put back the others',
  redo: 'Redo',
  putBack: (count: number) => `${files(count)} put back.`,
  partPutBack: 'The part was put back.',
  refused: (count: number) => `${files(count)} not put back.`,
  already: 'It is already as it was before.',
  rewind: 'Go back to here…',
  rewindTitle: 'Go back to before this message',
  rewindAbout:
    'These changes came after it. Files can be put back, and redone. The conversation continues in a new session; this one stays.',
  both: 'Files and conversation',
  filesOnly: 'Files only',
  conversationOnly: 'Conversation only',
  held: 'Everything is stopped; release the panic stop first.',
} as const;
