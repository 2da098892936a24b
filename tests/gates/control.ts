// Runs the same suites with every gate in place: a test counts for a gate only if it passes with it.

import type { Gate } from './gate.ts';
import { runSuites } from './suite-run.ts';
import type { TreeCopy } from './tree-copy.ts';

/** A test that fails with every gate in place proves nothing about any of them. Each suite runs once, when it is first needed. */
export class Control {
  readonly #copy: TreeCopy;
  readonly #timeoutMs: number;
  readonly #failing = new Map<string, ReadonlySet<string>>();

  constructor(copy: TreeCopy, timeoutMs: number) {
    this.#copy = copy;
    this.#timeoutMs = timeoutMs;
  }

  async failingAnyway({ suites, only }: Gate): Promise<ReadonlySet<string>> {
    const key = [...suites, only ?? ''].join('\n');
    const known = this.#failing.get(key);
    if (known !== undefined) return known;
    const run = await runSuites({ folder: this.#copy.path, suites, only, timeoutMs: this.#timeoutMs });
    if (run.problem !== null) throw new Error(`with every gate in place: ${run.problem}`);
    const failing = new Set([...run.failed, ...run.broken]);
    for (const test of failing) process.stdout.write(`  fails with every gate in place: ${test}\n`);
    this.#failing.set(key, failing);
    return failing;
  }
}
