// Languages: each brings every text, no component says anything of its own, numbers and times follow the language.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'svelte/compiler';
import { expect, test } from 'vitest';
import { english } from './english/english.ts';
import { Formats } from './formats.ts';
import { german } from './german/german.ts';
import { Language, languageOf } from './language.svelte.ts';

const renderer = fileURLToPath(new URL('../../', import.meta.url));
const spokenAttributes = /^(?:aria-label|aria-description|aria-roledescription|aria-valuetext|title|placeholder|alt|label|name)$/;
/** Two letters side by side are a word; units, signs and commands in code are none. */
const word = /\p{L}{2}/u;
/** A text inside an expression: two words, or one with a capital. */
const sentence = /\p{L}{2} \p{L}{2}|^\p{Lu}\p{Ll}/u;
/** Said the same in every language, or what the person types word for word. */
const sameEverywhere = /^(?:TrayClaw|Ctrl|Shift|Esc|Enter|true|false)$/;

interface Node {
  readonly type: string;
  readonly name?: string;
  readonly data?: string;
  readonly [key: string]: unknown;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}

function isUnspoken({ type, name = '' }: Node): boolean {
  // The name of an icon is no text.
  if (type === 'Component' && name === 'Icon') return true;
  return (type === 'RegularElement' && (name === 'code' || name === 'kbd')) || (type === 'Attribute' && !spokenAttributes.test(name));
}

function textOf({ type, data = '', value }: Node): string {
  if (type === 'Text' && word.test(data)) return data.trim();
  return type === 'Literal' && typeof value === 'string' && sentence.test(value) ? value : '';
}

/** The texts of a component's markup that stand there word for word. */
function bareTexts(source: string): string[] {
  const found: string[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) visit(item);
    if (!isNode(value)) return;
    if (isUnspoken(value)) return;
    const text = textOf(value);
    if (text !== '') found.push(text);
    for (const [key, child] of Object.entries(value)) if (key !== 'parent') visit(child);
  };
  visit(parse(source, { modern: true }).fragment);
  return found.filter((text) => !sameEverywhere.test(text));
}

function texts(words: object, path = ''): [string, unknown][] {
  return Object.entries(words).flatMap(([key, value]): [string, unknown][] =>
    typeof value === 'object' && value !== null ? texts(value, `${path}${key}.`) : [[`${path}${key}`, value]],
  );
}

test('a text in the markup of a component is found, also in an attribute and under a condition', () => {
  expect(
    bareTexts(
      '<p><Icon name="stop" />{#if a}Say <b title="More">this</b>{/if}</p><code>npm test</code><i class="wide">{a ? "Stop now" : "b"} ms</i>',
    ),
  ).toEqual(['Say', 'More', 'this', 'Stop now', 'ms']);
});

test('no component says anything in a language of its own', () => {
  const speaking = globSync('**/*.svelte', { cwd: renderer }).flatMap((file) => {
    const bare = bareTexts(readFileSync(join(renderer, file), 'utf8'));
    return bare.length === 0 ? [] : [{ file, bare }];
  });
  expect(speaking).toEqual([]);
});

test('German says everything, and in other words', () => {
  const translated = new Map(texts(german));
  const own = texts(english);
  expect([...translated.keys()].sort()).toEqual(own.map(([key]) => key).sort());
  const copied = own.filter(([key, value]) => typeof value === 'string' && value.includes(' ') && translated.get(key) === value);
  expect(copied.map(([key]) => key)).toEqual([]);
});

test('numbers, money and times follow the language', () => {
  const en = new Formats('en-GB', english.common);
  const de = new Formats('de-DE', german.common);
  expect([en.duration(1500), en.size(1200), en.tokens(1840), en.usd(1.5), en.usd(0.0012), en.usd(null), en.number(1234.5)]).toEqual([
    '1.5 s',
    '1.2 kB',
    '1.8k tokens',
    '$1.50',
    '$0.0012',
    'cost unknown',
    '1,234.5',
  ]);
  expect([de.duration(1500), de.size(1200), de.tokens(1), de.usd(1.5), de.number(1234.5)]).toEqual([
    '1,5 s',
    '1,2 kB',
    '1 Token',
    '1,50\u{a0}$',
    '1.234,5',
  ]);
});

test("the person's first known language is taken, and the last one asked for wins", async () => {
  expect([languageOf('system', ['fr-FR', 'de-AT', 'en']), languageOf('system', ['fr']), languageOf('en', ['de'])]).toEqual([
    'de',
    'en',
    'en',
  ]);
  const language = new Language();
  const first = language.show('de');
  await language.show('en');
  await first;
  expect(language.tag).toBe('en');
  await language.show('de');
  expect([language.tag, language.words.appearance.language]).toEqual(['de', 'Sprache']);
});
