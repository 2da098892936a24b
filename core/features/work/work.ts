// Work with criteria: a goal is pursued until checks show that it is done. Turns outside of such work pay nothing for this feature.

import { dirname, resolve } from 'node:path';
import { doors } from '../../contracts/doors.ts';
import { AppError, noSuch } from '../../contracts/errors.ts';
import type { OpHandlers, OpParsed, Caller } from '../../contracts/ops.ts';
import { workSessionOf, type WorkFile, type WorkPlan, type WorkView, workFileSchema } from '../../contracts/features/work.ts';
import { narrow, type TurnBounds } from '../../contracts/turn-bounds.ts';
import type { TaintSource } from '../../contracts/tools.ts';
import type { WorkStrategy } from '../../contracts/work-strategy.ts';
import { protectionOf } from '../../hands/tools/tools.ts';
import { readRunFile, RunRows, runTableSql } from '../../runtime/runs/runs.ts';
import { sqlMigrations } from '../../store/storage/storage.ts';
import { defineBuiltInFeature, type Contribution, type Spine } from '../feature.ts';
import { planOf } from './presets.ts';
import { WorkDesk } from './work-desk.ts';

const table = { name: 'work_tasks', key: 'task_id', family: 'work', id: 'taskId' } as const;
const workMigrations = sqlMigrations({
  'work-001-tasks': runTableSql(table),
});

type Taken = Pick<
  Spine,
  | 'clock'
  | 'closing'
  | 'facts'
  | 'ids'
  | 'log'
  | 'logger'
  | 'panic'
  | 'policy'
  | 'redactPrompt'
  | 'sources'
  | 'turns'
  | 'asking'
  | 'gate'
  | 'workspaces'
  | 'temporaryFolder'
> & { readonly contributions: readonly Contribution[] };

const LIST_MAX = 50;

export const work = defineBuiltInFeature({
  name: 'work',
  migrations: workMigrations,
  rows: ({ db }) => new RunRows(db, table),
  create: (taken: Taken, rows: RunRows) => {
    // Read late, because later features add strategies.
    const strategies = (): WorkStrategy[] => taken.contributions.flatMap((one) => one.strategies ?? []);
    const spine = { ...taken, strategies };
    const sourcesOf = (sessionId: string) => spine.sources.ofSession(sessionId);
    const { facts, gate, workspaces } = spine;
    const desk = new WorkDesk({
      ...spine,
      strategyOf: (name) => findStrategy(strategies(), name),
      rows,
      sourcesOf,
      configured: facts.workspace,
      trustFor: (path, about) => gate.trustFor(workspaces.opening(path).opens, about),
      isProtected: (real) => protectionOf(real, facts) !== null,
    });
    const handlers = {
      'work.run': (params, caller) => run(desk, spine, params, caller),
      'work.list': ({ limit }) => ({ work: desk.runs.list(limit ?? LIST_MAX) }),
      'work.get': ({ taskId }) => desk.runs.view(desk.runs.named(taskId)),
      'work.wait': ({ taskId }, { signal }) => desk.runs.whenResting(desk.runs.named(taskId), signal),
      'work.decide': (params, caller) => decide(desk, params, caller),
      'work.cancel': ({ taskId: named }, { actor }) => {
        const taskId = desk.runs.named(named);
        desk.cancel(taskId, actor);
        return desk.runs.view(taskId);
      },
    } satisfies Partial<OpHandlers>;
    /** For the schedule feature, which starts work at set times. */
    const port = {
      read: (given: Pick<OpParsed<'work.run'>, 'file' | 'task'>, caller: Caller): WorkFile =>
        planned(spine, taskIn(given, caller), {}).task,
      begin: (task: WorkFile, about: Begun): string => begin(desk, spine, task, about),
      statusOf: (taskId: string): string | null => (rows.get(taskId) === null ? null : desk.runs.view(taskId).status),
    };
    return { handlers, gives: { work: port }, takeUp: () => desk.runs.takeUp(), dispose: () => desk.runs.dispose() };
  },
});

