// Runs a suite, several cases at once. Each case comes from the cache or runs through the program, and is graded by rules first and by a
// judge if it has a rubric. Each result is recorded at once, so a run that was interrupted and started again takes finished cases from the
// cache.

import { hash } from 'node:crypto';
import { parseJson } from '../../base/json.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import type { EvalAssert, EvalCase } from '../../contracts/features/evals.ts';
import { noUsage, type Usage } from '../../contracts/llm.ts';
import { addCost, addUsage } from '../../contracts/spending.ts';
import { type AskingDeps, judgeFirmly, judgeKey, type Judged } from '../../mind/asking/asking.ts';
import { checkByRule, type Check, type Outcome } from './assertions.ts';
import type { CaseRun } from './case-host.ts';
import type { SuiteCase } from './suite-file.ts';

export interface BenchDeps {
  readonly asking: AskingDeps;
  /** A digest of the prompts, settings and version that the answers depend on. */
  readonly basis: string;
  readonly redactDeep: <T>(value: T) => T;
  runCase(test: SuiteCase, model: string, signal: AbortSignal): Promise<CaseRun>;
  cached(key: string): string | null;
  cache(key: string, body: string): void;
  /** Fails with over_budget if the person's budget is spent. */
  assertBudget(): Promise<void>;
  record(result: EvalCase, spent: { readonly model: string; readonly usage: Usage; readonly paidUsd: number | null }): void;
}

export interface BenchOptions {
  readonly sessionId: string;
  readonly model: string;
  readonly repeat: number;
  readonly parallel: number;
  readonly useCache: boolean;
  readonly isReplay: boolean;
  readonly signal: AbortSignal;
}

interface Answered {
  readonly run: Pick<CaseRun, 'outcome' | 'usage' | 'error'>;
  readonly requests: number;
  readonly isCached?: true;
}

interface Graded {
  readonly checks: readonly Check[];
  readonly requests: number;
  readonly usage: Usage;
  readonly paidUsd: number | null;
  readonly error?: string;
}

const KEY_VERSION = 2;
const unasked = { requests: 0, usage: noUsage, paidUsd: 0 };
/** Statuses of turns that ended by the limits of the case. */
const byLimit = new Set(['over_budget', 'step_limit', 'time_limit']);

/** Fails with over_budget, panic_engaged or cancelled. Finished cases stay recorded. */
export async function runSuite(deps: BenchDeps, suite: readonly SuiteCase[], options: BenchOptions): Promise<void> {
  const todo = suite.flatMap((test) => Array.from({ length: options.repeat }, (_, repeat) => ({ test, repeat })));
  let next = 0;
  const work = async (): Promise<void> => {
    for (let job = todo[next++]; job !== undefined; job = todo[next++]) {
      options.signal.throwIfAborted();
      await runOne(deps, job.test, job.repeat, options);
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: Math.min(options.parallel, todo.length) }, work));
  for (const worker of workers) if (worker.status === 'rejected') throw worker.reason;
}

async function runOne(deps: BenchDeps, test: SuiteCase, repeat: number, options: BenchOptions): Promise<void> {
  const model = options.model;
  const { run, requests, isCached = false } = await answer(deps, test, repeat, options);
  const graded: Graded =
    run.error === undefined || saysHowItEnds(test, run.outcome)
      ? await grade(deps, test, run.outcome, options)
      : { checks: [], ...unasked, error: run.error };
  const { outcome } = run;
  const isPass = graded.checks.every(({ pass }) => pass);
  const error = graded.error === undefined ? {} : { error: graded.error };
  const result: EvalCase = {
    caseId: test.caseId,
    name: test.name,
    repeat,
    verdict: graded.error !== undefined ? 'error' : isPass ? 'pass' : 'fail',
    checks: [...graded.checks],
    text: outcome.text,
    calls: outcome.calls.map(({ tool, args }) => `${tool} ${args}`),
    requests: requests + graded.requests,
    cached: isCached && graded.requests === 0,
    tookMs: outcome.tookMs,
    costUsd: outcome.costUsd,
    tokens: run.usage.inputTokens + run.usage.outputTokens,
    ...error,
  };
  const own = requests === 0 ? { usage: noUsage, costUsd: 0 } : { usage: run.usage, costUsd: outcome.costUsd };
  deps.record(deps.redactDeep(result), { model, usage: addUsage(own.usage, graded.usage), paidUsd: addCost(own.costUsd, graded.paidUsd) });
}

