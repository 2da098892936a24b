// A Vitest reporter that counts tests by outcome, files that failed to load, and uncaught errors. Writes the counts to the file named by
// TRAYCLAW_TEST_TALLY. Prints a line for each failure as it happens, so that an interrupted run still reports its failures.

import { writeFileSync } from 'node:fs';
import type { TestCase, TestModule } from 'vitest/node';

const SLOWEST = 20;

const MESSAGE_SHOWN_MAX = 300;

export interface Tally {
  passed: number;
  failed: number;
  skipped: number;
  /** How many were skipped, by what they need; those that name nothing under ''. */
  readonly lacking: Record<string, number>;
  readonly files: number;
  /** The files that took longest, the slowest first. */
  readonly slowest: FileTime[];
}

interface FileTime {
  /** Its path in the project. */
  readonly file: string;
  readonly seconds: number;
}

class TestTally {
  onTestCaseResult(test: TestCase) {
    for (const { message } of test.result().errors ?? []) tell('failed', `${test.module.relativeModuleId} > ${test.fullName}`, message);
  }

  /** Reports failures outside of tests: a file that does not load, a hook that throws. */
  onTestModuleEnd(module: TestModule) {
    for (const { message } of module.errors()) tell('failed', module.relativeModuleId, message);
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]) {
    const file = process.env['TRAYCLAW_TEST_TALLY'];
    if (file === undefined) return;
    const slowest = modules
      .map(timeOf)
      .sort((a, b) => b.seconds - a.seconds)
      .slice(0, SLOWEST);
    const tally: Tally = { passed: 0, failed: 0, skipped: 0, lacking: {}, files: modules.length, slowest };
    for (const module of modules) countModule(module, tally);
    tally.failed += unhandledErrors.length;
    writeFileSync(file, JSON.stringify(tally));
  }
}

function tell(what: string, where: string, message: string) {
  process.stdout.write(`\n${what}: ${where}: ${message.split('\n', 1)[0]?.slice(0, MESSAGE_SHOWN_MAX)}\n`);
}

function timeOf(module: TestModule): FileTime {
  const { duration, collectDuration, setupDuration } = module.diagnostic();
  return { file: module.relativeModuleId, seconds: (duration + collectDuration + setupDuration) / 1000 };
}

function countModule(module: TestModule, tally: Tally) {
  const before = tally.failed;
  for (const test of module.children.allTests()) {
    const { state } = test.result();
    if (state === 'passed') tally.passed += 1;
    else if (state === 'skipped') countSkipped((test.meta() as { needs?: string }).needs ?? '', tally);
    else tally.failed += 1;
  }
  // A file that fails to load, or a hook that throws, fails without a failing test.
  if (!module.ok() && tally.failed === before) tally.failed += 1;
}

function countSkipped(need: string, tally: Tally) {
  tally.skipped += 1;
  tally.lacking[need] = (tally.lacking[need] ?? 0) + 1;
}

// Vitest loads a reporter given by path from its default export.
export default TestTally;
