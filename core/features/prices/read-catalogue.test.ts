import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { PriceBook } from '../../mind/llm/llm.ts';
import { changesOf } from './prices.ts';
import { readCatalogue } from './read-catalogue.ts';

const model = (cost: unknown, context: unknown = 400_000) => ({ id: 'x', name: 'X', cost, limit: { context, output: 1_000 } });
const catalogue = (models: Record<string, unknown>, more: Record<string, unknown> = {}): string =>
  JSON.stringify({ openai: { id: 'openai', models }, 'some-other': { models: { y: { cost: { input: -1 } } } }, ...more });

test('reads prices, context windows and long-request rates of the known vendors', () => {
  const tiers = [{ input: 10, output: 45, cache_read: 1, tier: { type: 'context', size: 272_000 } }];
  const text = catalogue({
    'gpt-6': model({ input: 5, output: 30, cache_read: 0.5, cache_write: 6, tiers, context_over_200k: { input: 9, output: 40 } }),
    old: model({ input: 1, output: 2, context_over_200k: { input: 2, output: 3 } }, 0),
    embed: { id: 'embed', name: 'E' },
  });
  expect(readCatalogue(text, 7)).toEqual({
    atMs: 7,
    vendors: {
      openai: {
        'gpt-6': {
          input: 5,
          cachedInput: 0.5,
          output: 30,
          long: { overTokens: 272_000, input: 10, cachedInput: 1, output: 45 },
          contextTokens: 400_000,
        },
        old: {
          input: 1,
          cachedInput: null,
          output: 2,
          long: { overTokens: 200_000, input: 2, cachedInput: null, output: 3 },
          contextTokens: null,
        },
      },
    },
  });
});

test.each<[string, string, string]>([
  ['no JSON', '<html>', 'It is no JSON object.'],
  ['a list', '[]', 'It is no JSON object.'],
  ['no known vendor', '{"acme":{"models":{}}}', 'It has no price of any of openai'],
  ['a vendor without models', '{"openai":[]}', 'The entry of openai has no models.'],
  ['a negative price', catalogue({ a: model({ input: -1, output: 2 }) }), 'openai/a: input is not plausible'],
  ['a price in words', catalogue({ a: model({ input: '5', output: 2 }) }), 'openai/a: input is not plausible'],
  ['a huge price', catalogue({ a: model({ input: 5, output: 1e9 }) }), 'openai/a: output is not plausible'],
  ['half a price', catalogue({ a: model({ input: 5 }) }), 'openai/a: output is not plausible'],
  ['an endless number', '{"openai":{"models":{"a":{"cost":{"input":1e999,"output":1}}}}}', 'openai/a: input is not plausible'],
  [
    'a negative long price',
    catalogue({ a: model({ input: 1, output: 2, context_over_200k: { input: -1, output: 1 } }) }),
    'openai/a: long.input',
  ],
  ['a window of a half token', catalogue({ a: model({ input: 1, output: 2 }, 0.5) }), 'openai/a: contextTokens'],
  ['a model that is a word', catalogue({ a: 'free' }), 'The entry openai/a has another form'],
  ['a name with a line break', catalogue({ 'a\nb': model({ input: 1, output: 2 }) }), 'is not the name of a model'],
  ['too many models', catalogue(Object.fromEntries(Array.from({ length: 2_001 }, (_, at) => [`m${at}`, 1]))), 'at most 2000'],
])('a list with %s is refused as a whole, with a sentence that says why', (_what, text, why) => {
  expect(() => readCatalogue(text, 0)).toThrow(/^The price list was refused, and nothing of it is used\./);
  expect(() => readCatalogue(text, 0)).toThrow(why);
});

test('model names that are also object members are ordinary names', () => {
  const list = readCatalogue(
    '{"openai":{"models":{"__proto__":{"cost":{"input":1,"output":2}},"toString":{"cost":{"input":1,"output":2}}}}}',
    0,
  );
  expect(Object.keys(list.vendors.openai ?? {})).toContain('toString');
  expect(new PriceBook(null).find('openai', 'toString')).toBeNull();
  expect(new PriceBook(null).find('openai', '__proto__')).toBeNull();
});

test('a loaded list beats the built-in one by name, survives a restart, can be removed', () => {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-prices-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const book = new PriceBook(home);
  const before = book.find('openai', 'gpt-5');
  expect(before).toMatchObject({ input: 1.25, contextTokens: null });
  book.use(readCatalogue(catalogue({ 'gpt-5': model({ input: 1, output: 10 }) }), 5));
  expect(new PriceBook(home).find('openai', 'gpt-5-2026-01-01')).toMatchObject({ input: 1, contextTokens: 400_000 });
  expect(new PriceBook(home).find('openai', 'gpt-5-mini')).toMatchObject({ input: 0.25 });
  writeFileSync(join(home, 'prices.json'), readFileSync(join(home, 'prices.json'), 'utf8').replace('"input":1,', '"input":-1,'));
  expect(new PriceBook(home).find('openai', 'gpt-5')).toEqual(before);
  book.forget();
  expect(new PriceBook(home).loaded).toBeNull();
});

test('shows price rises first, then price cuts, then new models', () => {
  const list = readCatalogue(
    catalogue({
      new: model({ input: 1, output: 1 }),
      'gpt-5': model({ input: 1, output: 5 }),
      'gpt-4o': model({ input: 50, output: 100, cache_read: 1.25 }),
      'gpt-4.1': model({ input: 2, output: 8, cache_read: 0.5 }),
    }),
    0,
  );
  const { added, changed, changes } = changesOf(list, new PriceBook(null));
  expect([added, changed, changes.map(({ model: name }) => name)]).toEqual([1, 2, ['gpt-4o', 'gpt-5', 'new']]);
});
