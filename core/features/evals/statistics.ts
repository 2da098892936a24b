// Statistics of a run: pass rates with intervals, repeats, and the comparison of two runs. Pure.

import type { EvalCase, EvalRate, EvalRun } from '../../contracts/features/evals.ts';
import type { OpResult } from '../../contracts/ops.ts';

/** The z-score of a 95 % interval. */
const Z = 1.959964;

export function rateOf(cases: readonly EvalCase[]): EvalRate {
  const passed = cases.filter(({ verdict }) => verdict === 'pass').length;
  const groups = [...byCase(cases).values()];
  const k = Math.max(1, ...groups.map((group) => group.length));
  const share = (count: number): number => (groups.length === 0 ? 0 : count / groups.length);
  return {
    ...wilson(passed, cases.length),
    passAtK: share(groups.filter((group) => group.some(({ verdict }) => verdict === 'pass')).length),
    passHatK: share(groups.filter((group) => group.every(({ verdict }) => verdict === 'pass')).length),
    k,
  };
}

/** The score interval of Wilson (1927), which is valid for few cases and for rates near 0 and 1. */
export function wilson(passed: number, of: number): { readonly rate: number; readonly low: number; readonly high: number } {
  if (of === 0) return { rate: 0, low: 0, high: 1 };
  const rate = passed / of;
  const spread = Z * Math.sqrt((rate * (1 - rate)) / of + (Z * Z) / (4 * of * of));
  const middle = rate + (Z * Z) / (2 * of);
  const scale = 1 + (Z * Z) / of;
  return { rate, low: Math.max(0, (middle - spread) / scale), high: Math.min(1, (middle + spread) / scale) };
}

/** Compares the share of passed repeats per case. A case is worse if its share fell. */
export function compareRuns(a: EvalRun, b: EvalRun): OpResult<'eval.compare'> {
  const [before, after] = [byCase(a.cases), byCase(b.cases)];
  const better: string[] = [];
  const worse: string[] = [];
  const onlyOne: string[] = [];
  let same = 0;
  for (const [caseId, group] of after) {
    const earlier = before.get(caseId);
    const name = group[0]?.name ?? caseId;
    if (earlier === undefined) onlyOne.push(name);
    else if (passShare(group) > passShare(earlier)) better.push(name);
    else if (passShare(group) < passShare(earlier)) worse.push(name);
    else same += 1;
  }
  for (const [caseId, group] of before) if (!after.has(caseId)) onlyOne.push(group[0]?.name ?? caseId);
  const figure = (name: string, of: (run: EvalRun) => number | null) => ({ figure: name, a: of(a), b: of(b) });
  const figures = [
    figure('pass rate', ({ rate }) => rate.rate),
    figure('tokens', ({ cases }) => cases.reduce((sum, { tokens }) => sum + tokens, 0)),
    figure('cost in US dollars', ({ costUsd }) => costUsd),
    figure('time in ms', ({ cases }) => Math.round(cases.reduce((sum, { tookMs }) => sum + tookMs, 0))),
  ];
  return { a: a.runId, b: b.runId, better, worse, same, onlyOne, figures };
}

function byCase(cases: readonly EvalCase[]): Map<string, EvalCase[]> {
  const groups = new Map<string, EvalCase[]>();
  for (const one of cases) {
    const group = groups.get(one.caseId);
    if (group === undefined) groups.set(one.caseId, [one]);
    else group.push(one);
  }
  return groups;
}

function passShare(group: readonly EvalCase[]): number {
  return group.filter(({ verdict }) => verdict === 'pass').length / group.length;
}
