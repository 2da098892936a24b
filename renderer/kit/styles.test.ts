// The guarantees of the styles: every combination of text and background in use is readable, and only the tokens contain colours and sizes.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const folder = fileURLToPath(new URL('..', import.meta.url));
const tokens = readFileSync(join(folder, 'kit/tokens.css'), 'utf8');

const grounds = ['bg', 'surface', 'sunken'] as const;
/** Text and its backgrounds, with the minimum contrast after WCAG 2.2: 7 for text to approve, 4.5 elsewhere. */
const textPairs: readonly (readonly [text: string, on: readonly string[], least: number])[] = [
  ['text', [...grounds, 'hover', 'accent-soft', 'amber-soft', 'red-soft', 'selection'], 7],
  ['text-2', ['bg', 'surface', 'sunken'], 7],
  ['text-2', ['hover', 'accent-soft', 'amber-soft'], 4.5],
  ['text-3', grounds, 4.5],
  ['accent', [...grounds, 'accent-soft', 'hover'], 4.5],
  ['amber', ['surface', 'amber-soft'], 7],
  ['amber', ['bg', 'sunken'], 4.5],
  ['red', [...grounds, 'red-soft'], 4.5],
  ['on-accent', ['accent', 'accent-strong'], 4.5],
  ['on-amber', ['amber'], 4.5],
  ['on-red', ['red-fill'], 4.5],
  ['code-keyword', ['sunken', 'accent-soft', 'amber-soft'], 7],
  ['code-string', ['sunken', 'accent-soft', 'amber-soft'], 7],
  ['code-constant', ['sunken', 'accent-soft', 'amber-soft'], 7],
  ['code-function', ['sunken', 'accent-soft', 'amber-soft'], 7],
  // Borders of controls that can be pressed or typed into.
  ['line-strong', ['bg', 'surface', 'sunken'], 3],
  ['amber-line', ['bg', 'surface'], 2.5],
  ['red-line', ['bg', 'surface'], 3],
];

interface Look {
  readonly light: string;
  readonly dark: string;
}

function colours(block: string): Map<string, Look> {
  const found = new Map<string, Look>();
  for (const [, name = '', value = ''] of block.matchAll(/--([\w-]+):\s*([^;]+);/g)) {
    const both = /^light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)$/.exec(value);
    const one = /^#[0-9a-f]{6}$/.exec(value);
    if (both !== null) found.set(name, { light: both[1] ?? '', dark: both[2] ?? '' });
    else if (one !== null) found.set(name, { light: value, dark: value });
  }
  return found;
}

const blockAfter = (selector: string): string => tokens.slice(tokens.indexOf(`${selector} {`)).split('}')[0] ?? '';
const usual = colours(blockAfter(':root'));
const contrast = new Map([...usual, ...colours(blockAfter(":root[data-contrast='more']"))]);

