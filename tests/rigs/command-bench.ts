// For tests only: a temporary workspace, and the analysis of a command line in it.

import { lstatSync, mkdirSync, mkdtempSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { CommandAnalyst, type CommandAnalysis, type CommandPlaces } from '../../core/guard/command/command.ts';

const environment = { PATH: '/usr/bin:/bin' };

/** `secret` matches the real paths that are protected. */
export function commandBench(secret: RegExp) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-command-')));
  const workspace = join(root, 'workspace');
  mkdirSync(workspace);
  const protectionOf = (real: string): string | null => (secret.test(real) ? 'secret' : null);
  const places: CommandPlaces = {
    opened: [workspace],
    home: join(root, 'data'),
    userHome: root,
    protectionOf,
    fact(given, cwd, access) {
      const real = realOr(resolve(cwd, given));
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

/** The real path of what exists, also behind a link without a target, with the rest of the path as it is. */
export function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const target = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true ? readlinkSync(path) : null;
    if (target !== null) return realOr(resolve(dirname(path), target));
    return dirname(path) === path ? path : join(realOr(dirname(path)), basename(path));
  }
}
