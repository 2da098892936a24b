// The estimated size of a request compared with the counts of servers with real vocabularies, in the whole program: prose, code, data,
// other languages, calls and results of tools, in every wire format.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { TestHome } from '../faults/test-home.ts';
import { ScriptedModel, type WireFormat } from '../doubles/scripted-model.ts';
import type { ModelRequestSeen } from '../doubles/scripted-model-requests.ts';
import { isSoak } from '../soak.ts';
import { TokenCounts, type Vocabulary } from '../doubles/token-counts.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const german =
  'Die Straßenbahn fährt heute wegen der Bauarbeiten am Rathausplatz nur bis zur Haltestelle Gewerbeaufsichtsamt; Fahrgäste steigen bitte dort um. ';
const russian = 'Сегодня утром мы решили перенести встречу на следующую неделю, потому что отчёт ещё не готов и его нужно проверить. ';
const chinese = '今天早上我们决定把会议推迟到下周,因为报告还没有准备好,需要再检查一遍所有的数字。';
const all = {
  prose: read('README.md'),
  code: read('core/mind/llm/llm.ts'),
  data: JSON.stringify(JSON.parse(read('package.json')), null, 2),
  german: german.repeat(60),
  russian: russian.repeat(60),
  chinese: chinese.repeat(60),
};

const SIZE = 1_200;
const TURNS = 26;
const KNOWN_AFTER = 10;

/** The text of a turn; every third turn also reads a file of such text. */
function pieceOf(texts: readonly string[], turn: number): string {
  const text = texts[turn % texts.length] ?? '';
  const from = (turn * 977) % Math.max(1, text.length - SIZE);
  return text.slice(from, from + SIZE);
}

async function errorsOf(format: WireFormat, vocabulary: Vocabulary, texts: readonly string[]): Promise<number[]> {
  const counts = new TokenCounts(vocabulary);
  const usage = (request: ModelRequestSeen) => ({ input: counts.ofRequest(request), output: 5 });
  const model = await ScriptedModel.start([
    { user: /^read /u, results: 0, answer: (request) => ({ calls: [{ tool: 'read_file', args: { path: request.userText.slice(5) } }], usage: usage(request) }) },
    { answer: (request) => ({ text: `Noted: ${request.userText.slice(0, 200)}`, usage: usage(request) }) },
  ]); // prettier-ignore
  const home = new TestHome();
  onTestFinished(async () => {
    await home.dispose();
    await model.close();
  });
  const config = model.config(format);
  const named = { ...config, models: { default: vocabulary === 'o200k' ? 'lab/gpt-4o' : 'lab/scripted' } };
  home.env['MODEL_KEY'] = 'sk-token-estimates';
  const claw = await home.open({ config: named });
  for (let turn = 0; turn < TURNS; turn++) {
    const piece = pieceOf(texts, turn);
    if (turn % 3 === 2) writeFileSync(join(home.workspace, `note-${turn}.md`), piece);
    const text = turn % 3 === 2 ? `read note-${turn}.md` : piece;
    const { turnId } = await claw.op('message.send', { text, sessionId: 's' });
    expect(await claw.op('turn.wait', { turnId })).toMatchObject({ status: 'done' });
  }
  expect(model.violations).toEqual([]);
  const results = model.requests.flatMap(({ toolResults }) => toolResults);
  expect(results.length).toBeGreaterThan(5);
  expect(results.filter(({ text }) => text.length < SIZE / 2)).toEqual([]);
  const { packs } = await claw.op('pack.list', { sessionId: 's', limit: 1_000 });
  const turnOf = new Map([...new Set(packs.toReversed().map(({ turnId }) => turnId))].map((turnId, at) => [turnId, at]));
  return packs
    .filter(({ turnId }) => (turnOf.get(turnId) ?? 0) >= KNOWN_AFTER)
    .map(({ tokens, inputTokens }) => Math.abs(tokens - (inputTokens ?? 0)) / (inputTokens ?? 1));
}

const percent = (share: number): string => `${(share * 100).toFixed(2)} %`;
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

interface Case {
  readonly format: WireFormat;
  readonly vocabulary: Vocabulary;
  readonly what: string;
  readonly texts: readonly string[];
}
/** One for each wire format in every run; the long run covers all. */
const cases: readonly Case[] = [
  { format: 'openai', vocabulary: 'o200k', what: 'everything', texts: Object.values(all) },
  { format: 'anthropic', vocabulary: 'claude', what: 'everything', texts: Object.values(all) },
  { format: 'ollama', vocabulary: 'llama3', what: 'English and code', texts: [all.prose, all.code, all.data] },
];
const moreCases: readonly Case[] = [
  { format: 'openai', vocabulary: 'llama3', what: 'everything', texts: Object.values(all) },
  { format: 'ollama', vocabulary: 'llama3', what: 'German', texts: [all.german] },
  { format: 'openai', vocabulary: 'llama3', what: 'Russian', texts: [all.russian] },
  { format: 'anthropic', vocabulary: 'claude', what: 'Chinese', texts: [all.chinese] },
];

test.each(isSoak ? [...cases, ...moreCases] : cases)(
  'after ten turns the size of a request is known within 3 % on average: $format server, vocabulary $vocabulary, $what',
  { timeout: 240_000 },
  async ({ format, vocabulary, what, texts }) => {
    const errors = await errorsOf(format, vocabulary, texts);
    expect(errors.length).toBeGreaterThanOrEqual(TURNS - KNOWN_AFTER);
    const worst = Math.max(...errors);
    process.stdout.write(`${format}, ${vocabulary}, ${what}: mean error ${percent(mean(errors))}, worst ${percent(worst)}\n`);
    expect(mean(errors)).toBeLessThan(0.03);
  },
);
