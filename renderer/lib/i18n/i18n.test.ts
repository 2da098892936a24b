// Texts: every text of the window comes from the catalogue; numbers follow the locale.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'svelte/compiler';
import { expect, test } from 'vitest';
import { english } from './english/whole.ts';
import { Formats } from './formats.ts';

const renderer = fileURLToPath(new URL('../../', import.meta.url));
const spokenAttributes = /^(?:aria-label|aria-description|aria-roledescription|aria-valuetext|title|placeholder|alt|label|name)$/;
/** Two letters in a row count as a word; units, signs and commands in code do not. */
const word = /\p{L}{2}/u;
/** A text inside an expression: two words, or a capitalised one. */
const sentence = /\p{L}{2} \p{L}{2}|^\p{Lu}\p{Ll}/u;
/** Names and keys that are the same in every language, or that a person types verbatim. */
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
  // The name of an icon is not a text.
  if (type === 'Component' && name === 'Icon') return true;
  return (type === 'RegularElement' && (name === 'code' || name === 'kbd')) || (type === 'Attribute' && !spokenAttributes.test(name));
}

function textOf({ type, data = '', value }: Node): string {
  if (type === 'Text' && word.test(data)) return data.trim();
  return type === 'Literal' && typeof value === 'string' && sentence.test(value) ? value : '';
}

/** The literal texts of a component's markup. */
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

test('a text in the markup of a component is found, also in an attribute and under a condition', () => {
  expect(
    bareTexts(
      '<p><Icon name="stop" />{#if a}Say <b title="More">this</b>{/if}</p><code>npm test</code><i class="wide">{a ? "Stop now" : "b"} ms</i>',
    ),
  ).toEqual(['Say', 'More', 'this', 'Stop now', 'ms']);
});

test('no component has a text outside the catalogue', () => {
  const speaking = globSync('**/*.svelte', { cwd: renderer }).flatMap((file) => {
    const bare = bareTexts(readFileSync(join(renderer, file), 'utf8'));
    return bare.length === 0 ? [] : [{ file, bare }];
  });
  expect(speaking).toEqual([]);
});

test('numbers and money follow the locale of the formats', () => {
  const british = new Formats('en-GB', english.common);
  const swedish = new Formats('sv-SE', english.common);
  const said = (format: Formats) => [format.duration(1500), format.size(1200), format.tokens(1840), format.usd(1.5), format.number(1234.5)];
  expect(said(british)).toEqual(['1.5\u{a0}s', '1.2\u{a0}kB', '1.8k\u{a0}tokens', '$1.50', '1,234.5']);
  expect(said(swedish)).toEqual(['1,5\u{a0}s', '1,2\u{a0}kB', '1,8k\u{a0}tokens', '1,50\u{a0}$', '1\u{a0}234,5']);
});

test('a moment has no seconds and its year only in another year, an instant has both', () => {
  const atMs = new Date(2026, 10, 28, 15, 31, 4).getTime();
  const said = (year: number) => {
    const format = new Formats('en-GB', english.common, () => new Date(year, 11, 31, 23, 59).getTime());
    return [format.moment(atMs), format.instant(atMs)];
  };
  expect(said(2026)).toEqual(['28 Nov, 15:31', '28 Nov 2026, 15:31:04']);
  expect(said(2027)).toEqual(['28 Nov 2026, 15:31', '28 Nov 2026, 15:31:04']);
});
