// `folders`: the folders TrayClaw may work in beside the configured workspace, and a person's trust in them.

import { resolve } from 'node:path';
import type { Command } from 'commander';
import { revealed } from '../../base/visible-text.ts';
import type { WorkspaceState } from '../../contracts/workspace-ops.ts';
import type { Run } from './command-context.ts';
import { table, when } from './table.ts';

const states: Readonly<Record<WorkspaceState, string>> = {
  trusted: 'trusted',
  replaced: 'replaced since: asks again',
  missing: 'not there',
  refused: 'cannot be a workspace',
  configured: 'the configured workspace',
  data: "TrayClaw's own data",
  new: 'not trusted',
};

export function registerFolders(program: Command, run: Run): void {
  const folders = program.command('folders').description('folders TrayClaw may work in beside its own workspace');
  folders
    .command('list')
    .description('trusted folders, the last used first')
    .action(() =>
      run((context) =>
        context.runOp(
          'workspace.list',
          {},
          {
            json: (result) => result.workspaces,
            human: ({ configured, workspaces }) =>
              table(
                ['FOLDER', 'STATE', 'LAST USED'],
                [
                  [revealed(configured), states.configured, ''],
                  ...workspaces.map(({ path, state, lastUsedAtMs }) => [
                    revealed(path),
                    states[state],
                    lastUsedAtMs === null ? 'never' : when(lastUsedAtMs),
                  ]),
                ],
                '',
              ),
          },
        ),
      ),
    );
  folders
    .command('trust')
    .description('let TrayClaw work in a folder and below, until you take it back')
    .argument('[folder]', 'the folder', '.')
    .action((folder: string) =>
      run((context) =>
        context.runOp(
          'workspace.trust',
          { path: resolve(context.io.cwd, folder) },
          { human: ({ path }) => `TrayClaw may work in ${revealed(path)}.` },
        ),
      ),
    );
  folders
    .command('forget')
    .description('take the trust in a folder back; its files stay')
    .argument('[folder]', 'the folder', '.')
    .action((folder: string) =>
      run((context) =>
        context.runOp(
          'workspace.forget',
          { path: resolve(context.io.cwd, folder) },
          { human: ({ path }) => `TrayClaw asks again before it works in ${revealed(path)}.` },
        ),
      ),
    );
}
