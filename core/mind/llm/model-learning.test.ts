import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { countTokens as countCl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens as countO200k } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, test } from 'vitest';
import { ManualClock } from '../../../tests/doubles/manual-clock.ts';
import { silentLogger } from '../../base/logger.ts';
import { encodingOf, ExactCounters, estimator } from './exact-counters.ts';
import { ModelLearning, modelMigrations } from './model-learning.ts';
import { estimateTokens } from './token-estimate.ts';

const core = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(core, path), 'utf8');
/** Typical conversation content: prose, code, data, listings, another language. */
const texts = [
  read('../ARCHITECTURE.md'),
  read('mind/llm/llm.ts'),
  JSON.stringify(JSON.parse(read('../package.json')), null, 2),
  read('../README.md'),
  'Die Katze schläft auf dem großen Sofa, und über Nacht fiel Schnee; am Morgen war die Straße weiß. '.repeat(60),
  read('runtime/turns/turns.ts'),
].map((text) => text.slice(0, 40_000));

function open(db = new Database(':memory:')) {
  for (const migration of modelMigrations) migration.up(db);
  const clock = new ManualClock();
  return { db, clock, learning: new ModelLearning({ db, clock, counters: new ExactCounters(silentLogger) }) };
}

test.each([
  ['o200k', countO200k, 0.03],
  ['cl100k', countCl100k, 0.03],
  ['a server that counts a third more', (text: string) => Math.ceil(countO200k(text) * 1.33), 0.03],
])('after ten turns the size of a request is known within 3 %%: %s', (_, count, errorMax) => {
  const { learning } = open();
  const system = texts[0] ?? '';
  const tools = (texts[2] ?? '').repeat(3);
  const said: string[] = [];
  const errors: number[] = [];
  for (let turn = 0; turn < 40; turn++) {
    const text = texts[turn % texts.length] ?? '';
    const from = (turn * 977) % Math.max(1, text.length - 1_500);
    said.push(text.slice(from, from + 1_500));
    const fixed = estimateTokens(system) + estimateTokens(tools);
    const flow = said.reduce((sum, one) => sum + estimateTokens(one) + 4, 0);
    const reported = count(system) + count(tools) + said.reduce((sum, one) => sum + count(one) + 3, 0) + 6;
    const scale = learning.scaleOf('lab/m');
    if (turn >= 10) errors.push(Math.abs(fixed * scale.fixed + flow * scale.flow - reported) / reported);
    learning.observe({ ref: 'lab/m', fixed, flow, reportedTokens: reported });
  }
  expect(errors.reduce((sum, one) => sum + one, 0) / errors.length).toBeLessThan(errorMax);
});

test('learned properties survive a restart', () => {
  const { db, learning } = open();
  for (let turn = 0; turn < 10; turn++) learning.observe({ ref: 'lab/m', fixed: 100, flow: 900, reportedTokens: 1_300 });
  learning.overflowed({ ref: 'lab/m', packTokens: 9_000, limitTokens: 8_192 });
  learning.save();
  const again = new ModelLearning({ db, clock: new ManualClock(), counters: new ExactCounters(silentLogger) });
  expect(again.scaleOf('lab/m')).toEqual(learning.scaleOf('lab/m'));
  expect([again.windowOf('lab/m'), again.windowOf('lab/other'), again.scaleOf('lab/other')]).toEqual([8_192, null, { fixed: 1, flow: 1 }]);
});

test('a guessed window is below the refused size, and holds for a day', () => {
  const { clock, learning } = open();
  learning.overflowed({ ref: 'lab/m', packTokens: 10_000, limitTokens: null });
  expect(learning.windowOf('lab/m')).toBe(9_000);
  // Guessed while the clock was ahead, it would otherwise hold for longer.
  clock.set(-3 * 86_400_000);
  expect(learning.windowOf('lab/m')).toBeNull();
  clock.set(3 * 86_400_000);
  clock.advance(86_400_001);
  expect(learning.windowOf('lab/m')).toBeNull();
  learning.observe({ ref: 'lab/m', fixed: 100, flow: 900, reportedTokens: 0 });
  learning.observe({ ref: 'lab/m', fixed: 100, flow: 900, reportedTokens: 90_000 });
  expect(learning.scaleOf('lab/m')).toEqual({ fixed: 1, flow: 1 });
});

test('models with a public vocabulary are counted exactly once it is loaded', async () => {
  const counters = new ExactCounters(silentLogger);
  expect(counters.counterOf('openai/gpt-4o')).toBe(estimator);
  await counters.ready();
  const exact = counters.counterOf('openai/gpt-4o');
  const text = 'Der Preis: 1 250 € <|endoftext|> 東京都';
  expect([exact.id, exact.count(text)]).toEqual(['o200k_base', countO200k(text, { disallowedSpecial: new Set() })]);
  expect(counters.counterOf('lab/llama-3')).toBe(estimator);
  const refs = [
    'openai/gpt-5.5',
    'router/openai/gpt-4.1-mini',
    'openai/o3-mini',
    'local/gpt-oss:20b',
    'openai/gpt-4',
    'openai/gpt-3.5-turbo',
    'anthropic/claude-sonnet-5-5',
  ];
  expect(refs.map(encodingOf)).toEqual(['o200k_base', 'o200k_base', 'o200k_base', 'o200k_base', null, null, null]); // prettier-ignore
});

test('if a vocabulary cannot be loaded, the estimate remains in use', async () => {
  const counters = new ExactCounters(silentLogger, () => Promise.reject(new Error('gone')));
  counters.counterOf('openai/gpt-4o');
  await counters.ready();
  expect(counters.counterOf('openai/gpt-4o')).toBe(estimator);
});

test('refused words survive a restart, for a week, and belong to their address', () => {
  const { db, learning } = open();
  learning.refusedWords.refuse('http://127.0.0.1:1', 'm', ['stream_options']);
  learning.refusedWords.refuse('http://127.0.0.1:1', 'm', ['pattern']);
  learning.save();
  const later = (ms: number) => {
    const clock = new ManualClock();
    clock.advance(ms);
    const { refusedWords } = new ModelLearning({ db, clock, counters: new ExactCounters(silentLogger) });
    return [refusedWords.refusedBy('http://127.0.0.1:1', 'm'), refusedWords.refusedBy('http://127.0.0.1:2', 'm')].map((words) => [
      ...words,
    ]);
  };
  expect(later(0)).toEqual([['stream_options', 'pattern'], []]);
  expect(later(8 * 86_400_000)).toEqual([[], []]);
});
