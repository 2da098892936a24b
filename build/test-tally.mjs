// A Vitest reporter that counts: tests by outcome, files that did not load, errors nobody caught, handles left open.
// Writes the counts to the file named by TRAYCLAW_TEST_TALLY. Prints nothing.

import { writeFileSync } from 'node:fs';

/** What keeps a socket, a process or a watcher alive. Bookkeeping of libraries shows up as a leak too; that is not one. */
const HANDLES = new Set(
  'TCPSERVERWRAP TCPWRAP PIPESERVERWRAP PIPEWRAP UDPWRAP PROCESSWRAP FSEVENTWRAP STATWATCHER WORKER HTTP2SESSION Timeout Immediate'.split(
    ' ',
  ),
);

const SLOWEST = 20;

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
  /** @type {import('vitest/node').Vitest | null} */
  #vitest = null;

  /** @param {import('vitest/node').Vitest} vitest */
  onInit(vitest) {
    this.#vitest = vitest;
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
    tally.failed += unhandledErrors.length + this.#countLeaks();
    writeFileSync(file, JSON.stringify(tally));
  }

  #countLeaks() {
    const leaks = this.#vitest?.state.leakSet ?? new Set();
    for (const leak of leaks) if (!HANDLES.has(leak.type)) leaks.delete(leak);
    return leaks.size;
  }
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
  // A file that does not load, or a hook that throws, fails without any test of its own failing.
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

// Vitest takes a reporter given by its path from the default export.
export default TestTally;
