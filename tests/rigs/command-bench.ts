// For tests only: a temporary workspace, and the analysis of a command line in it.

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { createCheckedPaths } from '../../core/hands/tools/tools.ts';
import { CommandAnalyst, type CommandAnalysis, type CommandPlaces } from '../../core/guard/command/command.ts';

const environment = { PATH: '/usr/bin:/bin' };

/** `secret` matches the real paths that are protected. */
export function commandBench(secret: RegExp) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-command-')));
  const workspace = join(root, 'workspace');
  mkdirSync(workspace);
  const protectionOf = (real: string): string | null => (secret.test(real) ? 'secret' : null);
  const paths = createCheckedPaths(root);
  const places: CommandPlaces = {
    opened: [workspace],
    home: join(root, 'data'),
    userHome: root,
    protectionOf,
    fact(given, cwd, access) {
      const path = isAbsolute(given) ? given : `${cwd}/${given}`;
      const { real } = paths.fact({}, path, access, { workspace, extraFolders: [], home: places.home });
      return { given, real, access, insideWorkspace: `${real}/`.startsWith(`${workspace}/`), protectedBy: protectionOf(real) };
    },
  };
  const analyst = new CommandAnalyst({ platform: 'linux', nowMs: () => Date.now() });
  const look = (line: string, path = environment.PATH, cwd = workspace): CommandAnalysis =>
    analyst.analyse({ line, cwd, environment: { PATH: path, HOME: root } }, places);
  return {
    root,
    workspace,
    environment: { ...environment, HOME: root },
    places,
    protectionOf,
    look,
    dispose: () => rmSync(root, { recursive: true, force: true }),
  };
}

export function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
