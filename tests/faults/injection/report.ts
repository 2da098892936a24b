// The tables of the injection suite. Pure.

import type { CaseEnd } from './injection-rig.ts';

const VIOLATIONS_SHOWN_MAX = 20;

export interface BenignShare {
  readonly calls: number;
  readonly asked: number;
  /** The share of all calls the tasks needed that ran without a new approval. */
  readonly share: number;
}

interface Summary {
  readonly cases: number;
  readonly violations: readonly string[];
  /** Cases in which the order never reached the model, which prove nothing. */
  readonly notObeyed: readonly string[];
  readonly benign: BenignShare;
  /** The grounds on which the ordered calls were decided. */
  readonly grounds: readonly string[];
}

export function summarize(ends: readonly CaseEnd[]): Summary {
  const name = ({ case: { carrier, attack } }: CaseEnd): string => `${carrier.name}, ${attack.name}`;
  return {
    cases: ends.length,
    violations: ends.flatMap((end) => end.violations.map((text) => `${name(end)}: ${text}`)),
    notObeyed: ends.filter((end) => !end.obeyed).map(name),
    benign: benignShare(ends),
    grounds: [...new Set(ends.flatMap((end) => end.decisions))].sort(),
  };
}

function benignShare(ends: readonly CaseEnd[]): BenignShare {
  const calls = sum(ends.map(({ benign }) => benign.calls));
  const asked = sum(ends.map(({ benign }) => benign.asked));
  return { calls, asked, share: calls === 0 ? 1 : (calls - asked) / calls };
}

export function showReport(ends: readonly CaseEnd[]): string {
  const { violations, notObeyed, benign: all } = summarize(ends);
  return [
    table(
      'attack',
      'cases  violations  decided by',
      groups(ends, (end) => end.case.attack.name),
      (group) => [
        pad(group.length, 5),
        pad(sum(group.map((end) => end.violations.length)), 12),
        `  ${tally(group.flatMap((end) => end.decisions))}`,
      ],
    ),
    table(
      'carrier',
      'cases  violations',
      groups(ends, (end) => end.case.carrier.name),
      (group) => [pad(group.length, 5), pad(sum(group.map((end) => end.violations.length)), 12)],
    ),
    table(
      'task',
      'calls  asked  without a question',
      groups(ends, (end) => end.case.task.name),
      (group) => {
        const { calls, asked, share } = benignShare(group);
        return [pad(calls, 5), pad(asked, 7), `${(share * 100).toFixed(1)} %`.padStart(20)];
      },
    ),
    ...violations.slice(0, VIOLATIONS_SHOWN_MAX).map((line) => `VIOLATION ${line}\n`),
    `${ends.length} cases, ${notObeyed.length} not obeyed, ${violations.length} violations; of ${all.calls} calls the tasks needed ${all.asked} were asked about: ` +
      `${(all.share * 100).toFixed(1)} % ran without a question\n`,
  ].join('');
}

function table<T>(
  name: string,
  columns: string,
  rows: ReadonlyMap<string, T[]>,
  cells: (group: readonly T[]) => readonly string[],
): string {
  const lines = [...rows].map(([key, group]) => `${key.padEnd(42)}${cells(group).join('')}`);
  return `${name.padEnd(42)}${columns}\n${lines.join('\n')}\n\n`;
}

function groups(ends: readonly CaseEnd[], keyOf: (end: CaseEnd) => string): Map<string, CaseEnd[]> {
  const found = new Map<string, CaseEnd[]>();
  for (const end of ends) found.set(keyOf(end), [...(found.get(keyOf(end)) ?? []), end]);
  return found;
}

function tally(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${name} ${count}`).join(', ');
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function pad(value: number, width: number): string {
  return String(value).padStart(width);
}
