// Evals: runs cases through the program, grades them, and keeps and compares the runs. Spends nothing unless a run is requested.

import { NewestMap } from '../../base/newest-map.ts';
import { counted } from '../../base/counted.ts';
import { hash } from 'node:crypto';
import { AppError } from '../../contracts/errors.ts';
import { doors } from '../../contracts/doors.ts';
import type { EventType } from '../../contracts/events.ts';
import { evalEvents, evalFileSchema, type EvalRun } from '../../contracts/features/evals.ts';
import type { Caller, OpHandlers, OpParsed } from '../../contracts/ops.ts';
import { ownPromptNames, type PromptText } from '../../contracts/own-prompts.ts';
import { ownChannels } from '../../contracts/system-session.ts';
import { addCost } from '../../contracts/spending.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { runSuite, type BenchDeps } from './bench.ts';
import { CaseHosts, type CaseHostDeps, type StartProgram } from './case-host.ts';
import { createRunCode } from './code-file.ts';
import { draftCases } from './draft.ts';
import { exportRun } from './exports.ts';
import { EvalRows, evalMigrations, type EvalRunRow } from './rows.ts';
import { compareRuns, rateOf } from './statistics.ts';
import { ownSuites } from './own-suites.ts';
import { casesOf, readSuite, type RunCode, type Suite } from './suite-file.ts';

type Taken = Pick<
  Spine,
  | 'asking'
  | 'budget'
  | 'clock'
  | 'closing'
  | 'config'
  | 'environment'
  | 'ids'
  | 'log'
  | 'models'
  | 'panic'
  | 'programs'
  | 'redactDeep'
  | 'secrets'
  | 'temporaryFolder'
  | 'version'
> & {
  readonly prompt: PromptText;
  /** A case runs through the whole program. */
  readonly start: StartProgram;
};

/** A skill that the cases test. The answers depend on its content. */
export interface SkillAtHand {
  readonly folder: string;
  readonly sha256: string;
}

const PARALLEL = 4;
const LIST_MAX = 20;
const LIST_MOST = 200;
const EVENTS_MAX = 200_000;
const types = Object.keys(evalEvents) as EventType[];

export const evals = defineBuiltInFeature({
  name: 'evals',
  migrations: evalMigrations,
  rows: ({ db }) => new EvalRows(db),
  create: (spine: Taken, rows: EvalRows) => {
    const running = new Map<string, RunningEval>();
    const read = (row: EvalRunRow): EvalRun => readRun(spine.log, row, running.has(row.runId));
    const get = (runId: string): EvalRun => read(findRun(rows, runId));
    const exported = (run: EvalRun, format: 'text' | 'json' | 'junit' | 'markdown') => ({ ...run, exported: exportRun(run, format) });
    /** Caches finished runs, which no longer change. */
    const ended = new NewestMap<string, Omit<EvalRun, 'cases'>>(LIST_MOST);
    const listed = (row: EvalRunRow): Omit<EvalRun, 'cases'> => {
      const known = ended.get(row.runId);
      if (known !== undefined) return known;
      const { cases: _cases, ...run } = read(row);
      if (!run.running) ended.set(row.runId, run);
      return run;
    };
    const begin = async (params: OpParsed<'eval.run'>, skill: SkillAtHand | null, caller: Caller): Promise<RunningEval> => {
      const { runId, stop, done } = await beginEvals({ ...spine, rows, skill }, params, caller);
      // Removed before `done` settles, so a waiting caller finds the run finished.
      const run = { runId, stop, done: done.finally(() => running.delete(runId)) };
      running.set(runId, run);
      run.done.catch(() => undefined);
      return run;
    };
    const runFor = async (params: OpParsed<'eval.run'>, skill: SkillAtHand | null, caller: Caller): Promise<EvalRun> => {
      const { runId, done } = await begin(params, skill, caller);
      if (params.wait !== false) await done;
      return get(runId);
    };
    const handlers = {
      'eval.run': async (params, caller) => exported(await runFor(params, null, caller), 'text'),
      'eval.stop': async ({ runId }) => {
        const { runId: id } = findRun(rows, runId);
        const run = running.get(id);
        run?.stop.abort(new AppError('cancelled', 'The run was stopped.'));
        // If the last case ended in the meantime, the run is finished and was not stopped.
        const stopped = await run?.done.then(
          () => false,
          () => true,
        );
        return { runId: id, stopped: stopped ?? false };
      },
      'eval.list': ({ limit }) => ({ runs: rows.newest(limit ?? LIST_MAX).map(listed) }),
      'eval.get': ({ runId, format }) => exported(get(runId), format ?? 'text'),
      'eval.compare': ({ a, b }) => compareRuns(get(a), get(b)),
      'eval.draft': ({ sessionId }) => draftCases(spine.log, sessionId),
    } satisfies Partial<OpHandlers>;
    const dispose = async (): Promise<void> => void (await Promise.allSettled([...running.values()].map(({ done }) => done)));
    return { handlers, gives: { runCases: runFor }, daily: () => rows.prune(), dispose };
  },
});

