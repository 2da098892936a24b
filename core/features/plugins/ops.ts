// Operations on plugins: listing them, approving the current content of one, and calling an operation of one.

import { resolve } from 'node:path';
import * as z from 'zod';
import { describeIssues } from '../../contracts/describe-issues.ts';
import { AppError } from '../../contracts/errors.ts';
import { systemSessionId } from '../../contracts/events.ts';
import type { pluginOps, PluginView } from '../../contracts/features/plugins.ts';
import type { Caller, OpHandlers, OpParsed, OpResult } from '../../contracts/ops.ts';
import type { PluginOperation, PluginParts } from '../../contracts/plugin.ts';
import type { Spine } from '../feature.ts';
import type { PluginFile } from './load-plugins.ts';
import { readPluginContent, type PluginContent } from './plugin-content.ts';

export interface MadePlugin extends PluginFile {
  readonly parts: PluginParts | null;
}

type Taken = Pick<Spine, 'log' | 'home' | 'panic'>;
type PluginOps = Pick<OpHandlers, keyof typeof pluginOps>;

interface Offered {
  readonly operation: PluginOperation;
  readonly run: (params: unknown, caller: Caller) => unknown;
}

export function createPluginOps(spine: Taken, made: readonly MadePlugin[]): { handlers: PluginOps; list: () => PluginView[] } {
  const offered = new Map(made.flatMap(offeredBy));
  const list = (): PluginView[] => made.map(viewOf);
  return {
    list,
    handlers: {
      'plugin.list': () => ({ plugins: list() }),
      'plugin.approve': (params, caller) => approve(spine, params, caller),
      'plugin.call': async ({ operation: name, params }, caller) => {
        const found = offered.get(name);
        if (found === undefined) throw new AppError('unknown_op', `There is no operation ${name}.`);
        const given = params ?? {};
        const parsed = found.operation.params.safeParse(given);
        if (!parsed.success) {
          const issues = describeIssues(parsed.error.issues, { given, whole: 'the parameters' });
          throw new AppError('invalid_params', `The parameters of ${name} do not fit: ${issues.join('; ')}.`, { data: { issues } });
        }
        return { result: found.operation.result.parse(await found.run(parsed.data, caller)) };
      },
    },
  };
}

function offeredBy({ plugin, parts }: MadePlugin): [string, Offered][] {
  if (plugin === null) return [];
  return Object.entries(plugin.operations ?? {}).flatMap(([local, operation]): [string, Offered][] => {
    const handler = parts?.handlers?.[local] as Offered['run'] | undefined;
    return handler === undefined ? [] : [[`${plugin.name}.${local}`, { operation, run: handler }]];
  });
}

function viewOf({ plugin, parts, path, sha256, state, problem }: MadePlugin): PluginView {
  const operations = Object.entries(plugin?.operations ?? {}).map(([local, { about, params }]) => ({
    name: `${plugin?.name ?? ''}.${local}`,
    about,
    params: z.toJSONSchema(params, { io: 'input', unrepresentable: 'any' }) as Record<string, unknown>,
  }));
  const tools = (parts?.tools ?? []).map(({ name }) => name);
  return { name: plugin?.name ?? null, path, sha256, state, problem, operations, tools };
}

/** Doors that a person uses. A tool has none of them: its processes carry its mark, and these doors refuse it. */
const doorsOfPeople: readonly Caller['channel'][] = ['window', 'cli', 'tray', 'library'];

/** The current content must be what the person was shown. */
function approve({ log, home, panic }: Taken, given: OpParsed<'plugin.approve'>, caller: Caller): OpResult<'plugin.approve'> {
  if (!doorsOfPeople.includes(caller.channel))
    throw new AppError('forbidden', 'A plugin is approved in the window or on the command line.');
  if (panic.engaged) throw new AppError('panic_engaged', 'Nothing can be approved while everything is stopped.');
  const { path, sha256 } = contentOf(resolve(home, given.path));
  if (sha256 !== given.sha256) {
    throw new AppError('conflict', `${path} no longer holds what you were shown.`, {
      data: { hint: 'Review it again, then approve it: trayclaw plugins list' },
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
