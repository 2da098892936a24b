// Runs test files of a copy of the project in a separate process group, with a timeout, and reports which tests failed and how.

import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';

const reportSchema = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      message: z.string().optional(),
      assertionResults: z.array(
        z.object({ title: z.string(), fullName: z.string(), status: z.string(), failureMessages: z.array(z.string()).nullish() }),
      ),
    }),
  ),
});

export interface SuiteRun {
  readonly passed: number;
  /** Tests whose expectations failed. */
  readonly failed: readonly string[];
  /** Tests that failed because the code is no longer valid: a missing name or value. */
  readonly broken: readonly string[];
  /** Why there is no result: files that did not load, or a run that did not end. */
  readonly problem: string | null;
  readonly seconds: number;
}

export interface SuiteRequest {
  readonly folder: string;
  readonly suites: readonly string[];
  readonly only?: string | undefined;
  readonly timeoutMs: number;
}

/** Leaves out what a run of a few files does not need: the window's compiler and the check for open handles. */
const vitest =
  'node_modules/vitest/vitest.mjs run --config build/vitest.config.ts --project unit --project system --detectAsyncLeaks=false --reporter=json'.split(
    ' ',
  );
const unsound = /^(?:SyntaxError|ReferenceError|TypeError)\b/;

export async function runSuites({ folder, suites, only, timeoutMs }: SuiteRequest): Promise<SuiteRun> {
  const report = join(folder, 'gate-report.json');
  rmSync(report, { force: true });
  const startedMs = performance.now();
  const args = [...vitest, `--outputFile=${report}`];
  const filter = only === undefined ? [] : ['-t', only];
  // Unit tests start no program, so it need not be built.
  const env = suites.every((suite) => suite.startsWith('core/')) ? { TRAYCLAW_TEST_SOURCES: '1' } : {};
  const ended = await runInGroup([...args, ...filter, ...suites], { folder, env, timeoutMs });
  const seconds = Math.round((performance.now() - startedMs) / 100) / 10;
  if (!ended) return { passed: 0, failed: [], broken: [], problem: `it did not end within ${timeoutMs / 1000} s`, seconds };
  return { ...readReport(report, only), seconds };
}

/** Resolves to false if it had to be killed. */
function runInGroup(
  args: readonly string[],
  { folder, env, timeoutMs }: Pick<SuiteRequest, 'folder' | 'timeoutMs'> & { readonly env: Readonly<Record<string, string>> },
): Promise<boolean> {
  const child = spawn(process.execPath, args, { cwd: folder, env: { ...process.env, ...env }, stdio: 'ignore', detached: true });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      resolve(false);
    }, timeoutMs);
    child.once('error', reject);
    child.once('exit', () => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}

/** Reads a report. Tests that the filter leaves out are in it as skipped. */
export function readReport(path: string, only?: string): Omit<SuiteRun, 'seconds'> {
  if (!existsSync(path)) return { passed: 0, failed: [], broken: [], problem: 'it left no report' };
  const { testResults } = reportSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  const unloaded = testResults.filter(({ assertionResults }) => assertionResults.length === 0);
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const failures = tests.filter(({ status }) => status === 'failed');
  const isBroken = ({ failureMessages }: (typeof tests)[number]): boolean =>
    (failureMessages ?? []).every((message) => unsound.test(message));
  const ran = tests.some(({ status }) => status === 'passed' || status === 'failed');
  const nothing = only === undefined ? 'no test ran' : `no test ran: none is called ${only}, or those that are were skipped`;
  const problem = unloaded.map(({ name, message }) => `${name} did not load: ${message ?? ''}`.slice(0, 300)).join('; ');
  return {
    passed: tests.filter(({ status }) => status === 'passed').length,
    failed: failures.filter((test) => !isBroken(test)).map(({ fullName }) => fullName),
    broken: failures.filter(isBroken).map(({ fullName }) => fullName),
    problem: problem === '' ? (ran ? null : nothing) : problem,
  };
}
