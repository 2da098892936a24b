// A tool call that asks whether a session may work in a folder: the gate, the log and every door treat it like any other call. Only the
// program makes it, at the beginning of a turn; the approval becomes the grant of a trusted folder.

import * as z from 'zod';
import type { ToolDefinition } from '../../contracts/tools.ts';
import { openWorkspaceTool } from '../../contracts/workspace-ops.ts';
import type { Workspaces } from '../../guard/workspace/workspace.ts';
import { defineTool } from './define-tool.ts';
import { shownPath } from './path-argument.ts';

export function createOpenWorkspace(folders: Pick<Workspaces, 'opening' | 'holds'>): ToolDefinition {
  return defineTool({
    name: openWorkspaceTool,
    description: 'Asks the person to trust a folder as the workspace of this session.',
    input: z.strictObject({ path: z.string().min(1) }),
    class: 'read',
    shows: { verb: 'open_folder', target: ['path'] },
    isInternal: true,
    idempotency: () => 'pure',
    facts: ({ path }) => {
      const { opens, risks } = folders.opening(path);
      const folder = { given: path, real: opens.path, access: 'read' as const, insideWorkspace: false, protectedBy: null };
      return { class: 'read', paths: [folder], command: null, hosts: [], risks: [...risks], opens };
    },
    summarize: ({ path }) => `work in ${shownPath(path)}`,
    run: ({ path }) =>
      Promise.resolve(
        folders.holds(path)
          ? { forModel: `The person trusts ${path}.`, forUser: `Works in ${path}.` }
          : { forModel: `The person does not trust ${path}.`, isError: true },
      ),
  });
}