function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function ratio(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

test.each([
  ['usual', usual, 1],
  ['more contrast', contrast, 1.5],
] as const)('every pair of text and ground can be read: %s', (_name, palette, factor) => {
  const tooFaint = textPairs.flatMap(([text, on, least]) =>
    on.flatMap((ground) =>
      (['light', 'dark'] as const).flatMap((scheme) => {
        const found = ratio(palette.get(text)?.[scheme] ?? '', palette.get(ground)?.[scheme] ?? '');
        const wanted = Math.min(7, least * factor);
        // The comparison is written so that a missing colour fails.
        return found >= wanted ? [] : [`${text} on ${ground}, ${scheme}: ${found.toFixed(2)} < ${wanted}`];
      }),
    ),
  );
  expect(tooFaint).toEqual([]);
});

const colourLiteral = /#[0-9a-f]{3,8}\b|\b(?:rgba?|hsla?|oklch|light-dark)\(/i;
const sized = /^(?:gap|row-gap|column-gap|padding(?:-[a-z-]+)?|margin(?:-[a-z-]+)?|border-radius|font-size|transition|animation)$/;
/** Hairlines, and sizes relative to the text, need no token. */
const sizeLiteral = /(?<![\w.])-?(?!(?:1|2)px)\d*\.?\d+(?:px|rem|ms)\b|(?<![\w.])[1-9]\d*s\b/;

function findLiterals(css: string): string[] {
  return [...css.replaceAll(/\/\*[\s\S]*?\*\//g, '').matchAll(/(?<=^|[;{])\s*([a-z-]+):\s*([^;{}]+);/g)].flatMap(
    ([, name = '', value = '']) => {
      if (colourLiteral.test(value)) return [`${name}: ${value}`];
      return sized.test(name) && sizeLiteral.test(value) ? [`${name}: ${value}`] : [];
    },
  );
}

test('the definition of a literal', () => {
  expect(findLiterals('a { color: #fff; gap: 4px; padding: 0 1px; width: 40px; margin: -6px auto; transition: color 0.2s; }')).toEqual([
    'color: #fff',
    'gap: 4px',
    'margin: -6px auto',
  ]);
});

test('only the tokens name a colour, a space, a radius, a size of type or a duration', () => {
  const files = globSync(['**/*.svelte', 'kit/base.css', 'kit/classes.css'], { cwd: folder });
  expect(files.length).toBeGreaterThan(40);
  const literals = files.flatMap((file) => {
    const text = readFileSync(join(folder, file), 'utf8');
    const css = file.endsWith('.css') ? text : (/<style>([\s\S]*)<\/style>/.exec(text)?.[1] ?? '');
    return findLiterals(css).map((literal) => `${file}: ${literal}`);
  });
  expect(literals).toEqual([]);
});

test('no rule joins any two neighbours: an element added at the top would restyle all that follow it', () => {
  const texts = globSync(['**/*.svelte', 'kit/*.css'], { cwd: folder });
  expect(texts.filter((file) => /\*\s*[+~]\s*\*/.test(readFileSync(join(folder, file), 'utf8')))).toEqual([]);
});

test('breakpoints are in em, so that a larger text of the browser gets the layout of a narrower window', () => {
  const texts = globSync(['**/*.svelte', '**/*.ts', 'kit/*.css'], { cwd: folder, exclude: ['**/*.test.ts'] });
  const found = texts.flatMap((file) => readFileSync(join(folder, file), 'utf8').match(/(?:min|max)-(?:width|height): [\d.]+px\)/g) ?? []);
  expect(found).toEqual([]);
});

test('every token in use exists, and every token is used', () => {
  const texts = globSync(['**/*.svelte', 'kit/*.css'], { cwd: folder }).map((file) => readFileSync(join(folder, file), 'utf8'));
  const used = new Set(texts.flatMap((text) => [...text.matchAll(/var\(--([\w-]+)/g)].map(([, name]) => name)));
  const named = new Set([...tokens.matchAll(/^\s*--([\w-]+):/gm)].map(([, name]) => name));
  expect([...used].filter((name) => !named.has(name))).toEqual([]);
  expect([...named].filter((name) => !used.has(name))).toEqual([]);
});

/** The declarations of a rule in a canonical order. */
const said = (body: string): string =>
  body
    .split(';')
    .map((line) => line.trim().replaceAll(/\s+/g, ' '))
    .filter((line) => line !== '')
    .sort()
    .join('; ');

/** Rules of a view that repeat a class of the kit exactly. */
function findRepeated(kit: string, css: string): string[] {
  const rules = (text: string) => [...text.replaceAll(/\/\*[\s\S]*?\*\//g, '').matchAll(/([^{}]+)\{([^{}]*)\}/g)];
  const classes = new Map(
    rules(kit)
      .filter(([, selector = '']) => /^\s*\.[\w-]+\s*$/.test(selector))
      .map(([, selector = '', body = '']) => [said(body), selector.trim()] as const),
  );
  return rules(css).flatMap(([, selector = '', body = '']) => {
    const known = /^\s*\.?[\w-]+\s*$/.test(selector) ? classes.get(said(body)) : undefined;
    return known === undefined ? [] : [`${selector.trim()} is ${known}`];
  });
}

test('a repeated class of the kit is found', () => {
  const kit = '.soft { color: var(--text-2); } .row { display: flex; gap: var(--space-2); }';
  const css =
    'p { color: var(--text-2) } .mine { gap: var(--space-2); display: flex } .mine:hover { color: var(--text-2) } h2 { color: red }';
  expect(findRepeated(kit, css)).toEqual(['p is .soft', '.mine is .row']);
});

test('no view writes a rule that is a class of the kit, and all of them together stay small', () => {
  const kit = readFileSync(join(folder, 'kit/classes.css'), 'utf8');
  const styles = globSync('**/*.svelte', { cwd: folder }).map((file) => ({
    file,
    css: /<style>([\s\S]*)<\/style>/.exec(readFileSync(join(folder, file), 'utf8'))?.[1] ?? '',
  }));
  expect(
    styles.flatMap(({ file, css }) =>
      findRepeated(kit, css.replaceAll(/@media[^{]*\{(?:[^{}]*\{[^{}]*\})*\s*\}/g, '')).map((one) => `${file}: ${one}`),
    ),
  ).toEqual([]);
  const count = styles.reduce((sum, { css }) => sum + [...css.matchAll(/^\s*[a-z-]+:\s[^;{}]+;/gm)].length, 0);
  expect(count).toBeGreaterThan(500);
  expect(count).toBeLessThanOrEqual(1050);
});
