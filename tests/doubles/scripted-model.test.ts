// Tests the double with the real adapters: each reply and each fault in each format.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../core/base/clock.ts';
import { silentLogger } from '../../core/base/logger.ts';
import { configSchema } from '../../core/contracts/config.ts';
import { AppError } from '../../core/contracts/errors.ts';
import type { ChatMessage, ModelReply } from '../../core/contracts/llm.ts';
import { ModelRouter } from '../../core/mind/llm/llm.ts';
import { ScriptedModel, type Answer, type WireFormat } from './scripted-model.ts';

const formats: readonly WireFormat[] = ['openai', 'responses', 'anthropic', 'ollama'];
const list = { name: 'list_dir', description: 'Lists a folder.', parameters: { type: 'object', properties: {} } };
let model: ScriptedModel;
let router: ModelRouter | null = null;

beforeEach(async () => {
  model = await ScriptedModel.start([], { key: 'sk-tests-only' });
});

afterEach(async () => {
  await router?.close();
  router = null;
  await model.close();
});

async function ask(
  format: WireFormat,
  answer: Answer,
  messages: readonly ChatMessage[] = [{ role: 'user', text: 'hello' }],
): Promise<ModelReply> {
  model.script([{ answer }]);
  // The first answer may have to load its package, so only the silent case has a short timeout.
  const stalls = 'trouble' in answer && answer.trouble?.kind === 'stall';
  const timeouts = { connectMs: 500, firstTokenMs: 'silent' in answer ? 300 : 5_000, idleMs: stalls ? 300 : 5_000, totalMs: 9_000 };
  const config = model.config(format);
  router = new ModelRouter({
    config: configSchema.parse({ ...config, models: { ...config.models, timeouts, retries: 0 } }),
    secrets: { resolve: () => Promise.resolve('sk-tests-only') },
    clock: systemClock,
    logger: silentLogger,
    localServers: [],
  });
  const request = { system: 'Be brief.', tools: [list], messages };
  return router.stream('lab/scripted', request, { text: () => undefined }, { signal: new AbortController().signal });
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'answered';
  } catch (cause) {
    return cause instanceof AppError ? cause.code : String(cause);
  }
}

// Ollama needs no key, so a wrong key is not tested there.
test.each(formats)('%s: text pieces, calls and usage arrive as scripted, whatever the chunks', async (format) => {
  if (format === 'ollama') {
    await model.close();
    model = await ScriptedModel.start();
  }
  const calls = [
    { tool: 'list_dir', args: { path: 'naïve ☂' } },
    { tool: 'list_dir', args: {} },
  ];
  const reply = await ask(format, { text: 'I look – around.', calls, pieceChars: 3, chunkBytes: 7, usage: { input: 40, output: 8 } });
  expect({ text: reply.text, calls: reply.calls.map(({ tool, args }) => ({ tool, args: JSON.parse(args) as unknown })) }).toEqual({
    text: 'I look – around.',
    calls,
  });
  expect([reply.usage, reply.finishReason]).toEqual([{ inputTokens: 40, outputTokens: 8, cachedInputTokens: 0 }, 'tool_calls']);
  const { userText, toolNames, streams, system, toolResults } = model.requests[0] ?? {};
  expect({ userText, toolNames, streams, system, toolResults }).toEqual({
    userText: 'hello',
    toolNames: ['list_dir'],
    streams: true,
    system: 'Be brief.',
    toolResults: [],
  });
});

const troubles: [string, Answer, string][] = [
  ['a wrong key', { refuse: 'unauthorized' }, 'model_auth'],
  ['too many requests', { refuse: 'rate-limited', retryAfterSeconds: 2 }, 'model_rate_limited'],
  ['no credit', { refuse: 'quota' }, 'model_quota'],
  ['a server error', { refuse: 'server-error' }, 'model_unavailable'],
  ['an overloaded server', { refuse: 'overloaded' }, 'model_unavailable'],
  ['a conversation too long', { refuse: 'context-overflow' }, 'model_context_overflow'],
  ['an unknown model', { refuse: 'unknown-model' }, 'model_unknown'],
  [
    'broken JSON between frames',
    { text: 'some words here', pieceChars: 4, trouble: { kind: 'malformed', afterFrames: 2 } },
    'model_bad_reply',
  ],
  ['a cut connection', { text: 'some words here', pieceChars: 4, trouble: { kind: 'cut', afterFrames: 3 } }, 'model_cut_off'],
  ['an end without a finish', { text: 'some words here', pieceChars: 4, trouble: { kind: 'close', afterFrames: 3 } }, 'model_cut_off'],
  ['a stall between tokens', { text: 'some words here', pieceChars: 4, trouble: { kind: 'stall', afterFrames: 4 } }, 'model_timeout'],
  [
    'an error inside the stream',
    { text: 'some words here', pieceChars: 4, trouble: { kind: 'error', afterFrames: 3 } },
    'model_unavailable',
  ],
  ['no bytes ever', { silent: true }, 'model_timeout'],
];

test.each(troubles)('openai and anthropic: %s', async (_name, answer, code) => {
  expect(await codeOf(ask('openai', answer))).toBe(code);
  await router?.close();
  expect(await codeOf(ask('anthropic', answer))).toBe(code);
});

test('a request that the vendor would refuse is refused and recorded', async () => {
  const body = {
    model: 'scripted',
    messages: [
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'list_dir', arguments: '{}' } }] },
      { role: 'user', content: 'and?' },
    ],
  };
  const response = await fetch(`${model.origin}/v1/chat/completions`, { method: 'POST', body: JSON.stringify(body) });
  expect([response.status, model.violations]).toEqual([400, [expect.stringContaining('did not have response messages: c1')]]);
  await response.body?.cancel();
});

test('a script answers by newest text, number of results and number of uses', async () => {
  const answers: [ChatMessage[], string][] = [];
  const rules = [
    { user: 'first', results: 0, answer: { text: 'no results yet' } },
    { user: /first/, results: 1, times: 1, answer: { text: 'one result' } },
    { answer: { text: 'anything else' } },
  ];
  const one: ChatMessage[] = [
    { role: 'user', text: 'first' },
    { role: 'assistant', text: '', calls: [{ id: 'c1', tool: 'list_dir', args: '{}' }] },
    { role: 'tool', id: 'c1', tool: 'list_dir', text: 'a.txt', isError: false },
    { role: 'note', text: 'be quick' },
  ];
  await ask('openai', { text: 'unused' });
  model.script(rules);
  for (const messages of [one.slice(0, 1), one, one]) {
    const reply = await router?.stream(
      'lab/scripted',
      { system: '', tools: [list], messages },
      { text: () => undefined },
      { signal: new AbortController().signal },
    );
    answers.push([messages, reply?.text ?? '']);
  }
  expect(answers.map(([, text]) => text)).toEqual(['no results yet', 'one result', 'anything else']);
  expect(model.requests[3]?.notes).toHaveLength(1);
});
