// ARCHITECTURE.md lists exactly the existing modules, and what the documents refer to exists.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { eventTypes } from '../../core/contracts/events.ts';
import { codeWords, documentNames, projectRoot, readDocument, referenceNames } from './documents.ts';

const flatFloors = ['core/base', 'core/contracts'];

function folders(path: string): string[] {
  return readdirSync(join(projectRoot, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `${path}/${entry.name}`);
}

function modulesOfTheCode(): string[] {
  const floors = folders('core').filter((floor) => !flatFloors.includes(floor));
  const shells = ['main', 'preload', 'renderer'].filter((folder) => existsSync(join(projectRoot, folder)));
  return [...flatFloors, ...floors.flatMap(folders), ...shells].sort();
}

test('ARCHITECTURE.md has one line for each module and no others', () => {
  const rows = readDocument('ARCHITECTURE.md').matchAll(/^\| `((?:core\/|main|preload|renderer)[\w/-]*)` +\|/gm);
  expect([...rows].map((row) => row[1] ?? '').sort()).toEqual(modulesOfTheCode());
});

test('the events in ARCHITECTURE.md exist, alone or as a family', () => {
  const cells = [...readDocument('ARCHITECTURE.md').matchAll(/^\| `[^|]*\|[^|]*\|([^|]*)\|$/gm)].map((row) => row[1] ?? '');
  const named = cells.flatMap((cell) => [...cell.matchAll(/`([a-z0-9_.*]+)`/g)].map((word) => word[1] ?? ''));
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((name) => !eventTypes.some((type) => type === name || `${type.split('.')[0] ?? ''}.*` === name))).toEqual([]);
});

test.each([...documentNames, ...referenceNames])('every file link in %s leads to an existing file', (name) => {
  const text = readDocument(name);
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"/g)].map((match) => match[1] ?? match[2] ?? '');
  const own = targets.filter((target) => !/^(?:https?:|#|mailto:)/.test(target)).map((target) => target.replace(/#.*$/, ''));
  expect(own.filter((target) => !existsSync(join(projectRoot, dirname(name), target)))).toEqual([]);
});

test.each([...documentNames, ...referenceNames])('every source file named in %s exists', (name) => {
  const paths = codeWords(readDocument(name)).filter((word) => /^(?:core|main|renderer|build|tests)\/[\w./-]+\.\w+$/.test(word));
  expect(paths.filter((path) => !existsSync(join(projectRoot, path)))).toEqual([]);
});

test('every npm script in the documents exists, and every script is documented', () => {
  const { scripts } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
  const all = documentNames.map(readDocument).join('\n');
  const run = [...all.matchAll(/npm run (?:--silent )?([\w:]+)/g)].map((match) => match[1] ?? '');
  const short = [...all.matchAll(/npm (start|test)\b/g)].map((match) => match[1] ?? '');
  const named = new Set([...run, ...short]);
  // npm runs these automatically.
  expect([...named].sort()).toEqual(
    Object.keys(scripts)
      .filter((script) => !['prepare', 'prepack'].includes(script))
      .sort(),
  );
});
