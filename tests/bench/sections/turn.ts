// The overhead of one turn in a new session: both wire formats, a tool of the host and a built-in one, with policy, durable and streamed.

import { ownName, shown, type Figure } from '../figures.ts';
import type { ToolName, WireFormat } from '../model-server/replies.ts';
import type { BenchContext } from '../section.ts';
import type { Overhead } from '../workers/timed-turns.ts';
import type { TurnFigures, TurnJob } from '../workers/turn-worker.ts';
import { runWorker } from '../workers/worker.ts';
import { measureCaution } from './caution.ts';
import { measureRouteChoice } from './route.ts';

export interface TurnCase {
  readonly name: string;
  readonly format: WireFormat;
  readonly toolCalls: number;
  readonly tool: ToolName;
}

/** The three cases that every subject supports; peers are measured with these. */
export const commonCases: readonly TurnCase[] = [
  { name: 'plain', format: 'chat', toolCalls: 0, tool: 'lookup' },
  { name: '1 tool', format: 'chat', toolCalls: 1, tool: 'lookup' },
  { name: '10 tools', format: 'chat', toolCalls: 10, tool: 'lookup' },
];

const ownCases: readonly TurnCase[] = [
  ...commonCases,
  { name: '1 × list_dir', format: 'chat', toolCalls: 1, tool: 'list_dir' },
  { name: '10 × list_dir', format: 'chat', toolCalls: 10, tool: 'list_dir' },
  { name: 'plain, Anthropic', format: 'anthropic', toolCalls: 0, tool: 'lookup' },
  { name: '1 tool, Anthropic', format: 'anthropic', toolCalls: 1, tool: 'lookup' },
  { name: '10 tools, Anthropic', format: 'anthropic', toolCalls: 10, tool: 'lookup' },
];

const TURNS = 400;
const TURNS_OF_TEN_TOOLS = 200;
const WARM_TURNS = 160;

export async function measureTurns(context: BenchContext): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const turnCase of ownCases) figures.push(await measureCase(context, turnCase, { id: 'trayclaw', label: ownName }));
  return [...figures, ...measureRouteChoice(context), ...measureCaution(context)];
}

export async function measureCase(
  context: BenchContext,
  turnCase: TurnCase,
  subject: { readonly id: string; readonly label: string },
): Promise<Figure> {
  const { name, format, toolCalls, tool } = turnCase;
  context.say(`turn: ${subject.label}, ${name}`);
  const lane = `${subject.id}-${name.replaceAll(/[^A-Za-z0-9]+/g, '-')}`;
  const job: TurnJob = {
    subject: subject.id,
    libraryFile: context.libraryFile,
    origin: context.origin,
    lane,
    format,
    script: { toolCalls, tool },
    turns: context.count(toolCalls === 10 ? TURNS_OF_TEN_TOOLS : TURNS),
    warmTurns: context.count(WARM_TURNS),
    profileFolder: context.profileFolder === null ? null : `${context.profileFolder}/${lane}`,
  };
  const taken = await runWorker<TurnJob, TurnFigures>('turn-worker.ts', job);
  const asked = taken.httpCalls === toolCalls + 1 ? '' : `; ${taken.httpCalls} HTTP calls a turn instead of ${toolCalls + 1}`;
  const { statements, commits, allocatedBytes } = taken.work;
  const work = `; ${statements.toFixed(1)} statements in ${commits.toFixed(1)} commits, ${Math.round(allocatedBytes / 1024)} KB allocated`;
  return overheadFigure({ section: 'turn', name, subject: subject.label }, taken, work + asked);
}

export function overheadFigure(about: Pick<Figure, 'section' | 'name' | 'subject'>, taken: Overhead, more = ''): Figure {
  const { wallP50, replayP50, overheadP10, cpuOverhead, withSyncP50 } = taken;
  const note = `wall ${shown(wallP50)} − replay ${shown(replayP50)}; with the disk waits ${shown(withSyncP50)}; quiet tenth ${shown(overheadP10)}, processor ${shown(cpuOverhead)}; n ${taken.turns}${more}`;
  return { ...about, unit: 'ms', p50: taken.overheadP50, p99: taken.overheadP99, syncMs: taken.syncP50, note };
}