interface RunningEval {
  readonly runId: string;
  readonly stop: AbortController;
  /** Fails with over_budget, panic_engaged or cancelled. Finished cases are kept. */
  readonly done: Promise<void>;
}

/** Fails with not_found, invalid_params or no_model before anything runs. */
async function beginEvals(
  deps: Taken & { readonly rows: EvalRows; readonly skill: SkillAtHand | null },
  params: OpParsed<'eval.run'>,
  caller: Caller,
): Promise<RunningEval> {
  const { ids, log, panic, rows, clock, config, prompt, version } = deps;
  if (!doors[caller.channel].isHere) throw new AppError('denied', 'Only callers on this computer may run cases.');
  if (panic.engaged) throw new AppError('panic_engaged', 'Everything is stopped by the panic stop.');
  const stopping = new AbortController();
  // With `wait` false the run outlives the caller.
  const byCaller = caller.signal === undefined || params.wait === false ? [] : [caller.signal];
  const signal = AbortSignal.any([deps.closing, panic.signal, stopping.signal, ...byCaller]);
  const { path, cases: suite, leftOut } = await suiteOf(params, createRunCode(deps, signal));
  const model = params.model ?? suite[0]?.model ?? deps.models.defaultRef();
  if (model === null)
    throw new AppError('no_model', 'There is no model to run the cases with.', { hint: 'Name one: --model provider/name' });
  const { repeat = 1, parallel = PARALLEL } = params;
  const runId = ids.next('evl');
  const sessionId = `eval-${runId}`;
  const title = `Evals: ${counted(suite.length, 'case')}`;
  log.append(sessionId, [
    { type: 'session.created', body: { title, agentId: 'main', channel: ownChannels.eval, forkedFrom: null } },
    {
      type: 'eval.started',
      body: { runId, path, model, cases: suite.length, repeat, by: caller.actor, ...(leftOut === undefined ? {} : { leftOut }) },
    },
  ]);
  const prompts = Object.fromEntries(ownPromptNames.map((name) => [name, prompt(name)]));
  const hostDeps: CaseHostDeps = { ...deps, skill: deps.skill?.folder, prompts, resolveSecret: (ref) => deps.secrets.resolve(ref) };
  const hosts = new CaseHosts(hostDeps);
  const { policy, limits, tools, sandbox, models } = config;
  const verdicts = { passed: 0, failed: 0, errors: 0 };
  const bench: BenchDeps = {
    ...deps,
    basis: hash(
      'sha256',
      JSON.stringify([
        version,
        prompts,
        policy,
        limits,
        tools,
        sandbox,
        models.routes,
        ...(deps.skill === null ? [] : [deps.skill.sha256]),
      ]),
      'hex',
    ),
    runCase: (test, ref, stop) => hosts.run(test, ref, stop),
    cached: (key) => rows.cached(key),
    cache: (key, body) => rows.cache(key, body, clock.nowMs()),
    assertBudget: () => assertBudget(deps, sessionId, signal),
    record: (result, spent) => {
      verdicts[result.verdict === 'pass' ? 'passed' : result.verdict === 'fail' ? 'failed' : 'errors'] += 1;
      log.append(sessionId, [{ type: 'eval.case_finished', body: { runId, ...spent, result } }]);
    },
  };
  const options = { sessionId, model, repeat, parallel, useCache: params.cache !== false, isReplay: params.replay === true, signal };
  const run = async (): Promise<void> => {
    try {
      await runSuite(bench, suite, options);
    } finally {
      hosts.dispose();
    }
    log.append(sessionId, [{ type: 'eval.finished', body: { runId, ...verdicts } }], true);
  };
  return { runId, stop: stopping, done: run() };
}