function run(desk: WorkDesk, spine: Planning & Pick<Taken, 'sources'>, params: OpParsed<'work.run'>, caller: Caller): Promise<WorkView> {
  const { task, plan } = planned(spine, taskIn(params, caller), params);
  const untrusted = params.file === undefined ? [] : spine.sources.ofFile(params.file);
  const taskId = desk.start(task, plan, { channel: caller.channel, by: caller.actor, untrusted });
  return params.wait === false ? desk.runs.viewBegun(taskId) : desk.runs.whenResting(taskId, caller.signal);
}

type Planning = Pick<Taken, 'workspaces'> & { readonly strategies: () => readonly WorkStrategy[] };

/** Fails with not_found. */
function findStrategy(all: readonly WorkStrategy[], name: string): WorkStrategy {
  const found = all.find((one) => one.name === name);
  if (found !== undefined) return found;
  const names = all.map((one) => one.name);
  const hint = names.length === 0 ? 'A plugin brings one; see docs/guide/tasks.md.' : `There are: ${names.join(', ')}`;
  if (name === '') throw new AppError('not_found', 'The task names no custom strategy.', { hint });
  throw noSuch('strategy', name, names, hint);
}

export interface Begun {
  readonly taskId: string;
  readonly by: string;
  readonly bounds: TurnBounds;
  readonly untrusted: readonly TaintSource[];
  alongside(sessionId: string): void;
}

/** Begins the work within the given bounds. Uses the preset `scheduled` if the task names neither preset nor strategy. */
function begin(desk: WorkDesk, spine: Planning, given: WorkFile, { bounds, ...about }: Begun): string {
  const { task, plan } = planned(spine, given, given.preset === undefined && given.strategy === undefined ? { preset: 'scheduled' } : {});
  const usd = Math.min(plan.usd ?? Infinity, bounds.usd ?? Infinity);
  const within = { ...plan, bounds: narrow(plan.bounds, bounds), usd: usd === Infinity ? null : usd };
  const sessionId = workSessionOf(about.taskId);
  desk.start(task, within, { ...about, alongside: () => about.alongside(sessionId), channel: 'schedule' });
  return sessionId;
}

/** Fails with invalid_params for a task that can never be completed. */
function planned(
  { workspaces, strategies }: Planning,
  task: WorkFile,
  { strategy, preset }: Pick<OpParsed<'work.run'>, 'strategy' | 'preset'>,
): { readonly task: WorkFile; readonly plan: WorkPlan } {
  const workspace = task.workspace === undefined ? null : workspaces.choose(task.workspace);
  const plan = planOf(task, { strategy, preset, workspace });
  if (plan.kind === 'custom') findStrategy(strategies(), plan.custom ?? '');
  if (task.criteria.length + task.deliverables.length === 0 && plan.kind !== 'human-gate' && plan.kind !== 'single') {
    throw new AppError('invalid_params', 'The task names no criterion, so nothing says when it is done.', {
      hint: 'Add `criteria`, such as: - contains: DONE',
    });
  }
  return { task, plan };
}

function taskIn({ file, task }: Pick<OpParsed<'work.run'>, 'file' | 'task'>, caller: Caller): WorkFile {
  if ((file === undefined) === (task === undefined)) throw new AppError('invalid_params', 'Give either `file` or `task`.');
  if (task !== undefined) return task;
  if (!doors[caller.channel].isHere) throw new AppError('denied', 'Only callers on this computer may name a file.');
  return readTaskFile(file ?? '');
}

function decide(
  desk: WorkDesk,
  { taskId: named, verdict, candidate, note = '' }: OpParsed<'work.decide'>,
  caller: Caller,
): Promise<WorkView> {
  const taskId = desk.runs.named(named);
  if ((verdict === undefined) === (candidate === undefined)) throw new AppError('invalid_params', 'Give either `verdict` or `candidate`.');
  if (candidate !== undefined) desk.choose(taskId, candidate, caller.actor);
  else desk.judge(taskId, verdict ?? 'fail', { note, by: caller.actor });
  return desk.runs.whenResting(taskId, caller.signal);
}

/** Fails with `not_found` or `invalid_params`. A workspace in the file is relative to the file. */
function readTaskFile(path: string): WorkFile {
  const file = readRunFile(path, { schema: workFileSchema, guide: 'tasks.md' });
  return file.workspace === undefined ? file : { ...file, workspace: resolve(dirname(path), file.workspace) };
}
