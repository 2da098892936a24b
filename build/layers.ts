// The architecture rules as dependency rules: one-way layers, modules entered through their entry file, no cycles. ARCHITECTURE.md gives
// the reasons.

import type { ICruiseOptions, IRegularForbiddenRuleType as Rule } from 'dependency-cruiser';

/** From low to high. Layers in the same row are siblings and never import each other. */
const FLOORS = [['base'], ['contracts'], ['store'], ['guard'], ['mind', 'hands'], ['agent'], ['runtime'], ['features'], ['doors']];

/** Layers without modules: their files may import each other. */
const FLAT = ['base', 'contracts'];

export const modularFloors = FLOORS.flat().filter((floor) => !FLAT.includes(floor));
const MODULAR = modularFloors.join('|');
const TEST = '\\.(test|e2e)\\.ts$|^tests/';
/** The kernel: files of this layer that are in no module. */
export const KERNEL = /^core\/features\/[^/]+$/;
/** Any file of a module except its entry file. */
const INSIDE = `^core/(?:${MODULAR})/([^/]+)/(?!\\1\\.ts$)`;
// Declared as a development package because of how packaging works: an installed app is Electron, which provides this module itself.
const ELECTRON = '(^|/)node_modules/electron/|^electron(/|$)';
const TOP = '^core/(compose|compose-[a-z]+|runtime-options|index)\\.ts$';

const looksUp: Rule[] = FLOORS.flatMap((row, index) => row.map((floor) => ({ floor, above: beyond(row, index, floor) })))
  .filter(({ above }) => above.length > 0)
  .map(({ floor, above }) => ({
    name: `${floor}-looks-up`,
    comment: `core/${floor} may import its own floor and the floors below`,
    severity: 'error',
    from: { path: `^core/${floor}/` },
    to: { path: `^core/(${above.join('|')})/` },
  }));

function beyond(row: string[], index: number, floor: string) {
  const siblings = row.filter((other) => other !== floor);
  return [...siblings, ...FLOORS.slice(index + 1).flat()];
}

export const forbidden: Rule[] = [
  ...looksUp,
  {
    name: 'modules-meet-higher-up',
    comment: 'modules of one floor do not import each other; what needs both belongs on a higher floor or in compose.ts',
    severity: 'error',
    from: { path: `^core/(${MODULAR})/([^/]+)/`, pathNot: TEST },
    // The database is the base of its layer, the kernel the base of the features.
    to: { path: '^core/$1/', pathNot: '^core/$1/$2/|^core/store/storage/|^core/features/[^/]+\\.ts$' },
  },
  {
    name: 'kernel-knows-no-feature',
    comment: 'what a feature is made of cannot depend on one; compose.ts holds the list of them',
    severity: 'error',
    from: { path: '^core/features/[^/]+\\.ts$' },
    to: { path: '^core/features/[^/]+/' },
  },
  {
    name: 'doors-know-the-kernel-only',
    comment: 'a door serves whatever features there are; what it needs of one is in the contracts',
    severity: 'error',
    from: { path: '^core/doors/' },
    to: { path: '^core/features/[^/]+/' },
  },
  {
    name: 'a-feature-knows-its-own-contract',
    comment: 'compose.ts passes one feature to another; features do not import each other',
    severity: 'error',
    from: { path: '^core/features/([^/]+)/', pathNot: TEST },
    to: { path: '^core/contracts/features/', pathNot: '^core/contracts/features/$1\\.ts$' },
  },
  {
    name: 'module-door',
    comment: 'another module is entered through the file named after it',
    severity: 'error',
    from: { path: `^core/(${MODULAR})/([^/]+)/`, pathNot: TEST },
    to: { path: INSIDE, pathNot: '^core/$1/$2/' },
  },
  {
    name: 'module-door-of-tests',
    comment: 'a test enters another module through the file named after it, or uses a rig in tests/rigs',
    severity: 'error',
    from: { path: `^core/(${MODULAR})/([^/]+)/.*\\.test\\.ts$` },
    to: { path: INSIDE, pathNot: '^core/$1/$2/' },
  },
  {
    name: 'module-door-from-the-top',
    comment: 'a module is entered through the file named after it',
    severity: 'error',
    from: { path: '^(main|tests)/|^core/[^/]+\\.ts$', pathNot: '^tests/rigs/core/' },
    to: { path: INSIDE },
  },
  {
    name: 'module-door-of-rigs',
    comment: 'a rig in tests/rigs/core belongs to the unit tests of the module that its folder names; it enters others through their doors',
    severity: 'error',
    from: { path: `^tests/rigs/core/(${MODULAR})/([^/]+)/` },
    to: { path: INSIDE, pathNot: '^core/$1/$2/' },
  },
  {
    name: 'only-the-top-composes',
    comment: 'compose.ts is known to core/index.ts, the process entry points and tests alone',
    severity: 'error',
    from: { path: '^(core|preload|renderer)/', pathNot: `${TEST}|${TOP}` },
    to: { path: TOP },
  },
  {
    name: 'core-without-a-shell',
    comment: 'core runs in plain Node: no Electron, nothing of the shell or the window',
    severity: 'error',
    from: { path: '^core/' },
    to: { path: `^(main|preload|renderer)/|${ELECTRON}` },
  },
  {
    name: 'window-sees-contracts-only',
    comment: 'the window and the preload bridge know core by its contracts',
    severity: 'error',
    from: { path: '^(renderer|preload)/' },
    to: { path: '^(main|core)/', pathNot: '^core/(contracts|base)/' },
  },
  {
    name: 'ground-floors-are-pure',
    comment: 'base and contracts do no I/O, so they import nothing of Node but the letters of paths',
    severity: 'error',
    from: { path: `^core/(${FLAT.join('|')})/`, pathNot: TEST },
    to: { dependencyTypes: ['core'], pathNot: '^(node:)?path$' },
  },
  {
    name: 'ground-floors-stand-alone',
    comment: 'base has no dependency, contracts has zod',
    severity: 'error',
    from: { path: `^core/(${FLAT.join('|')})/`, pathNot: TEST },
    to: { dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer'], pathNot: '(^|/)node_modules/zod/' },
  },
  { name: 'no-cycle', comment: 'imports of types count too', severity: 'error', from: {}, to: { circular: true } },
  { name: 'no-test-import', comment: 'the product never imports a test', severity: 'error', from: { pathNot: TEST }, to: { path: TEST } },
  {
    name: 'no-test-tool',
    comment: 'whatever the product imports is bundled into it; a tool of the tests would be too',
    severity: 'error',
    from: { path: '^(main|core|preload|renderer)/', pathNot: TEST },
    to: { path: '(^|/)node_modules/(vitest|fast-check|playwright-core|@copilotkit/aimock|telegram-test-api|axe-core)/' },
  },
  {
    name: 'only-the-desktop-knows-electron',
    comment: 'main/desktop.ts hands the parts what they need of Electron; in an installed app the program itself provides it',
    severity: 'error',
    from: { path: '^(main|renderer)/', pathNot: `${TEST}|^main/desktop\\.ts$` },
    to: { path: ELECTRON, dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'no-unresolved',
    comment: 'an import that leads nowhere',
    severity: 'error',
    from: {},
    to: { couldNotResolve: true, pathNot: '^electron$' },
  },
];

export const options: ICruiseOptions = {
  doNotFollow: { path: 'node_modules' },
  exclude: { path: '^(dist|node_modules|tests/fixtures)/' },
  tsPreCompilationDeps: true,
  moduleSystems: ['es6', 'cjs'],
  enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['svelte', 'import', 'node', 'default', 'types'] },
};
