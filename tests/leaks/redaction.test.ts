// The redactor against secrets in the forms of many providers and in every encoding, against another scanner, and against text without
// secrets.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lintSource } from '@secretlint/core';
import { creator } from '@secretlint/secretlint-rule-preset-recommend';
import { expect, test } from 'vitest';
import { SafetyChecks } from '../../core/guard/safety/safety.ts';
import { exact, leftover, recognisable } from './encodings.ts';
import { createRandomText, secretSamples } from './secret-samples.ts';

const open = (): SafetyChecks => new SafetyChecks({ policy: { allowDomains: [], denyDomains: [] } });
const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

test('there are enough samples', () => {
  expect(secretSamples.length).toBeGreaterThanOrEqual(60);
  expect(new Set(secretSamples.map(({ kind }) => kind)).size).toBe(secretSamples.length);
  expect([recognisable.length >= 14, exact.length >= 30]).toEqual([true, true]);
});

test.each(recognisable)('a secret of a known form is removed: $name', (encoding) => {
  const safety = open();
  const leaks = secretSamples.flatMap(({ kind, line, secret }) => {
    const left = leftover(safety.redact(`one\n${encoding.encode(line)}\nthree`).text, secret, encoding);
    return left === null ? [] : [`${kind}: ${left}`];
  });
  expect(leaks).toEqual([]);
});

test.each(recognisable)('a secret is removed from a stream, wherever it is cut: $name', (encoding) => {
  const safety = open();
  const leaks = secretSamples.flatMap(({ kind, line, secret }, index) => {
    const text = `one two\n${encoding.encode(line)}\nthree`;
    const step = 17 + (index % 5);
    const stream = safety.stream();
    let streamed = '';
    for (let at = 0; at < text.length; at += step) streamed += stream.push(text.slice(at, at + step));
    const left = leftover(streamed + stream.end(), secret, encoding);
    return left === null ? [] : [`${kind}: ${left}`];
  });
  expect(leaks).toEqual([]);
});

const random = createRandomText(4711);
/** Values that people invent, values that machines generate, and values that break escaping. */
const values = [
  'correct horse battery',
  `S3cr3t/+"va'lue&<ü> %$x`,
  random(20),
  random(64, 'hex'),
  random(43, 'base64'),
  'päss—wörd…€uro',
  '#$%^&*()_=[]{}|;:,.<>?/~',
];

test.each(exact)('a registered value is removed: $name', (encoding) => {
  const safety = open();
  for (const [index, value] of values.entries()) safety.register(value, `v${index}`);
  const leaks = values.flatMap((value) => {
    const encoded = encoding.encode(value);
    const cut = Math.floor(encoded.length / 2);
    const stream = safety.stream();
    const streamed = stream.push(`a ${encoded.slice(0, cut)}`) + stream.push(`${encoded.slice(cut)} b`) + stream.end();
    const results = [safety.redact(`a ${encoded} b`).text, streamed, safety.redactJson(JSON.stringify({ a: encoded })).text];
    return results.flatMap((text) => {
      const left = text.includes('[redacted:v') ? leftover(text, value, encoding) : value;
      return left === null ? [] : [`${value}: ${left}`];
    });
  });
  expect(leaks).toEqual([]);
});

test('everything that another scanner finds in the samples is removed', async () => {
  const safety = open();
  const config = { rules: [{ id: '@secretlint/secretlint-rule-preset-recommend', rule: creator }] };
  const missed: string[] = [];
  let found = 0;
  for (const { kind, line } of secretSamples) {
    const source = { filePath: 'sample.txt', content: line, contentType: 'text' as const, ext: '.txt' };
    const { messages } = await lintSource({ source, options: { config, noPhysicFilePath: true } });
    for (const { range, ruleId } of messages) {
      found += 1;
      const seen = line.slice(range[0], range[1]);
      if (safety.redact(line).text.includes(seen)) missed.push(`${kind} (${ruleId}): ${seen}`);
    }
  }
  expect(missed).toEqual([]);
  expect(found).toBeGreaterThan(10);
});

function filesBelow(folder: string, extension: RegExp): string[] {
  return readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => extension.test(path) && !path.includes('.test.') && !path.includes('node_modules'))
    .map((path) => join(projectRoot, folder, path));
}

function benignText(): string {
  const hex = createRandomText(99);
  const lines = Array.from({ length: 400 }, (_, index) => {
    const at = new Date(1_750_000_000_000 + index * 1000).toISOString();
    return [
      `commit ${hex(40, 'hex')} ${hex(7, 'hex')}..${hex(7, 'hex')} index ${hex(10, 'hex')}`,
      `${at} id=${[8, 4, 4, 4, 12].map((length) => hex(length, 'hex')).join('-')} etag W/"${hex(32, 'hex')}" sha256:${hex(64, 'hex')}`,
      `src="data:image/png;base64,iVBORw0KGgo${hex(600, 'base64')}=" integrity="sha384-${hex(64, 'base64')}"`,
    ][index % 3];
  });
  return lines.join('\n');
}

const benign: [string, () => string, number][] = [
  ['package-lock.json', () => readFileSync(join(projectRoot, 'package-lock.json'), 'utf8'), 0],
  ['hashes, ids and images', benignText, 0],
  [
    'the sources of this project',
    () =>
      filesBelow('core', /\.ts$/)
        .map((path) => readFileSync(path, 'utf8'))
        .join('\n'),
    1,
  ],
  [
    'the documents of this project',
    () => ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md'].map((name) => readFileSync(join(projectRoot, name), 'utf8')).join('\n'),
    1,
  ],
  [
    'minified scripts',
    () =>
      filesBelow('node_modules/typescript/lib', /^typescript\.js$/)
        .map((path) => readFileSync(path, 'utf8').slice(0, 3_000_000))
        .join('\n'),
    1,
  ],
  [
    'bundled scripts',
    () =>
      filesBelow('node_modules/zod/v4', /\.js$/)
        .map((path) => readFileSync(path, 'utf8'))
        .join('\n'),
    1,
  ],
];

const countFound = (text: string): number =>
  open()
    .redact(text)
    .text.match(/\[redacted:/g)?.length ?? 0;

test('the count of secrets found in a text can exceed zero', () => {
  const planted = secretSamples.slice(0, 10).map(({ line }) => line);
  expect(countFound(`${benignText()}\n${planted.join('\n')}`)).toBe(10);
});

test.each(benign)('text without secrets is unchanged: %s', (name, read, per100KbMax) => {
  const safety = open();
  const text = read();
  expect(text.length).toBeGreaterThan(10_000);
  const found = [...safety.redact(text).text.matchAll(/.{0,60}\[redacted:[^\]]+\].{0,30}/g)]
    .map((match) => match[0])
    .filter((shown) => !text.includes(shown));
  const rate = (found.length / text.length) * 100_000;
  if (rate > per100KbMax || process.env['TRAYCLAW_SHOW_RATES'] !== undefined)
    expect.soft({ name, rate, found: found.slice(0, 20) }).toEqual({ name });
});
