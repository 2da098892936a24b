// Runs the window's specs: `vitest run --config tests/e2e/vitest.config.ts`, after the window was built.

import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// Vitest reads its configuration from a default export.
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['tests/e2e/**/*.e2e.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // One browser at a time: the specs share a small machine with others.
    fileParallelism: false,
  },
});