async function answer(
  deps: BenchDeps,
  test: SuiteCase,
  repeat: number,
  { model, useCache, isReplay, signal }: BenchOptions,
): Promise<Answered> {
  const { input, files, approve, before, tools, budget } = test;
  const about = [KEY_VERSION, deps.basis, model, input, files, approve, before, tools, budget, repeat];
  const key = hash('sha256', JSON.stringify(about), 'hex');
  const known = useCache ? parseJson(deps.cached(key) ?? '') : null;
  if (known?.ok === true) return { run: known.value as Answered['run'], requests: 0, isCached: true };
  if (isReplay) return failed('No earlier run has an answer to it.');
  await deps.assertBudget();
  try {
    const { requests, ...run } = await deps.runCase(test, model, signal);
    const kept = deps.redactDeep(run);
    // A failed turn says nothing about the case and may succeed next time, so it is not cached.
    if (run.error === undefined || byLimit.has(run.outcome.status)) deps.cache(key, JSON.stringify(kept));
    return { run: kept, requests };
  } catch (cause) {
    if (signal.aborted) throw new AppError('cancelled', 'The run was stopped. Started again, it takes up what was done.');
    return failed(toAppError(cause).message);
  }
}

function failed(error: string): Answered {
  const outcome = { status: 'failed', text: '', calls: [], files: {}, costUsd: 0, tookMs: 0 };
  return { run: { outcome, usage: noUsage, error }, requests: 0 };
}

/** True if the case tests how a turn ends, so that reaching a limit is not an error. */
function saysHowItEnds({ asserts }: SuiteCase, { status }: Outcome): boolean {
  return byLimit.has(status) && asserts.some(({ type }) => type === 'ends');
}

/** Rules cost nothing, so a judge is asked only about an answer that passes all of them. */
async function grade(deps: BenchDeps, test: SuiteCase, outcome: Outcome, options: BenchOptions): Promise<Graded> {
  // The log that answers and calls are read from is redacted, so the expected values are redacted too.
  const checks = deps.redactDeep(test.asserts).map((one) => checkByRule(one, outcome));
  const isWrong = checks.some((check) => check?.pass === false);
  const graded: Check[] = [];
  let { requests, usage, paidUsd }: Omit<Graded, 'checks'> = unasked;
  for (const [index, one] of test.asserts.entries()) {
    const check = checks[index] ?? null;
    if (check !== null) graded.push(check);
    else if (isWrong) graded.push({ type: one.type, pass: false, reason: 'Not judged: the answer does not meet every rule.' });
    else {
      const judged = await judge(deps, test, { one, outcome, options });
      requests += judged.requests;
      usage = addUsage(usage, judged.usage);
      paidUsd = addCost(paidUsd, judged.paidUsd);
      if ('error' in judged) return { checks: graded, requests, usage, paidUsd, error: judged.error };
      graded.push(judged.check);
    }
  }
  return { checks: graded, requests, usage, paidUsd };
}

async function judge(
  deps: BenchDeps,
  test: SuiteCase,
  { one, outcome, options }: { readonly one: EvalAssert; readonly outcome: Outcome; readonly options: BenchOptions },
): Promise<({ readonly check: Check } | { readonly error: string }) & Pick<Graded, 'requests' | 'usage' | 'paidUsd'>> {
  const model = one.provider ?? test.judge ?? options.model;
  const about = { model, goal: test.input, rubric: String(one.value), work: outcome.text };
  const key = judgeKey(about);
  const known = options.useCache ? parseJson(deps.cached(key) ?? '') : null;
  if (known?.ok === true) return { check: checkOf(one, known.value as Judged), ...unasked };
  if (options.isReplay) return { error: 'No earlier run has a judgement of it.', ...unasked };
  const place = { sessionId: options.sessionId, turnId: '', continues: [] };
  const judged = await judgeFirmly(deps.asking, { ...about, place }, options.signal);
  const { requests } = judged;
  const { usage, costUsd: paidUsd } = judged.spent ?? { usage: noUsage, costUsd: 0 };
  if ('error' in judged) return { error: `There is no usable judgement: ${judged.error}`, requests, usage, paidUsd };
  const kept = deps.redactDeep({ points: judged.points, score: judged.score });
  deps.cache(key, JSON.stringify(kept));
  return { check: checkOf(one, kept), requests, usage, paidUsd };
}

function checkOf({ type, threshold = 1 }: EvalAssert, judged: Judged): Check {
  if ('error' in judged) return { type, pass: false, reason: judged.error };
  const reason = judged.points.map(({ point, met, why }) => `${met ? 'met' : 'not met'}: ${point} (${why})`).join('; ');
  return { type, pass: judged.score >= threshold, reason, score: judged.score };
}
