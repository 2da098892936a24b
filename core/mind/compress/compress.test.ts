import { expect, test } from 'vitest';
import { AppError } from '../../contracts/errors.ts';
import type { ChatMessage } from '../../contracts/llm.ts';
import { planCut, Summarizer, type AskModel, type SummaryJob } from './compress.ts';
import { distillText } from '../../base/distill-text.ts';
import { sourceText } from './summary-source.ts';

const count = (text: string): number => Math.ceil(text.length / 4);
const usage = { inputTokens: 100, outputTokens: 10, cachedInputTokens: 0 };
const never = new AbortController().signal;
const user = (text: string): ChatMessage => ({ role: 'user', text });
const agent = (text: string): ChatMessage => ({ role: 'assistant', text, calls: [] });
const result = (text: string): ChatMessage => ({ role: 'tool', id: 'c', tool: 'look', text, isError: false });

function job(messages: readonly ChatMessage[], more: Partial<SummaryJob> = {}): SummaryJob {
  const boundaries = messages.flatMap(({ role }, index) => (role === 'user' && index > 0 ? [index] : []));
  return { messages, boundaries, previous: null, contextTokens: 32_000, ...more };
}

/** Returns the answers in order, and records the requests. */
function scripted(answers: readonly (string | Error | ((asked: string) => string))[]): { ask: AskModel; asked: string[] } {
  const asked: string[] = [];
  const rest = [...answers];
  const ask: AskModel = ({ text }) => {
    asked.push(text);
    const answer = rest.length > 1 ? rest.shift() : rest[0];
    if (answer instanceof Error) return Promise.reject(answer);
    const said = typeof answer === 'function' ? answer(text) : (answer ?? '');
    return Promise.resolve({ text: said, usage, costUsd: 0.01 });
  };
  return { ask, asked };
}

const write = (given: SummaryJob, ask: AskModel, signal = never) => new Summarizer({ count, ask }).write(given, signal);
/** The summary an honest model writes of a short stretch: everything. */
const honest = (asked: string): string =>
  [...asked.matchAll(/^(?:person|agent|result of \w+|- )[^\n]*$/gm)].map(([line]) => line).join('\n');
const long = Array.from({ length: 12 }, (_, index) =>
  index % 2 === 0 ? user(`Ask ${index} about Berlin ${1_000 + index}. ${'w'.repeat(3_000)}`) : agent('Done.'),
);

test('a cut keeps at least the given number of messages and starts at a turn', () => {
  expect([planCut([2, 4, 6, 8], 10, 4), planCut([2, 9], 10, 4), planCut([8], 10, 4), planCut([], 30, 4)]).toEqual([6, 2, null, null]);
});

test('a stretch summarised in two parts includes the earlier summary', async () => {
  const { ask, asked } = scripted([
    (text) => (text.includes('Paris 7788') ? 'Facts: Paris 7788.' : 'second'),
    'second',
    'Facts: Paris 7788. second',
    'x',
  ]);
  const draft = await write(job(long, { previous: 'Facts: the flat in Paris 7788.', contextTokens: 16_000 }), ask);
  expect(asked[0]).toContain('<earlier-summary>\nFacts: the flat in Paris 7788.\n</earlier-summary>');
  expect(asked[2]).toMatch(/<first>\nFacts: Paris 7788\.\n<\/first>\n<second>\nsecond\n<\/second>/);
  expect(draft.text).toContain('7788');
});

test('if merging fails, both parts and the earlier summary are kept', async () => {
  const { ask } = scripted(['Facts: Paris 7788, Berlin.', 'second half of Berlin', new AppError('model_unavailable', 'It is gone.')]);
  const draft = await write(job(long, { previous: 'Facts: Paris 7788.', contextTokens: 16_000 }), ask);
  expect(draft.text).toContain('Paris 7788');
});

test('tool results are summarised too', async () => {
  const { ask, asked } = scripted([honest]);
  const draft = await write(job([user('look at the port'), agent(''), result('The server listens on 4711.'), agent('It is 4711.')]), ask);
  expect(asked[0]).toContain('result of look: The server listens on 4711.');
  expect([draft.text.includes('4711'), draft.source.results, draft.method]).toEqual([true, 1, 'model']);
});

test('a stretch of only oversized messages still becomes a smaller summary', async () => {
  const huge = Array.from({ length: 4 }, (_, index) => user(`start ${index} ${'x'.repeat(200_000)} end ${index}`));
  const { ask, asked } = scripted([honest]);
  const draft = await write(job(huge, { contextTokens: 8_000 }), ask);
  expect(asked.every((text) => count(text) < 6_000)).toBe(true);
  expect([draft.source.shortened, draft.tokens < 700, draft.text !== '']).toEqual([4, true, true]);
  const { text } = sourceText(huge, 4_000);
  for (const index of [0, 1, 2, 3]) expect([text.includes(`start ${index}`), text.includes(`end ${index}`)]).toEqual([true, true]);
});