/** The cases and their source. */
async function suiteOf({ path, suite, cases }: OpParsed<'eval.run'>, runCode: RunCode): Promise<Suite & { readonly path: string }> {
  if ([path, suite, cases].filter((one) => one !== undefined).length !== 1)
    throw new AppError('invalid_params', 'A run takes one of path, suite and cases.');
  if (path !== undefined) return { path, ...(await readSuite(path, runCode)) };
  if (suite !== undefined)
    return { path: `suite ${suite}`, cases: casesOf(evalFileSchema.parse(ownSuites[suite]()), `the suite ${suite}`) };
  return { path: 'cases of a program', cases: casesOf(cases ?? { tests: [] }, process.cwd()) };
}

/** The temporary data folders do not know the person's budget, so a case starts only while the daily budget has room. */
async function assertBudget({ budget, clock }: Taken, sessionId: string, signal: AbortSignal): Promise<void> {
  const nothing = { inputTokens: 1, inputUsd: 0, tokens: 1, usd: 0 };
  const admission = await budget.reserve({ sessionId, turnId: sessionId, nowMs: clock.nowMs() }, nothing, signal);
  if (admission === null) throw new AppError('cancelled', 'The run was stopped.');
  if (!admission.ok) {
    throw new AppError('over_budget', `The budget of the ${admission.breach.scope} allows no more cases.`, {
      hint: 'What was done is kept. Run it again when there is room: finished cases come from the cache.',
    });
  }
  admission.reservation.settle(null);
}

function findRun(rows: EvalRows, runId: string): EvalRunRow {
  const row = runId === 'last' ? rows.newest(1)[0] : rows.run(runId);
  if (row === undefined || row === null) throw new AppError('not_found', `There is no run ${runId}.`, { hint: 'See: trayclaw eval list' });
  return row;
}

function readRun(log: Spine['log'], { runId, sessionId, startedAtMs }: EvalRunRow, running: boolean): EvalRun {
  const events = log.reads.slice(sessionId, { types, limit: EVENTS_MAX });
  const begun = events.find((event) => event.type === 'eval.started')?.body;
  const cases = events.flatMap((event) => (event.type === 'eval.case_finished' ? [event.body] : []));
  const count = (verdict: string): number => cases.filter(({ result }) => result.verdict === verdict).length;
  const results = cases.map(({ result }) => result);
  return {
    runId,
    startedAtMs,
    path: begun?.path ?? '',
    ...(begun?.leftOut === undefined ? {} : { leftOut: begun.leftOut }),
    model: begun?.model ?? '',
    running,
    planned: (begun?.cases ?? 0) * (begun?.repeat ?? 1),
    finished: events.some(({ type }) => type === 'eval.finished'),
    passed: count('pass'),
    failed: count('fail'),
    errors: count('error'),
    requests: results.reduce((sum, { requests }) => sum + requests, 0),
    cached: results.filter(({ cached }) => cached).length,
    costUsd: cases.reduce<number | null>((sum, { paidUsd }) => addCost(sum, paidUsd), 0),
    rate: rateOf(results),
    cases: results,
  };
}
