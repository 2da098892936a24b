// The layer rules: each must reject what it is meant to reject.

import { expect, test } from 'vitest';
import { findLayerProblems } from '../../build/layer-problems.ts';
import { createTree, runCheck } from './fixture-tree.ts';

const ONE = 'export const one = 1;\n';
const uses = (from: string): string => `import { one } from '${from}';\nexport const two = one + 1;\n`;
const usesType = (from: string): string =>
  `import type { Shape } from '${from}';\nexport interface Shape { readonly other: Shape | null }\n`;

/** A tree that satisfies every rule; each case below adds a violation. */
const sound: Readonly<Record<string, string>> = {
  'core/base/result.ts': ONE,
  'core/contracts/events.ts': uses('../base/result.ts'),
  'core/store/storage/storage.ts': uses('./rows.ts'),
  'core/store/storage/rows.ts': ONE,
  'core/store/session/session.ts': uses('../storage/storage.ts'),
  'core/guard/policy/policy.ts': uses('../../store/session/session.ts').replace('one', 'two as one'),
  'core/features/feature.ts': uses('../store/session/session.ts').replace('one', 'two as one'),
  'core/features/memory/memory.ts': uses('../feature.ts').replace('one', 'two as one'),
  'core/doors/ops/ops.ts': uses('../../features/feature.ts').replace('one', 'two as one'),
  'core/compose.ts': "export { two } from './guard/policy/policy.ts';\n",
  'core/index.ts': "export { two } from './compose.ts';\n",
  'main/cli.ts': "export { two } from '../core/index.ts';\n",
};

async function brokenRules(extra: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const { problems } = await findLayerProblems(createTree({ ...sound, ...extra }));
  return problems.map((problem) => problem.replace(/ \(.*\)$/, ''));
}

test('a valid tree passes, and every file of it was checked', async () => {
  expect(await findLayerProblems(createTree(sound))).toEqual({ modules: 12, problems: [] });
});

test('the command prints the problems and fails', () => {
  const root = createTree({ 'readme.md': '' });
  // An empty tree is a problem, because any rule holds over no files.
  expect(runCheck('build/check-layers.mjs', root)).toEqual({ code: 1, lines: [`no source file below ${root}`, '0 modules, 1 problems'] });
});

test('a file missing in the import graph is rejected', async () => {
  expect(await brokenRules({ 'core/node_modules/hidden.ts': ONE })).toEqual(['not in the import graph: core/node_modules/hidden.ts']);
});

