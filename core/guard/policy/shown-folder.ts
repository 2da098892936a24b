// Formats a folder for people.

import { relative } from 'node:path';
import { isBelow } from '../../base/inside-folder.ts';

/** Returns the form that people know: "the workspace", "notes/", or the full path if the folder is outside. */
export function showFolder(folder: string, workspace: string): string {
  const way = relative(workspace, folder);
  if (way === '') return 'the workspace';
  return isBelow(folder, workspace) ? `${way}/` : folder;
}
