// Operations on plugins: list them, approve the current content of one, and call an operation of one.

import { resolve } from 'node:path';
import { doors } from '../../contracts/doors.ts';
import { AppError } from '../../contracts/errors.ts';
import { systemSessionId } from '../../contracts/events.ts';
import type { pluginOps } from '../../contracts/features/plugins.ts';
import type { Caller, OpHandlers, OpParsed, OpResult } from '../../contracts/ops.ts';
import { parseGiven } from '../../contracts/parse-given.ts';
import type { Spine } from '../feature.ts';
import { readPluginContent, type PluginContent } from './plugin-content.ts';
import type { RunningPlugin } from './running-plugin.ts';

type Taken = Pick<Spine, 'log' | 'home' | 'panic'>;
type PluginOps = Pick<OpHandlers, keyof typeof pluginOps>;

export function createPluginOps(spine: Taken, all: readonly RunningPlugin[]): PluginOps {
  return {
    'plugin.list': () => ({ plugins: all.map(({ view }) => view) }),
    'plugin.approve': (params, caller) => approve(spine, params, caller),
    'plugin.call': async ({ operation: name, params }, caller) => {
      const found = all.flatMap(({ operations }) => operations).find((operation) => operation.name === name);
      if (found === undefined) throw new AppError('unknown_op', `There is no operation ${name}.`);
      const given = parseGiven(found.params, params ?? {}, { says: `The parameters of ${name} are not valid`, whole: 'the parameters' });
      return { result: found.result.parse(await found.run(given, caller)) };
    },
  };
}

/** Fails unless the content is unchanged since the person reviewed it. */
function approve({ log, home, panic }: Taken, given: OpParsed<'plugin.approve'>, caller: Caller): OpResult<'plugin.approve'> {
  if (!doors[caller.channel].isPersonal) throw new AppError('forbidden', 'A plugin is approved in the window or on the command line.');
  if (panic.engaged) throw new AppError('panic_engaged', 'Nothing can be approved while everything is stopped.');
  const { path, sha256 } = contentOf(resolve(home, given.path));
  if (sha256 !== given.sha256) {
    throw new AppError('conflict', `${path} no longer holds what you were shown.`, {
      hint: 'Review it again, then approve it: trayclaw plugins list',
    });
  }
  log.append(systemSessionId, [{ type: 'plugin.approved', body: { path, sha256, by: caller.actor } }], true);
  return { path, sha256 };
}

function contentOf(path: string): PluginContent {
  try {
    return readPluginContent(path);
  } catch (cause) {
    throw new AppError('not_found', `There is no plugin at ${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