test.each<[string, Record<string, string>, string[]]>([
  [
    'an import upwards',
    { 'core/store/artifact/artifact.ts': uses('../../guard/budget/budget.ts'), 'core/guard/budget/budget.ts': ONE },
    ['store-looks-up: core/store/artifact/artifact.ts → core/guard/budget/budget.ts'],
  ],
  [
    'mind using hands',
    { 'core/mind/llm/llm.ts': uses('../../hands/tools/tools.ts'), 'core/hands/tools/tools.ts': ONE },
    ['mind-looks-up: core/mind/llm/llm.ts → core/hands/tools/tools.ts'],
  ],
  [
    'a module using its sibling',
    { 'core/guard/budget/budget.ts': ONE, 'core/guard/safety/safety.ts': uses('../budget/budget.ts') },
    ['modules-meet-higher-up: core/guard/safety/safety.ts → core/guard/budget/budget.ts'],
  ],
  [
    'a module entered past its entry file',
    { 'core/guard/budget/budget.ts': uses('../../store/storage/rows.ts') },
    ['module-door: core/guard/budget/budget.ts → core/store/storage/rows.ts'],
  ],
  [
    'a module entered past its entry file from outside the layers',
    { 'main/daemon.ts': uses('../core/store/storage/rows.ts') },
    ['module-door-from-the-top: main/daemon.ts → core/store/storage/rows.ts'],
  ],
  [
    'a test entering another module past its entry file',
    { 'core/guard/budget/budget.test.ts': uses('../../store/storage/rows.ts') },
    ['module-door-of-tests: core/guard/budget/budget.test.ts → core/store/storage/rows.ts'],
  ],
  [
    'a rig entering another module past its entry file',
    { 'tests/rigs/core/guard/budget/budget-bench.ts': uses('../../../../../core/store/storage/rows.ts') },
    ['module-door-of-rigs: tests/rigs/core/guard/budget/budget-bench.ts → core/store/storage/rows.ts'],
  ],
  [
    'the kernel of the features knowing one',
    { 'core/features/feature.ts': uses('./schedule/schedule.ts'), 'core/features/schedule/schedule.ts': ONE },
    ['kernel-knows-no-feature: core/features/feature.ts → core/features/schedule/schedule.ts'],
  ],
  [
    'a feature using another',
    { 'core/features/schedule/schedule.ts': uses('../signals/signals.ts'), 'core/features/signals/signals.ts': ONE },
    ['modules-meet-higher-up: core/features/schedule/schedule.ts → core/features/signals/signals.ts'],
  ],
  [
    'a feature reading the contract of another',
    { 'core/features/schedule/schedule.ts': uses('../../contracts/features/signals.ts'), 'core/contracts/features/signals.ts': ONE },
    ['a-feature-knows-its-own-contract: core/features/schedule/schedule.ts → core/contracts/features/signals.ts'],
  ],
  [
    'a door knowing a feature',
    { 'core/doors/http/http.ts': uses('../../features/schedule/schedule.ts'), 'core/features/schedule/schedule.ts': ONE },
    ['doors-know-the-kernel-only: core/doors/http/http.ts → core/features/schedule/schedule.ts'],
  ],
  [
    'the spine knowing a feature',
    { 'core/runtime/turns/turns.ts': uses('../../features/schedule/schedule.ts'), 'core/features/schedule/schedule.ts': ONE },
    ['runtime-looks-up: core/runtime/turns/turns.ts → core/features/schedule/schedule.ts'],
  ],
  [
    'a floor that knows the composition',
    { 'core/doors/http/http.ts': "export { two } from '../../compose.ts';\n" },
    ['only-the-top-composes: core/doors/http/http.ts → core/compose.ts'],
  ],
  [
    'a cycle of types alone',
    { 'core/base/left.ts': usesType('./right.ts'), 'core/base/right.ts': usesType('./left.ts') },
    ['no-cycle: core/base/left.ts → core/base/right.ts → core/base/left.ts'],
  ],
  [
    'core importing the shell',
    { 'core/agent/brain/brain.ts': uses('../../../main/shell.ts'), 'main/shell.ts': ONE },
    ['core-without-a-shell: core/agent/brain/brain.ts → main/shell.ts'],
  ],
  [
    'core importing Electron',
    { 'core/agent/brain/brain.ts': "export { app } from 'electron';\n" },
    ['core-without-a-shell: core/agent/brain/brain.ts → electron'],
  ],
  [
    'a part of the shell importing Electron, other than the one file that may',
    {
      'main/desktop.ts': "export { app } from 'electron';\n",
      'main/desktop/tray.ts': "export { Tray } from 'electron';\n",
    },
    ['only-the-desktop-knows-electron: main/desktop/tray.ts → electron'],
  ],
  [
    'the window reaching into the core',
    { 'renderer/main.ts': uses('../core/store/storage/storage.ts') },
    ['window-sees-contracts-only: renderer/main.ts → core/store/storage/storage.ts'],
  ],
  [
    'contracts doing I/O',
    { 'core/contracts/files.ts': "export { readFileSync } from 'node:fs';\n" },
    ['ground-floors-are-pure: core/contracts/files.ts → fs'],
  ],
  [
    'the product importing a test',
    { 'core/base/clock.test.ts': ONE, 'core/base/clock.ts': uses('./clock.test.ts') },
    ['no-test-import: core/base/clock.ts → core/base/clock.test.ts'],
  ],
  ['an import that leads nowhere', { 'core/base/clock.ts': uses('./gone.ts') }, ['no-unresolved: core/base/clock.ts → ./gone.ts']],
])('%s is rejected', async (_name, extra, expected) => {
  expect(await brokenRules(extra)).toEqual(expected);
});
