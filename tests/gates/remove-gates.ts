// `node tests/gates/remove-gates.ts [--only NAME…]`: removes each safety gate from a copy of the project, one at a time, and runs the
// suites that must fail without it. A NAME is a gate (policy/panic) or an area (policy). Exits with 1 if a suite passed without its gate,
// or gave no result.

import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Control } from './control.ts';
import type { Gate } from './gate.ts';
import { gates } from './gates.ts';
import { runSuites, type SuiteRun } from './suite-run.ts';
import { TreeCopy } from './tree-copy.ts';

const SUITE_TIMEOUT_MS = 120_000;

interface Removal {
  readonly gate: Gate;
  readonly run: SuiteRun;
  /** Tests that fail without the gate and pass with it. */
  readonly noticed: readonly string[];
}

type Answer = 'red' | 'GREEN' | 'PROBLEM';

const { values, positionals } = parseArgs({ options: { only: { type: 'string', multiple: true } }, allowPositionals: true });
const wanted = [...(values.only ?? []), ...positionals];
const isCalled = ({ name }: Gate, one: string): boolean => name === one || name.startsWith(`${one}/`);
const unknown = wanted.filter((one) => !gates.some((gate) => isCalled(gate, one)));
const chosen = gates.filter((gate) => wanted.length === 0 || wanted.some((one) => isCalled(gate, one)));
process.exitCode = unknown.length === 0 ? await removeAll(chosen) : complain(`no gate is called ${unknown.join(' or ')}`);

async function removeAll(all: readonly Gate[]): Promise<number> {
  const copy = new TreeCopy(fileURLToPath(new URL('../..', import.meta.url)));
  try {
    const control = new Control(copy, SUITE_TIMEOUT_MS);
    const removals: Removal[] = [];
    print('gate · file · suite · answer · failing tests · seconds');
    for (const gate of all) {
      const removal = await remove(copy, gate, control);
      removals.push(removal);
      print(describe(removal));
    }
    const count = (answer: Answer): number => removals.filter((removal) => answerOf(removal) === answer).length;
    print(
      `\n${removals.length} gates taken out, ${count('red')} noticed, ${count('GREEN')} not noticed, ${count('PROBLEM')} with no answer`,
    );
    const open = removals.filter((removal) => answerOf(removal) !== 'red');
    for (const removal of open) print(`  ${answerOf(removal)}: ${removal.gate.name}, which prevents: ${removal.gate.prevents}`);
    return open.length === 0 ? 0 : 1;
  } finally {
    copy.remove();
  }
}

async function remove(copy: TreeCopy, gate: Gate, control: Control): Promise<Removal> {
  const { suites, only } = gate;
  const run = await copy.without(gate, () => runSuites({ folder: copy.path, suites, only, timeoutMs: SUITE_TIMEOUT_MS }));
  if (run.problem !== null || run.failed.length === 0) return { gate, run, noticed: [] };
  const failing = await control.failingAnyway(gate);
  return { gate, run, noticed: run.failed.filter((test) => !failing.has(test)) };
}

function answerOf({ run, noticed }: Removal): Answer {
  if (noticed.length > 0) return 'red';
  return run.problem === null ? 'GREEN' : 'PROBLEM';
}

function describe(removal: Removal): string {
  const { gate, run, noticed } = removal;
  const first = noticed[0] ?? '';
  const broken = run.broken.length > 0 ? `none, only broken: ${run.broken.join('; ')}` : 'none';
  const shown = first === '' ? (run.problem ?? broken) : `${noticed.length}: ${first.length > 70 ? `${first.slice(0, 69)}…` : first}`;
  return [gate.name, gate.file, gate.suites.join(' '), answerOf(removal), shown, run.seconds].join(' · ');
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function complain(line: string): number {
  print(line);
  return 2;
}
