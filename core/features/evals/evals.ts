// Evals: cases that are run through the program and graded, runs that are kept and compared. Nothing is paid for before a run is asked for.

import { hash } from 'node:crypto';
import { AppError } from '../../contracts/errors.ts';
import { doors } from '../../contracts/doors.ts';
import type { EventType } from '../../contracts/events.ts';
import { evalEvents, evalFileSchema, type evalOps, type EvalRun } from '../../contracts/features/evals.ts';
import type { Caller, OpHandlers, OpParsed } from '../../contracts/ops.ts';
import { ownPromptNames, type PromptText } from '../../contracts/own-prompts.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { runSuite, type BenchDeps } from './bench.ts';
import { CaseHosts, type CaseHostDeps, type StartProgram } from './case-host.ts';
import { draftCases } from './draft.ts';
import { exportRun } from './exports.ts';
import { EvalRows, evalMigrations, type EvalRunRow } from './rows.ts';
import { compareRuns, rateOf } from './statistics.ts';
import { ownSuites } from './own-suites.ts';
import { casesOf, readSuite, type SuiteCase } from './suite-file.ts';

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
  | 'redactDeep'
  | 'secrets'
  | 'temporaryFolder'
  | 'version'
>;

interface Others {
  readonly prompt: PromptText;
  /** A case runs through the whole program. */
  readonly start: StartProgram;
}

/** A skill that the cases are about. Its content is part of what an answer depends on. */
export interface SkillAtHand {
  readonly folder: string;
  readonly sha256: string;
}

const PARALLEL = 4;
const LIST_MAX = 20;
const EVENTS_MAX = 200_000;
const types = Object.keys(evalEvents) as EventType[];

export const evals = defineBuiltInFeature({
  name: 'evals',
  migrations: evalMigrations,
  rows: ({ db }) => new EvalRows(db),
  create: (spine: Taken, rows: EvalRows, others: Others) => {
    const running = new Set<Promise<unknown>>();
    const get = (runId: string): EvalRun => readRun(spine.log, findRun(rows, runId));
    const exported = (run: EvalRun, format: 'text' | 'json' | 'junit' | 'markdown') => ({ ...run, exported: exportRun(run, format) });
    const runFor = async (params: OpParsed<'eval.run'>, skill: SkillAtHand | null, caller: Caller): Promise<EvalRun> => {
      const run = runEvals({ ...spine, ...others, rows, skill }, params, caller);
      running.add(run);
      try {
        return get(await run);
      } finally {
        running.delete(run);
      }
    };
    const handlers: Pick<OpHandlers, keyof typeof evalOps> = {
      'eval.run': async (params, caller) => exported(await runFor(params, null, caller), 'text'),
      'eval.list': ({ limit }) => ({ runs: rows.newest(limit ?? LIST_MAX).map((row) => readRun(spine.log, row)) }),
      'eval.get': ({ runId, format }) => exported(get(runId), format ?? 'text'),
      'eval.compare': ({ a, b }) => compareRuns(get(a), get(b)),
      'eval.draft': ({ sessionId }) => draftCases(spine.log, sessionId),
    };
    return { handlers, runFor, daily: () => rows.prune(), dispose: async () => void (await Promise.allSettled(running)) };
  },
});

