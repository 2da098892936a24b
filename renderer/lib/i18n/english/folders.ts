// Words for the folders sessions work in.

import type { WorkspaceState } from '../../../../core/contracts/workspace-ops.ts';

const states: Readonly<Record<WorkspaceState, string>> = {
  configured: 'The configured workspace:',
  data: "TrayClaw's own data, not a workspace:",
  trusted: 'Trusted:',
  new: 'Not trusted yet:',
  replaced: 'Replaced since it was trusted:',
  refused: 'Cannot be a workspace:',
  missing: 'Folder not found:',
};

export const folders = {
  workIn: 'Work in a folder…',
  title: 'Work in a folder',
  trusted: 'Trusted folders',
  path: 'Folder path',
  example: '/home/me/project',
  states,
  meaning:
    'TrayClaw then reads everything in this folder and below without asking, and what it reads goes to the model you chose. ' +
    'Changes and commands still follow your rules. This is remembered until you revoke it or the folder is replaced.',
  others: 'Other users of this computer can write to this folder.',
  trust: 'Trust and work here',
  open: 'Work here',
  cancel: 'Cancel',
  worksIn: (path: string) => `Works in ${path}`,
};