test('a lossy summary is corrected once; still missing facts are appended verbatim', async () => {
  const said = [
    user('Please move the flat of Erika Lang to 2027-03-14.'),
    agent('The contract 88-4711 names Lise Kurz and costs 1250 EUR.'),
  ];
  const { ask, asked } = scripted(['They talked about the contract.', 'The flat of Erika Lang moves to 2027-03-14.']);
  const draft = await write(job(said), ask);
  expect(asked).toHaveLength(2);
  expect(asked[1]).toContain('names Lise Kurz and costs 1250 EUR');
  expect([draft.method, draft.quality.repaired, draft.modelCalls]).toEqual(['model', true, 2]);
  expect(draft.text.startsWith('The flat of Erika Lang moves to 2027-03-14.\nAlso said, word for word:\n')).toBe(true);
  expect(draft.text).toContain('- agent: The contract 88-4711 names Lise Kurz and costs 1250 EUR.');
});

test('an open request of the person that the summary omits is appended', async () => {
  const { ask } = scripted(['Facts: none.']);
  const draft = await write(job([agent('ready'), user('compare insurance offers before Friday evening')]), ask);
  expect(draft.text).toContain('compare insurance offers before Friday evening');
});

test.each([
  ['it fails', new AppError('model_unavailable', 'lab cannot answer at the moment.'), 'lab cannot answer at the moment.'],
  ['it says nothing', '   ', 'no model answered'],
  ['it writes something else', 'La la la.', 'what the model wrote held almost nothing of the conversation'],
])('if the model fails (%s), the summary is built by rule', async (_, answer, why) => {
  const said = [user('Book room 4711 in Berlin for Erika.'), agent('Room 4711 costs 1250.'), user('And for Lise 88-12?')];
  const draft = await write(job(said, { previous: 'Facts: Paris 7788.' }), scripted([answer]).ask);
  expect([draft.method, draft.fallback]).toEqual(['extract', why]);
  for (const held of ['Paris 7788', 'Book room 4711 in Berlin for Erika.', 'And for Lise 88-12?']) expect(draft.text).toContain(held);
});

test('if no model may be asked, the summary is built by rule at no cost', async () => {
  const draft = await write(job([user('a port 4711'), agent('ok')]), () =>
    Promise.resolve({ refused: 'the budget of the day allows no more' }),
  );
  expect([draft.method, draft.fallback, draft.modelCalls, draft.costUsd]).toEqual([
    'extract',
    'the budget of the day allows no more',
    0,
    0,
  ]);
});

test('an abort ends the summary without building one by rule', async () => {
  const stop = new AbortController();
  const ask: AskModel = () => {
    stop.abort();
    return Promise.reject(new AppError('cancelled', 'stopped'));
  };
  await expect(write(job([user('a'), agent('b')]), ask, stop.signal)).rejects.toMatchObject({ code: 'cancelled' });
});

test('a summary never exceeds its share, however often it is rolled on', async () => {
  let previous: string | null = null;
  for (let round = 0; round < 20; round++) {
    const said = Array.from({ length: 16 }, (_, index) =>
      user(`Fact ${round}-${index}: box ${round * 100 + index} holds ${'y'.repeat(300)}`),
    );
    const draft = await write(job(said, { previous, contextTokens: 8_000 }), scripted([(text) => text]).ask);
    previous = draft.text;
    expect(draft.tokens).toBeLessThanOrEqual(640);
  }
});

test('a log is distilled to its start, its end, its errors, and counts of repeats', () => {
  const log = ['begin', ...Array.from({ length: 500 }, (_, index) => `tick ${index}`), 'ERROR: disk 7 is full', ...Array.from({ length: 300 }, (_, index) => `line ${'abcdef'[index % 6] ?? ''} ${index}`), 'exit 1'].join('\n'); // prettier-ignore
  const short = distillText(log, 600);
  expect(short.length).toBeLessThanOrEqual(600);
  for (const kept of ['begin', '[and 499 more lines like this]', 'ERROR: disk 7 is full', 'exit 1']) expect(short).toContain(kept);
});

test('lines beyond those that are examined are counted as left out, and the end is kept', () => {
  const lines = (length: number, text: (index: number) => string): string[] => Array.from({ length }, (_, index) => text(index));
  const varied = lines(60_000, (index) => `line ${'abcdef'[index % 6] ?? ''} ${index}`);
  const short = distillText([...varied, 'ERROR: disk 7 is full', 'exit 1'].join('\n'), 2_000);
  expect(short.length).toBeLessThanOrEqual(2_000);
  for (const kept of ['line a 0', 'ERROR: disk 7 is full', 'exit 1']) expect(short).toContain(kept);
  const shown = short.split('\n').filter((line) => !line.startsWith('['));
  expect(short).toContain(`[${varied.length + 2 - shown.length} lines left out]`);
  // Equal lines are counted, so that all that was examined fits.
  const repeated = distillText(['begin', ...lines(30_000, (index) => `tick ${index}`), 'exit 1'].join('\n'), 2_000);
  expect(repeated.split('\n')).toEqual([
    'begin',
    'tick 0',
    '[and 9998 more lines like this]',
    '[10002 lines left out]',
    'tick 20001',
    '[and 9998 more lines like this]',
    'exit 1',
  ]);
});
