// Runs once before all tests: builds dist/ if it is older than its sources, so that tests never start an outdated program. Vitest calls
// `setup`.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export function setup() {
  execFileSync(process.execPath, [fileURLToPath(new URL('build.mjs', import.meta.url)), '--if-stale', '--quiet'], { stdio: 'inherit' });
}
