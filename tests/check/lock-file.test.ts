// A lock file with the gaps that npm leaves is rejected, and repaired with --fix.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTree, runCheck } from './fixture-tree.ts';

const tree = (dependency: string): string =>
  createTree({
    'package.json': JSON.stringify({ dependencies: { addon: dependency } }),
    'package-lock.json': JSON.stringify({
      packages: {
        '': {},
        'node_modules/addon': { version: '1.0.0' },
        'node_modules/lint': { version: '2.0.0', dev: true, optionalDependencies: { '@lint/binding-linux-arm64-musl': '2.0.0' } },
      },
    }),
    'node_modules/addon/package.json': JSON.stringify({ name: 'addon', gypfile: false }),
    'node_modules/addon/binding.gyp': '{}',
  });

test('both gaps are reported, repaired, and then gone', () => {
  const root = tree('1.0.0');
  const before = runCheck('build/check-lock.ts', root);
  const mending = runCheck('build/check-lock.ts', '--fix', root);
  const after = runCheck('build/check-lock.ts', root);
  const hint = 'run "node build/check-lock.ts --fix"';
  expect({ before, mending, after }).toEqual({
    before: {
      code: 1,
      lines: [
        `package-lock.json lacks @lint/binding-linux-arm64-musl, an optional part of node_modules/lint; ${hint}`,
        `package-lock.json lacks "gypfile": false for node_modules/addon; ${hint}`,
        '3 packages, 2 problems',
      ],
    },
    mending: { code: 0, lines: ['mended 2 gaps'] },
    after: { code: 0, lines: ['4 packages, 0 problems'] },
  });
  expect(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))).toMatchObject({
    packages: {
      'node_modules/@lint/binding-linux-arm64-musl': {
        version: '2.0.0',
        cpu: ['arm64'],
        dev: true,
        libc: ['musl'],
        optional: true,
        os: ['linux'],
      },
      'node_modules/addon': { version: '1.0.0', gypfile: false },
    },
  });
});

test('a version that is not exact is rejected', () => {
  const root = tree('^1.0.0');
  runCheck('build/check-lock.ts', '--fix', root);
  expect(runCheck('build/check-lock.ts', root)).toEqual({
    code: 1,
    lines: ['package.json asks for addon ^1.0.0; name one exact version', '4 packages, 1 problems'],
  });
});
