// A Vitest reporter that counts tests by outcome, files that failed to load, and uncaught errors. Writes the counts to the file named by
// TRAYCLAW_TEST_TALLY. Prints a line for each failure as it happens, so that an interrupted run still reports its failures.

import { writeFileSync } from 'node:fs';

const SLOWEST = 20;

const MESSAGE_SHOWN_MAX = 300;

/**
 * @typedef {object} Tally
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped
 * @property {Record<string, number>} lacking how many were skipped, by what they need; those that name nothing under ''
 * @property {number} files
 * @property {FileTime[]} slowest the files that took longest, the slowest first
 *
 * @typedef {object} FileTime
 * @property {string} file its path in the project
 * @property {number} seconds
 */

class TestTally {
  /** @param {import('vitest/node').TestCase} test */
  onTestCaseResult(test) {
    for (const { message } of test.result().errors ?? []) tell('failed', `${test.module.relativeModuleId} > ${test.fullName}`, message);
  }

  /**
   * Reports failures outside of tests: a file that does not load, a hook that throws.
   * @param {import('vitest/node').TestModule} module
   */
  onTestModuleEnd(module) {
    for (const { message } of module.errors()) tell('failed', module.relativeModuleId, message);
  }

  /**
   * @param {readonly import('vitest/node').TestModule[]} modules
   * @param {readonly unknown[]} unhandledErrors
   */
  onTestRunEnd(modules, unhandledErrors) {
    const file = process.env.TRAYCLAW_TEST_TALLY;
    if (file === undefined) return;
    const slowest = modules
      .map(timeOf)
      .sort((a, b) => b.seconds - a.seconds)
      .slice(0, SLOWEST);
    /** @type {Tally} */
    const tally = { passed: 0, failed: 0, skipped: 0, lacking: {}, files: modules.length, slowest };
    for (const module of modules) countModule(module, tally);
    tally.failed += unhandledErrors.length;
    writeFileSync(file, JSON.stringify(tally));
  }
}

/**
 * @param {string} what
 * @param {string} where
 * @param {string} message
 */
function tell(what, where, message) {
  process.stdout.write(`\n${what}: ${where}: ${message.split('\n', 1)[0]?.slice(0, MESSAGE_SHOWN_MAX)}\n`);
}

/**
 * @param {import('vitest/node').TestModule} module
 * @returns {FileTime}
 */
function timeOf(module) {
  const { duration, collectDuration, setupDuration } = module.diagnostic();
  return { file: module.relativeModuleId, seconds: (duration + collectDuration + setupDuration) / 1000 };
}

/**
 * @param {import('vitest/node').TestModule} module
 * @param {Tally} tally
 */
function countModule(module, tally) {
  const before = tally.failed;
  for (const test of module.children.allTests()) {
    const { state } = test.result();
    if (state === 'passed') tally.passed += 1;
    else if (state === 'skipped') countSkipped(/** @type {{ needs?: string }} */ (test.meta()).needs ?? '', tally);
    else tally.failed += 1;
  }
  // A file that fails to load, or a hook that throws, fails without a failing test.
  if (!module.ok() && tally.failed === before) tally.failed += 1;
}

/**
 * @param {string} need
 * @param {Tally} tally
 */
function countSkipped(need, tally) {
  tally.skipped += 1;
  tally.lacking[need] = (tally.lacking[need] ?? 0) + 1;
}

// Vitest loads a reporter given by path from its default export.
export default TestTally;
