// The path argument of every file tool. Only its form is checked here; path-facts resolves it.

import * as z from 'zod';

export const pathArgument = z
  .string()
  .min(1)
  .max(4096)
  .refine((path) => !path.includes('\0'), 'a path cannot hold a NUL byte')
  .describe('File path; relative paths start at the workspace folder, ~ is the home folder.');

/** The path of a file to be made: one that ends like a folder's would make a file where the folder is meant. */
export const newFileArgument = pathArgument.refine((path) => !/[/\\]$/.test(path), 'a file is written, and this path names a folder');

export const folderArgument = pathArgument
  .default('.')
  .describe('Folder to look in; relative paths start at the workspace folder. Default: the workspace.');

/** Formats a path for a sentence. */
export function shownPath(path: string): string {
  return path.length <= 120 ? path : `…${path.slice(-119)}`;
}
