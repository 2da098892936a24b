// Code that is loaded early uses no text that is loaded later.

import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { commands } from './english/commands.ts';
import { later } from './english/later.ts';
import { talk } from './english/talk.ts';

const folder = fileURLToPath(new URL('../..', import.meta.url));

/** The modules that a module imports statically, without types. */
function importsOf(path: string): string[] {
  const source = readFileSync(path, 'utf8');
  const found = source.matchAll(/^\s*(?:import|export)\s(?!type\b)(?:[^'"]*?\sfrom\s+)?['"](\.[^'"?]+)/gm);
  return [...found].map(([, to = '']) => join(dirname(path), to)).filter((to) => /\.(?:ts|svelte)$/.test(to) && existsSync(to));
}

/** Everything these modules import statically, directly or indirectly. */
function reachOf(...roots: string[]): string[] {
  const met = new Set<string>();
  const open = roots.map((root) => join(folder, root));
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (met.has(path)) continue;
    met.add(path);
    open.push(...importsOf(path));
  }
  return [...met];
}

/** Matched from the root, because another catalogue may have an entry with the same name. */
const asks = (words: object): RegExp =>
  new RegExp(String.raw`\b(?:language|getLanguage\(\))\.words\.(?:${Object.keys(words).join('|')})\b`);
const askers = (modules: readonly string[], texts: RegExp): string[] => modules.filter((path) => texts.test(readFileSync(path, 'utf8')));

test('code of the first load uses no text that is loaded later, and no parser of answers', () => {
  const modules = reachOf('main.ts', 'open-window.ts');
  expect(modules).toContain(join(folder, 'views/chat/chat-view.svelte'));
  for (const name of ['i18n/english/talk', 'i18n/english/later', 'markdown/blocks', 'markdown/sanitize', 'markdown/markup-tools'])
    expect(modules).not.toContain(join(folder, `lib/${name}.ts`));
  for (const name of ['i18n/english/commands', 'commands/commands']) expect(modules).not.toContain(join(folder, `lib/${name}.ts`));
  expect(asks(talk).test('const words = getLanguage().words.chat;')).toBe(true);
  expect(askers(modules, asks({ commands, ...talk, ...later }))).toEqual([]);
});

test('code that shows turns uses only texts that are loaded with it', () => {
  const parts = globSync('views/chat/**/*.svelte', {
    cwd: folder,
    exclude: ['views/chat/side/**', 'views/chat/second-thoughts.svelte', 'views/chat/plan-note.svelte'],
  });
  const modules = reachOf(...parts);
  expect(modules).toContain(join(folder, 'parts/approval-card.svelte'));
  expect(asks(later).test('const words = language.words.health;')).toBe(true);
  expect(askers(modules, asks({ commands, ...later }))).toEqual([]);
  expect(askers(reachOf('parts/command-palette.svelte', 'parts/key-sheet.svelte'), asks({ ...talk, ...later }))).toEqual([]);
});
