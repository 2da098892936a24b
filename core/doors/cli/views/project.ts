// Views of the instructions and the worktrees of a folder.

import { revealed } from '../../../base/visible-text.ts';
import type { Project } from '../../../contracts/features/project.ts';
import { exitCodes } from '../exit-code.ts';
import type { ViewsOf } from '../kernel/view.ts';

export const projectViews: ViewsOf<'project'> = {
  'project.get': { show: describe },
  'project.accept': { show: describe },
  'project.withdraw': { show: describe },
};

const asks = (program: string): string => `It waits for your approval: ${program} approvals list`;
const codeOf = ({ waiting }: { readonly waiting: boolean }): number => (waiting ? exitCodes.waiting : exitCodes.done);

export const worktreeViews: ViewsOf<'worktree'> = {
  'worktree.begin': {
    show: ({ sessionId, path, branch, waiting }, { program }) =>
      waiting
        ? `The session ${sessionId} is to work in ${path}, on the branch ${branch}. ${asks(program)}`
        : `The session ${sessionId} works in ${path}, on the branch ${branch}.`,
    exitCode: codeOf,
  },
  'worktree.remove': {
    show: ({ path, waiting }, { program }) => (waiting ? `${path} is still there. ${asks(program)}` : `Removed ${path}.`),
    exitCode: codeOf,
  },
};

const states: Readonly<Record<Project['state'], string>> = {
  none: 'It has no AGENTS.md.',
  new: 'Not accepted: the model sees it as material.',
  accepted: 'Accepted: the model follows it.',
  changed: 'Changed since you accepted it: the model sees it as material.',
};

function describe({ folder, state, file }: Project): string {
  if (file === null) return `${revealed(folder)}: ${states[state]}`;
  const accept = `Accept this text with: trayclaw folders accept ${revealed(JSON.stringify(folder))} --sha256 ${file.sha256}`;
  const lines = [revealed(file.path), states[state], '', revealed(file.text), ...(state === 'accepted' ? [] : ['', accept])];
  return lines.join('\n');
}
