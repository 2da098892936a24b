// Code of the first load uses none of the texts that are loaded later.

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { later } from './english/later.ts';

const folder = fileURLToPath(new URL('../..', import.meta.url));

/** The modules a module imports at once; types are no modules. */
function importsOf(path: string): string[] {
  const source = readFileSync(path, 'utf8');
  const found = source.matchAll(/^\s*(?:import|export)\s(?!type\b)(?:[^'"]*?\sfrom\s+)?['"](\.[^'"?]+)/gm);
  return [...found].map(([, to = '']) => join(dirname(path), to)).filter((to) => /\.(?:ts|svelte)$/.test(to) && existsSync(to));
}

function firstLoad(): string[] {
  const met = new Set<string>();
  const open = [join(folder, 'main.ts')];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (met.has(path)) continue;
    met.add(path);
    open.push(...importsOf(path));
  }
  return [...met];
}

const laterTexts = new RegExp(String.raw`\bwords\.(?:${Object.keys(later).join('|')})\b`);

test('code of the first load uses no text that is loaded later', () => {
  const modules = firstLoad();
  expect(modules).toContain(join(folder, 'views/chat/chat-view.svelte'));
  expect(modules).not.toContain(join(folder, 'lib/i18n/english/later.ts'));
  expect(laterTexts.test('const words = $derived(language.words.health);')).toBe(true);
  expect(modules.filter((path) => laterTexts.test(readFileSync(path, 'utf8')))).toEqual([]);
});
