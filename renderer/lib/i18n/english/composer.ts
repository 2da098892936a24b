// Texts of the message field.

import { counted } from '../../../../core/base/counted.ts';

export const composer = {
  workIn: 'Work in a folder…',
  message: 'Message',
  ask: 'Ask for something',
  add: 'Add something while it works',
  send: 'Send',
  stop: 'Stop turn',
  hint: 'Shift+Enter new line · / commands · @ files',
  offline: 'Not connected. What you write stays here.',
  filesNext: 'Files are sent with the next message, after this turn.',
  attach: 'Attach files',
  files: 'Attached files',
  removeFile: (name: string) => `Remove ${name}`,
  reading: (name: string) => `Reading ${name}…`,
  drop: 'Drop files to attach them',
  problems: {
    tooLarge: (name: string, size: string, max: string) => `${name} is ${size}; a file may be at most ${max}.`,
    tooMuch: (name: string, max: string) => `${name} does not fit: the files of a message may be at most ${max} in total.`,
    tooMany: (name: string, max: number) => `${name} was left out: a message takes at most ${max} files.`,
    unreadable: (name: string) => `${name} could not be read. A folder cannot be attached.`,
  },
  dismiss: 'Dismiss',
  model: 'Model of this session',
  modelDefault: (ref: string) => `${ref} (default)`,
  modelNone: 'No model',
  commands: 'Commands',
  mentioned: 'Files of the folder',
  suggestions: (n: number) => counted(n, 'suggestion'),
  suggestionKeys: 'Arrow keys choose, Tab accepts, Escape closes',
  result: (line: string) => `Result of ${line}`,
  output: 'Output',
  running: 'Running…',
  save: (name: string) => `Save ${name}`,
} as const;
