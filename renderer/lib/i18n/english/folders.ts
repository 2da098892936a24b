// Texts about the folders that sessions work in.

import { counted } from '../../../../core/base/counted.ts';
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
  title: 'Work in a folder',
  lead: 'The agent then works in this folder and not in its own workspace. Nothing is opened before you have seen what it may do there.',
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
  inWorktree: 'In a new git worktree, on a new branch',
  worktreeAbout: 'Your files stay as they are until you merge the branch.',
  about: 'Folder of this session',
  instructions: {
    title: 'Instructions',
    none: 'This folder has no AGENTS.md.',
    states: {
      none: '',
      new: 'TrayClaw reads this file but does not follow it yet.',
      accepted: 'TrayClaw follows this text. If the file changes, you are asked again.',
      changed: 'The file changed since you accepted it. TrayClaw reads it but does not follow it.',
    },
    accept: 'Follow these instructions',
    withdraw: 'Stop following',
    allowNothing: 'Instructions never approve anything: calls that need an approval still ask.',
    text: (name: string) => `Text of ${name}`,
    isNew: (name: string) => `This folder has instructions in ${name}.`,
    isChanged: (name: string) => `${name} changed, so TrayClaw no longer follows it.`,
    review: 'Review',
  },
  worktrees: {
    title: 'Git worktrees',
    none: 'No session has a worktree in this repository.',
    clean: 'Everything is committed.',
    uncommitted: (count: number) => counted(count, 'file in no commit', 'files in no commit'),
    detached: 'Commits on no branch',
    remove: 'Remove',
    removeOf: (name: string) => `Remove the worktree ${name}`,
    discard: 'Delete these files too',
    openSession: 'Open session',
    loses: 'Removing this worktree deletes these files for good:',
    losesCommits: 'Its last commits are on no branch and would be lost.',
    removed: (name: string) => `The worktree ${name} is removed. Its branch stays.`,
    keep: 'Keep',
  },
  close: 'Close',
};
