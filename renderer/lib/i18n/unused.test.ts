// Every entry of the catalogue is used in a file of the window: by its path, or, if the key is computed, by the path above it.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { english } from './english/whole.ts';

const folder = fileURLToPath(new URL('../..', import.meta.url));

/** Read by key (`names[…]`), looked up (`known(words.names, …)`), listed, or typed with arbitrary text keys. */
function isReadByKey(table: string, source: string): boolean {
  const ways = [
    String.raw`\b${table}(?:\?\.)?\[`,
    String.raw`(?:known|nameActor|Object\.\w+)\(.*\b${table}\b`,
    String.raw`Record<[^;]*>[^;]*\.${table}\b`,
    // Passed to a component that reads it by key.
    String.raw`=\{[\w.]*\.${table}\}`,
  ];
  return ways.some((way) => new RegExp(way).test(source));
}

/** Matches an entry of a command table, whose key is that of its name. */
const commandNamed = (key: string): string => String.raw`(?:^|\n)( *)(?:\S.*)?commandsOf\('\w+', \{\n(?:\1 .*\n)*?\1 {2}${key}: \{`;

function findUnused(words: object, source: string, path: readonly string[] = []): string[] {
  const isKeyed = path.length > 1 && path.slice(1).some((table) => isReadByKey(table, source));
  return Object.entries(words).flatMap(([key, value]: [string, unknown]) => {
    if (Array.isArray(value)) return [];
    if (typeof value === 'object' && value !== null) return findUnused(value, source, [...path, key]);
    // Used by name, destructured from its table, one of two alternatives, or the name of a command.
    const ways = [String.raw`\.${key}\b`, String.raw`[{,]\s*${key}\s*[,}]`, `'${key}'`, commandNamed(key)];
    return isKeyed || ways.some((way) => new RegExp(way).test(source)) ? [] : [[...path, key].join('.')];
  });
}

test('what counts as unused', () => {
  const words = { greet: 'Hello', gone: 'Bye', tones: { high: 'high', low: 'low' }, parts: { one: '1', two: '2' } };
  expect(findUnused(words, 'words.greet; words.tones[tone]; words.parts.one', ['chat'])).toEqual(['chat.gone', 'chat.parts.two']);
  const table =
    "const go = commandsOf('go', {\n  first: {\n    run: () => undefined;\n  },\n  greet: { run },\n});\nconst other = {\n  gone: { run },\n};";
  expect(findUnused({ greet: 'Hello', gone: 'Bye' }, table, ['commands'])).toEqual(['commands.gone']);
});

test('every text of the window is used', () => {
  const files = globSync(['**/*.svelte', '**/*.ts'], { cwd: folder, exclude: ['lib/i18n/english/**', '**/*.test.ts'] });
  expect(files.length).toBeGreaterThan(100);
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8'));
  const unused = Object.entries(english).flatMap(([part, words]) => {
    const askers = texts.filter((text) => new RegExp(String.raw`\b${part}\b`).test(text));
    return findUnused(words, askers.join('\n'), [part]);
  });
  expect(unused).toEqual([]);
});