/** Fails with not_found, invalid_params or no_model before anything runs; then with over_budget or cancelled, and what was done is kept. */
async function runEvals(
  deps: Taken & Others & { readonly rows: EvalRows; readonly skill: SkillAtHand | null },
  params: OpParsed<'eval.run'>,
  caller: Caller,
): Promise<string> {
  const { ids, log, panic, rows, clock, config, prompt, version } = deps;
  if (!doors[caller.channel].isHere) throw new AppError('denied', 'Only callers on this computer may run cases.');
  if (panic.engaged) throw new AppError('panic_engaged', 'Everything is stopped by the panic stop.');
  const [path, suite] = suiteOf(params);
  const model = params.model ?? suite[0]?.model ?? deps.models.defaultRef();
  if (model === null)
    throw new AppError('no_model', 'There is no model to run the cases with.', { data: { hint: 'Name one: --model provider/name' } });
  const { repeat = 1, parallel = PARALLEL } = params;
  const runId = ids.next('evl');
  const sessionId = `eval-${runId}`;
  const title = `Evals: ${suite.length} cases`;
  log.append(sessionId, [
    { type: 'session.created', body: { title, agentId: 'main', channel: 'eval', forkedFrom: null } },
    { type: 'eval.started', body: { runId, path, model, cases: suite.length, repeat, by: caller.actor } },
  ]);
  const prompts = Object.fromEntries(ownPromptNames.map((name) => [name, prompt(name)]));
  const hostDeps: CaseHostDeps = { ...deps, skill: deps.skill?.folder, prompts, resolveSecret: (ref) => deps.secrets.resolve(ref) };
  const hosts = new CaseHosts(hostDeps);
  const signals = [deps.closing, panic.signal, ...(caller.signal === undefined ? [] : [caller.signal])];
  const signal = AbortSignal.any(signals);
  const { policy, limits, tools, sandbox, models } = config;
  const counted = { passed: 0, failed: 0, errors: 0 };
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
      counted[result.verdict === 'pass' ? 'passed' : result.verdict === 'fail' ? 'failed' : 'errors'] += 1;
      log.append(sessionId, [{ type: 'eval.case_finished', body: { runId, ...spent, result } }]);
    },
  };
  try {
    await runSuite(bench, suite, {
      sessionId,
      model,
      repeat,
      parallel,
      useCache: params.cache !== false,
      isReplay: params.replay === true,
      signal,
    });
  } finally {
    hosts.dispose();
  }
  log.append(sessionId, [{ type: 'eval.finished', body: { runId, ...counted } }], true);
  return runId;
}

/** Where the cases come from, and the cases. */
function suiteOf({ path, suite, cases }: OpParsed<'eval.run'>): readonly [string, SuiteCase[]] {
  if ([path, suite, cases].filter((one) => one !== undefined).length !== 1)
    throw new AppError('invalid_params', 'A run takes one of path, suite and cases.');
  if (path !== undefined) return [path, readSuite(path)];
  if (suite !== undefined) return [`suite ${suite}`, casesOf(evalFileSchema.parse(ownSuites[suite]()), `the suite ${suite}`)];
  return ['cases of a program', casesOf(cases ?? { tests: [] }, process.cwd())];
}

/** The throwaway folders know nothing of the person's day: a case begins only while that has room. */
async function assertBudget({ budget, clock }: Taken, sessionId: string, signal: AbortSignal): Promise<void> {
  const nothing = { inputTokens: 1, inputUsd: 0, tokens: 1, usd: 0 };
  const admission = await budget.reserve({ sessionId, turnId: sessionId, nowMs: clock.nowMs() }, nothing, signal);
  if (admission === null) throw new AppError('cancelled', 'The run was stopped.');
  if (!admission.ok) {
    throw new AppError('over_budget', `The budget of the ${admission.breach.scope} allows no more cases.`, {
      data: { hint: 'What was done is kept. Run it again when there is room: finished cases come from the cache.' },
    });
  }
  admission.reservation.settle(null);
}

function findRun(rows: EvalRows, runId: string): EvalRunRow {
  const row = runId === 'last' ? rows.newest(1)[0] : rows.run(runId);
  if (row === undefined || row === null)
    throw new AppError('not_found', `There is no run ${runId}.`, { data: { hint: 'See: trayclaw eval list' } });
  return row;
}

function readRun(log: Spine['log'], { runId, sessionId, startedAtMs }: EvalRunRow): EvalRun {
  const events = log.reads.slice(sessionId, { types, limit: EVENTS_MAX });
  const started = events.find((event) => event.type === 'eval.started');
  const cases = events.flatMap((event) => (event.type === 'eval.case_finished' ? [event.body] : []));
  const count = (verdict: string): number => cases.filter(({ result }) => result.verdict === verdict).length;
  const results = cases.map(({ result }) => result);
  return {
    runId,
    startedAtMs,
    path: started?.type === 'eval.started' ? started.body.path : '',
    model: started?.type === 'eval.started' ? started.body.model : '',
    finished: events.some(({ type }) => type === 'eval.finished'),
    passed: count('pass'),
    failed: count('fail'),
    errors: count('error'),
    requests: results.reduce((sum, { requests }) => sum + requests, 0),
    cached: results.filter(({ cached }) => cached).length,
    costUsd: cases.reduce<number | null>((sum, { paidUsd }) => (sum === null || paidUsd === null ? null : sum + paidUsd), 0),
    rate: rateOf(results),
    cases: results,
  };
}
