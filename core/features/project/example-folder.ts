// Creates the example folder for first tasks, a few small files of a fictional shop, in the configured workspace when a person asks. Never
// replaces an existing file.

import { mkdirSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errnoOf } from '../../base/errno.ts';
import { makeFolders } from '../../base/make-folders.ts';
import { AppError } from '../../contracts/errors.ts';

const name = 'example';
/** As for any folder that a person creates. */
const FOLDER_MODE = 0o777;

const files: Readonly<Record<string, string>> = {
  'orders.csv': [
    'date,customer,item,amount,paid',
    '2026-03-02,Lindqvist,oak shelf,240.00,yes',
    '2026-03-05,Okafor,desk lamp,59.90,yes',
    '2026-03-09,Lindqvist,desk lamp,59.90,no',
    '2026-03-17,Tanaka,oak table,780.00,no',
    '2026-03-21,Okafor,oak shelf,240.00,yes',
    '2026-03-28,Moreau,coat rack,84.50,no',
    '',
  ].join('\n'),
  'meeting.md': [
    '# Meeting, 1 April',
    '',
    'Anna, Ben and Chidi met about the move to the new warehouse.',
    '',
    '- The lease starts on 1 June; Ben signs it by 15 April.',
    '- Anna asks two movers for a price until next Friday.',
    '- Open: who tells the customers? Chidi writes a draft.',
    '- The oak table for Tanaka must be delivered before the move.',
    '',
  ].join('\n'),
  'letters/tanaka.txt': 'Dear Ms Tanaka,\n\nyour oak table is ready. When may we deliver it?\n\nKind regards\n',
  'letters/moreau.txt': 'Dear Mr Moreau,\n\nthe invoice for your coat rack (84.50) is still open.\n\nKind regards\n',
};

export interface ExampleFolder {
  readonly folder: string;
  /** The files created by this call, relative to the folder. */
  readonly made: string[];
}

/** Fails with `conflict` if something else has the name. */
export function makeExample(workspace: string): ExampleFolder {
  const folder = join(workspace, name);
  const made: string[] = [];
  try {
    for (const [path, text] of Object.entries(files)) {
      const target = join(folder, path);
      makeFolders({ mkdirSync, statSync }, dirname(target), FOLDER_MODE);
      // A link in its place would lead out of the workspace.
      if (realpathSync(dirname(target)) !== dirname(target)) throw new AppError('conflict', `${dirname(target)} leads to another folder.`);
      if (writeNew(target, text)) made.push(path);
    }
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw new AppError('conflict', `The example folder could not be made at ${folder}.`, { cause });
  }
  return { folder, made };
}

function writeNew(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'wx' });
    return true;
  } catch (cause) {
    if (errnoOf(cause) === 'EEXIST') return false;
    throw cause;
  }
}
