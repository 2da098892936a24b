// `node tests/gates/remove-gates.ts [--only NAME…]`: takes each safety gate out of a copy of the project, one at a time, and runs the suite
// that has to notice. A NAME is a gate (policy/panic) or an area (policy). Ends with 1 when a suite stayed green without its gate.

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

const { values, positionals } = parseArgs({ options: { only: { type: 'string', multiple: true } }, allowPositionals: true });
const wanted = [...(values.only ?? []), ...positionals];
const chosen = gates.filter(({ name }) => wanted.length === 0 || wanted.some((one) => name === one || name.startsWith(`${one}/`)));
process.exitCode = chosen.length > 0 ? await removeAll(chosen) : complain(`no gate is called ${wanted.join(' or ')}`);

async function removeAll(all: readonly Gate[]): Promise<number> {
  const copy = new TreeCopy(fileURLToPath(new URL('../..', import.meta.url)));
  try {
    const control = new Control(copy, SUITE_TIMEOUT_MS);
    const removals: Removal[] = [];
    print('gate · file · suite · red? · failing tests · seconds');
    for (const gate of all) {
      const removal = await remove(copy, gate, control);
      removals.push(removal);
      print(describe(removal));
    }
    const green = removals.filter(({ noticed }) => noticed.length === 0);
    print(`\n${removals.length} gates taken out, ${removals.length - green.length} noticed, ${green.length} not noticed`);
    for (const { gate } of green) print(`  not noticed: ${gate.name}, which prevents: ${gate.prevents}`);
    return green.length === 0 ? 0 : 1;
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

function describe({ gate, run, noticed }: Removal): string {
  const isRed = noticed.length > 0;
  const why = run.problem ?? (run.broken.length > 0 ? `only broken: ${run.broken.join('; ')}` : '');
  const first = noticed[0] ?? '';
  const shown = isRed ? `${noticed.length}: ${first.length > 70 ? `${first.slice(0, 69)}…` : first}` : `none ${why}`.trim();
  return [gate.name, gate.file, gate.suites.join(' '), isRed ? 'red' : 'GREEN', shown, run.seconds].join(' · ');
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function complain(line: string): number {
  print(line);
  return 2;
}
