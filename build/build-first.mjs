// Runs once before all tests: builds dist/ if it is older than its sources, so that tests never start an outdated program. Vitest calls
// `setup`. TRAYCLAW_TEST_SOURCES=1 says that the chosen tests start no program.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export function setup() {
  if (process.env.TRAYCLAW_TEST_SOURCES === '1') return;
  execFileSync(process.execPath, [fileURLToPath(new URL('build.mjs', import.meta.url)), '--if-stale', '--quiet'], { stdio: 'inherit' });
}
