// The test projects. Unit tests are next to their sources; tests/ contains tests that cross modules. End-to-end tests (tests/e2e) drive the
// built program and a real Chromium; tests with time limits run alone.

import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const root = fileURLToPath(new URL('..', import.meta.url));

const startBrowser = [`${root}tests/e2e/driver/start-browser.ts`];

/** The slowest files start first, so that no long one runs alone at the end. `npm test` lists the slow files. */
const slow = [
  'e2e/sessions',
  'e2e/views',
  'e2e/hostile',
  'e2e/diagrams',
  'e2e/desktop-',
  'e2e/dangerous-moments',
  'e2e/inspector',
  'e2e/activity',
  'e2e/chat',
  'e2e/reconnect',
  'e2e/packaged-app',
  'e2e/schedules',
  'e2e/stream-cut',
  'outside/package',
  'faults/crash',
  'faults/endings',
  'faults/injection',
  'faults/main-job',
  'faults/bad-input',
  'program/browser-cases',
  'faults/index-crash',
  'faults/channel-crash',
  'program/subagent-transport',
  'browser/browser.test',
];

/**
 * Projects, the longest first. Files of one project stay together, because a worker ends when the project changes and the next one loads
 * everything again.
 */
const projectOrder = ['e2e', 'system', 'unit', 'window', 'alone'];

/** Files that need a separate process each: Node reads the authorities of the operating system once. */
const alone = ['core/**/authorities.test.ts'];

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const weight = ({ moduleId }: TestSpecification): number => Number(slow.some((name) => moduleId.includes(name)));
    const place = ({ project }: TestSpecification): number => projectOrder.indexOf(project.name);
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b) || weight(b) - weight(a));
  }
}

// Vitest reads its configuration from a default export.
export default defineConfig({
  root,
  test: {
    reporters: [`${root}build/test-tally.ts`, 'dot'],
    pool: 'forks',
    // One more than there are cores, since many tests wait for a process or a page; with two more, each test took a fifth more processor
    // time.
    maxWorkers: availableParallelism() + 1,
    // Files share their imports: no module keeps state, and importing everything again took half the time.
    isolate: false,
    // A worker keeps its modules: with the default initial size of a megabyte they would be copied several times before they are promoted.
    execArgv: ['--min-semi-space-size=16', '--max-semi-space-size=32'],
    sequence: { sequencer: SlowFirst },
    globals: false,
    allowOnly: false,
    globalSetup: [`${root}build/build-first.mjs`],
    // Fails a file that leaves a socket, a process or a timer open.
    setupFiles: [`${root}build/open-handles.mjs`],
    // Tests never use the real keychain: with a display, the bus would start one and wait for a person.
    env: { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent/bus' },
    teardownTimeout: 5_000,
    // A limit for hanging tests, generous enough for a busy machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Only a limit for hanging polls, not a speed requirement.
    expect: { poll: { timeout: 30_000 } },
    cache: false,
    // Cached by content in node_modules/.vitest-cache: the projects share most sources, and the next run reuses unchanged ones.
    fsModuleCache: true,
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['{core,main,preload}/**/*.test.ts'], exclude: alone },
      },
      {
        extends: true,
        test: { name: 'alone', include: alone, isolate: true },
      },
      {
        extends: true,
        // The compiled form that browsers get, so that runes are reactive.
        resolve: { conditions: ['browser'] },
        plugins: [svelte({ configFile: false, compilerOptions: { runes: true } })],
        test: { name: 'window', include: ['renderer/**/*.test.ts'] },
      },
      {
        extends: true,
        test: { name: 'system', include: ['tests/**/*.test.ts'] },
      },
      {
        extends: true,
        test: { name: 'e2e', include: ['tests/e2e/**/*.e2e.ts'], setupFiles: startBrowser },
      },
    ],
  },
});
