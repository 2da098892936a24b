// Operations on plugins: list them, approve the current content of one or withdraw that, and call an operation of one.

import { basename, resolve } from 'node:path';
import { doors } from '../../contracts/doors.ts';
import { AppError } from '../../contracts/errors.ts';
import { systemSessionId } from '../../contracts/events.ts';
import type { Caller, OpHandlers, OpParsed } from '../../contracts/ops.ts';
import { parseGiven } from '../../contracts/parse-given.ts';
import { realOf } from '../../guard/workspace/workspace.ts';
import type { Spine } from '../feature.ts';
import { noPluginWords } from './load-plugins.ts';
import { readPluginContent, type PluginContent } from './plugin-content.ts';
import type { RunningPlugin } from './running-plugin.ts';

type Taken = Pick<Spine, 'log' | 'home' | 'panic'>;
type Approvals = { approved(path: string): string | null };

export function createPluginOps(spine: Taken, all: readonly RunningPlugin[], approvals: Approvals) {
  const nameAt = (at: string): string | null => all.find(({ view }) => view.path === at)?.view.name ?? null;
  return {
    'plugin.list': () => ({ plugins: all.map(({ view }) => view) }),
    'plugin.approve': (params, caller) => {
      const { path, sha256 } = approve(spine, params, caller);
      return { name: nameAt(path), path, hash: sha256, sha256, state: 'approved' };
    },
    'plugin.revoke': ({ path: given }, caller) => {
      assertPersonal(caller);
      const named = all.find(({ view }) => view.name !== null && view.name === basename(given))?.view.path;
      const path = [realOf(resolve(spine.home, given)), named].find((one) => typeof one === 'string' && approvals.approved(one) !== null);
      const hash = typeof path === 'string' ? approvals.approved(path) : null;
      if (typeof path !== 'string' || hash === null)
        throw new AppError('not_found', `No plugin is approved at ${given}.`, { hint: 'See: trayclaw plugins list' });
      spine.log.append(systemSessionId, [{ type: 'plugin.revoked', body: { path, by: caller.actor } }], true);
      return { name: nameAt(path), path, hash, state: 'revoked' };
    },
    'plugin.call': async ({ operation: name, params }, caller) => {
      const found = all.flatMap(({ operations }) => operations).find((operation) => operation.name === name);
      if (found === undefined) throw new AppError('unknown_op', `There is no operation ${name}.`);
      const given = parseGiven(found.params, params ?? {}, { says: `The parameters of ${name} are not valid`, whole: 'the parameters' });
      return { result: found.result.parse(await found.run(given, caller)) };
    },
  } satisfies Partial<OpHandlers>;
}

/** Fails unless the content is unchanged since the person reviewed it. */
function approve({ log, home, panic }: Taken, given: OpParsed<'plugin.approve'>, caller: Caller): PluginContent {
  assertPersonal(caller);
  if (panic.engaged) throw new AppError('panic_engaged', 'Nothing can be approved while everything is stopped.');
  const content = contentOf(resolve(home, given.path));
  const { path, sha256 } = content;
  if (sha256 !== given.sha256) {
    throw new AppError('conflict', `${path} no longer holds what you were shown.`, {
      hint: 'Review it again, then approve it: trayclaw plugins list',
    });
  }
  log.append(systemSessionId, [{ type: 'plugin.approved', body: { path, sha256, by: caller.actor } }], true);
  return content;
}

function assertPersonal({ channel }: Caller): void {
  if (!doors[channel].isPersonal) throw new AppError('forbidden', 'A plugin is approved in the window or on the command line.');
}

function contentOf(path: string): PluginContent {
  try {
    return readPluginContent(path);
  } catch (cause) {
    throw new AppError('not_found', `${path} is not a plugin. ${noPluginWords(cause)}`, { cause });
  }
}
