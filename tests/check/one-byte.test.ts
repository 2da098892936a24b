// Source texts with one byte per character: the program and its source map keep their meaning, and the build output is ASCII.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { decode, encode, type SourceMapSegment } from '@jridgewell/sourcemap-codec';
import { expect, test } from 'vitest';
import { inOneByte } from '../../build/one-byte.ts';
import { projectRoot } from '../../build/files.mjs';
import { readStamp } from '../../build/freshness.mjs';

const filler = '"plain text of a program, long enough";'.repeat(40);

test('strings, templates, patterns, keys and surrogate pairs mean the same', () => {
  const code = `${filler}({ text: "a…b", template: \`“\${1 + 1}”\`, π: 3, sign: "§", emoji: "😀", found: /^[😀-😂“]$/u.test("😁"), cut: "\u2028".length });`;
  const { code: narrow } = inOneByte(code, '');
  expect(narrow).toMatch(/^[\0-\u007f]*$/);
  const meant: unknown = JSON.parse(JSON.stringify(runInNewContext(narrow)));
  expect(meant).toEqual(JSON.parse(JSON.stringify(runInNewContext(code))));
  expect(meant).toMatchObject({ text: 'a…b', template: '“2”', emoji: '😀', found: true, cut: 1 });
});

test('only source map positions after an escape in the same line move', () => {
  const line = `f("…");g("……");h();`;
  const at = (text: string, name: string): number => text.indexOf(`${name}(`);
  const map = (text: string): SourceMapSegment[] =>
    ['f', 'g', 'h'].map((name): SourceMapSegment => [at(text, name), 0, 0, name.charCodeAt(0)]);
  const narrow = inOneByte(`${filler}\n${line}\nk();`, encode([[[0, 0, 0, 0]], map(line), [[0, 0, 2, 0]]]));
  const shown = narrow.code.split('\n')[1] ?? '';
  expect(shown).toBe(String.raw`f("\u2026");g("\u2026\u2026");h();`);
  expect(decode(narrow.mappings)).toEqual([[[0, 0, 0, 0]], map(shown), [[0, 0, 2, 0]]]);
});

test('leaves text of another script alone, and rejects raw templates', () => {
  const table = 'const words = ["слово", "язык"];';
  expect(inOneByte(table, '')).toEqual({ code: table, mappings: '' });
  expect(() => inOneByte(`${filler}String.raw\`a…\`;`, '')).toThrow('A raw template holds a character above U+007F');
});

test('everything a server loads at its start has one byte per character', () => {
  // Chunks of the previous build are in the folder as well.
  const wide = (readStamp(projectRoot)?.files ?? [])
    .filter((path) => path.endsWith('.js') && !path.includes('renderer/'))
    .filter((path) => /[\u0080-\uffff]/.test(readFileSync(join(projectRoot, 'dist', path), 'utf8')));
  expect(wide.map((path) => path.replace(/-[\w-]{8}\.js$/, ''))).toEqual(['chunks/gpt-tokenizer']);
});
