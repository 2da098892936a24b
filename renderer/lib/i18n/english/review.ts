// Texts about the review of changed files, and about restoring to an earlier message.

export const review = {
  title: 'Changes',
  open: 'Review',
  close: 'Close the review',
  scope: 'Changes of',
  turn: 'This turn',
  session: 'Whole session',
  list: 'Changed files',
  none: 'No file is changed.',
  noneAbout: 'Files that tools write are listed here, with every change they made. What a command wrote on its own is not.',
  undoAll: 'Undo all',
  undoFile: 'Undo file',
  undoFileOf: (name: string) => `Undo file ${name}`,
  undoHunk: 'Undo part',
  undoHunkOf: (at: number, name: string) => `Undo part ${at} of ${name}`,
  partPutBack: 'The part was put back.',
  rewind: 'Go back to here…',
  rewindTitle: 'Go back to before this message',
  rewindAbout:
    'These changes came after it. Files can be put back, and redone. The conversation continues in a new session; this one stays.',
  both: 'Files and conversation',
  filesOnly: 'Files only',
  conversationOnly: 'Conversation only',
} as const;
