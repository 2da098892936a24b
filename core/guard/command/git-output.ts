// The outputs of git commands that are known without running git: the top of a repository, and where two lines of history part.

import { mergeBaseOf } from './git-history.ts';
import { repositoryFolders, repositoryRoot } from './git-repository.ts';

/** Takes the words after the program, null for an unknown one. Returns null if the output is not known. */
export function outputOfGit([command, first, second, ...more]: readonly (string | null | undefined)[], cwd: string): string | null {
  if (more.length > 0 || typeof first !== 'string') return null;
  if (command === 'rev-parse') return first === '--show-toplevel' && second === undefined ? repositoryRoot(cwd) : null;
  if (command !== 'merge-base' || typeof second !== 'string') return null;
  const folders = repositoryFolders(cwd);
  return folders === null ? null : mergeBaseOf([first, second], folders);
}
