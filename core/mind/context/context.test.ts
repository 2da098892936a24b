import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EventBodies, EventType } from '../../contracts/events.ts';
import type { ChatMessage, ModelInfo, ToolSchema } from '../../contracts/llm.ts';
import type { ArtifactRef } from '../../contracts/tools.ts';
import { withFiles } from './attached-files.ts';
import { builtInPrompt } from '../../contracts/own-prompts.ts';
import { ContextPacker, createSystemPrompt, ownWords, Transcript, type TranscriptEvent } from './context.ts';

const estimate = (text: string): number => Math.ceil(text.length / 4);
const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 };
const limits = { steps: 1, turnMs: 1, sameCall: 1, parallelReads: 1 };

/** Builds a transcript event by event, as a turn does. */
class Writer {
  readonly transcript = new Transcript({ estimate, readAttachment: () => Buffer.from('picture') });
  readonly events: TranscriptEvent[] = [];

  add<T extends EventType>(type: T, turnId: string, body: EventBodies[T]): this {
    const event = { type, turnId, sessionSeq: this.events.length + 1, body } as TranscriptEvent;
    this.events.push(event);
    this.transcript.apply(event);
    return this;
  }

  user(turnId: string, text: string): this {
    return this.add('user.message', turnId, { text, channel: 'cli', sender: 'ada', dedupeKey: null });
  }

  start(turnId: string): this {
    return this.add('turn.started', turnId, { kind: 'chat', agentId: 'main', model: null, limits, calls: [] });
  }

  direct(turnId: string, callId: string): this {
    const calls = [{ callId, providerCallId: callId, tool: 'calc', args: '{}' }];
    return this.add('turn.started', turnId, { kind: 'tool', agentId: 'main', model: null, limits, calls });
  }

  reply(turnId: string, text: string, callIds: readonly string[] = []): this {
    const calls = callIds.map((callId) => ({ callId, providerCallId: `p-${callId}`, tool: 'look', args: '{}' }));
    const rest = { usage, usageReported: true, costUsd: null, finishReason: 'stop', tookMs: 1, firstTokenMs: 1 } as const;
    return this.add('model.finished', turnId, { requestId: 'r', text, reasoning: '', calls, ...rest });
  }

  result(turnId: string, callId: string, forModel = `result of ${callId}`, artifacts: ArtifactRef[] = []): this {
    const rest = { forUser: '', silent: false, isAsync: false, artifacts, tookMs: 1, resultHash: '' };
    return this.add('tool.finished', turnId, { callId, tool: 'look', outcome: 'ok', forModel, ...rest });
  }

  end(turnId: string): this {
    const body = { status: 'done', text: '', error: null, usage, costUsd: null, modelCalls: 1, toolCalls: 0 } as const;
    return this.add('turn.finished', turnId, body);
  }

  get shown(): string[] {
    return this.transcript.messages.map((message) =>
      message.role === 'assistant'
        ? `assistant ${message.text} ${message.calls.map((one) => one.id).join()}`.trim()
        : `${message.role} ${message.text}`,
    );
  }
}

/** The indexes at which a message separates a call from its result, or a result has no call. Open calls at the end are fine. */
function findTorn(messages: readonly ChatMessage[]): number[] {
  const torn: number[] = [];
  let open: string[] = [];
  for (const [index, message] of messages.entries()) {
    const fits = message.role === 'tool' ? open.includes(message.id) : open.length === 0;
    if (!fits) torn.push(index);
    if (message.role === 'tool') open = open.filter((id) => id !== message.id);
    else if (message.role === 'assistant') open = message.calls.map((one) => one.id);
  }
  return torn;
}

test('results may arrive in any order; messages and notes wait for every call', () => {
  const writer = new Writer().user('t', 'go').start('t').reply('t', 'I look.', ['a', 'b']);
  writer.result('t', 'b').add('turn.steered', 't', { text: 'hurry', sender: 'ada' }).result('t', 'a').result('t', 'a');
  expect(writer.shown).toEqual(['user go', 'assistant I look. p-a,p-b', 'tool result of b', 'tool result of a', 'user hurry']);
});

test('refusals by a rule, a person or a check are results; an approval is not', () => {
  const writer = new Writer().user('t', 'go').start('t').reply('t', '', ['a', 'b', 'c', 'd', 'e']);
  const decided = {
    tool: 'look',
    ruleId: 'r',
    facts: { class: 'read' as const, paths: [], command: null, hosts: [] },
    verifies: false,
    grantId: null,
  };
  writer.add('policy.decided', 't', {
    ...decided,
    callId: 'a',
    decision: 'deny',
    reason: 'It is off.',
    idempotency: 'pure',
    approvalId: null,
  });
  writer.add('policy.decided', 't', { ...decided, callId: 'b', decision: 'ask', reason: 'x', idempotency: 'pure', approvalId: 'x' });
  const answer = { approvalId: 'x', scope: null, by: 'ada', grantId: null };
  writer.add('approval.decided', 't', { ...answer, callId: 'b', decision: 'deny' });
  writer.add('approval.decided', 't', { ...answer, callId: 'e', decision: 'deny', reason: 'Use the copy in old/.' });
  writer.add('tool.rejected', 't', {
    callId: 'c',
    tool: 'look',
    error: { code: 'unknown_tool', message: 'No such tool.', hint: 'See the list.' },
  });
  writer.add('approval.decided', 't', { ...answer, callId: 'd', decision: 'approve' });
  expect(writer.shown.slice(2)).toEqual([
    'tool Not allowed: It is off.',
    'tool The person said no. Do not try the same thing again; ask, or find another way.',
    'tool The person said no: Use the copy in old/.\nDo not try the same thing again; ask, or find another way.',
    'tool No such tool. See the list.',
  ]);
  writer.end('t');
  expect(writer.shown.at(-1)).toBe('tool Not run: the turn ended first.');
});

test('a queued message appears with its additions once its turn starts, or never', () => {
  const writer = new Writer().user('t', 'go').start('t').reply('t', '', ['a']).user('u', 'next').user('v', 'never');
  writer
    .add('turn.steered', 'u', { text: 'and more', sender: 'ada' })
    .end('v')
    .result('t', 'a')
    .reply('t', 'done')
    .end('t')
    .start('u')
    .start('v');
  expect(writer.shown).toEqual(['user go', 'assistant  p-a', 'tool result of a', 'assistant done', 'user next\n\nand more']);
});

test('a direct call during a conversation becomes a note and closes no other call', () => {
  const writer = new Writer().user('t', 'go').start('t').reply('t', '', ['a']).direct('d', 'x').result('d', 'x').end('d').result('t', 'a');
  expect(writer.shown).toEqual([
    'user go',
    'assistant  p-a',
    'tool result of a',
    'note The person ran calc {} directly. Result:\nresult of x',
  ]);
});

test('an empty answer adds no message', () => {
  expect(new Writer().user('t', 'go').start('t').reply('t', '').end('t').shown).toEqual(['user go']);
});

/** The steps of a session's turns, in an order that the runtime can produce. */
const steps = fc.array(fc.record({ what: fc.nat(9), pick: fc.nat(5), size: fc.nat(400) }), { maxLength: 60 });

function play(given: readonly { what: number; pick: number; size: number }[]): Writer {
  const writer = new Writer();
  let turn = 0;
  let calls = 0;
  let isRunning = false;
  let open: string[] = [];
  const queued: string[] = [];
  for (const { what, pick, size } of given) {
    const turnId = `t${turn}`;
    const text = 'x'.repeat(size + 1);
    if (!isRunning) {
      turn += 1;
      writer.user(`t${turn}`, text).start(`t${turn}`);
      isRunning = true;
    } else if (what < 3 && open.length === 0) {
      open = Array.from({ length: pick }, () => `c${(calls += 1)}`);
      writer.reply(turnId, text, open);
    } else if (what < 7 && open.length > 0) {
      const [callId] = open.splice(pick % open.length, 1);
      writer.result(turnId, callId ?? '', text);
    } else if (what === 7) writer.add('turn.steered', turnId, { text, sender: 'ada' });
    else if (what === 8 && queued.length === 0) {
      queued.push(`q${turn}`);
      writer.user(`q${turn}`, text);
    } else if (what === 8) writer.end(queued.pop() ?? '');
    else {
      writer.end(turnId);
      [isRunning, open] = [false, []];
    }
  }
  return writer;
}

test('calls and results stay together for any sequence of events, also after a drop', () => {
  fc.assert(
    fc.property(steps, fc.nat(2000), fc.nat(80), (given, keepTokens, from) => {
      const writer = play(given);
      const { transcript } = writer;
      expect(findTorn(transcript.messages)).toEqual([]);
      const before = transcript.messages;
      const count = transcript.count;
      const drop = transcript.dropOldest(keepTokens);
      expect(findTorn(transcript.messages)).toEqual([]);
      expect(transcript.count).toBe(count - drop.count);
      // Only whole exchanges are dropped, and the newest stays.
      expect(drop.count > 0 ? transcript.messages[0]?.role === 'user' : transcript.messages === before).toBe(true);
      expect(transcript.count).toBe(before.slice(drop.count).length);
      const again = new Transcript({ estimate });
      for (const event of writer.events) again.apply(event);
      again.keepFrom(transcript.fromSessionSeq);
      expect(again.messages).toEqual(transcript.messages);
      expect(again.totalTokens).toBe(transcript.totalTokens);
      again.keepFrom(from);
    }),
    { numRuns: 150 },
  );
});

const model = (contextTokens: number): ModelInfo => ({
  ref: 'lab/m',
  contextTokens,
  inputUsdPerMillion: null,
  cachedInputUsdPerMillion: null,
  outputUsdPerMillion: null,
});
const noTools: readonly ToolSchema[] = [];

test('a pack exceeds its budget only if a single exchange cannot be made smaller', () => {
  fc.assert(
    fc.property(steps, fc.integer({ min: 1024, max: 4096 }), fc.boolean(), (given, contextTokens, smaller) => {
      const { transcript } = play(given);
      const packer = new ContextPacker({ estimate, system: () => 'Be brief.' });
      const total = transcript.totalTokens;
      const { event, messages } = packer.build({ packId: 'p', transcript, model: model(contextTokens), tools: noTools, smaller });
      expect(event.tokens).toBe(event.sections.reduce((sum, section) => sum + section.tokens, 0));
      const isOneExchange = !messages.slice(1).some((message) => message.role === 'user');
      expect(event.tokens <= event.budgetTokens || isOneExchange).toBe(true);
      const gone = event.dropped.reduce((sum, one) => sum + one.tokens, 0);
      const cut = event.truncated.reduce((sum, one) => sum + one.fromTokens - one.toTokens, 0);
      expect(total - gone - cut).toBe(transcript.totalTokens);
      expect(findTorn(messages)).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

test('long results are cut in the middle, and the cut is recorded', () => {
  const writer = new Writer()
    .user('t', 'go')
    .start('t')
    .reply('t', '', ['a'])
    .result('t', 'a', `${'b'.repeat(20_000)}END`);
  const packer = new ContextPacker({ estimate, system: () => 'Be brief.' });
  const { event, messages } = packer.build({
    packId: 'p',
    transcript: writer.transcript,
    model: model(2048),
    tools: noTools,
    smaller: false,
  });
  expect(event.truncated).toMatchObject([{ what: 'result of look', fromTokens: 5005, reason: 'the token budget of the pack' }]);
  expect(event.tokens).toBeLessThanOrEqual(event.budgetTokens);
  const last = messages.at(-1);
  expect(last?.text).toMatch(/^b+\n\[\d+ characters left out\]\nb+END$/);
});

test('system, tools and messages remain the same objects while nothing is dropped', () => {
  const writer = new Writer().user('t', 'go').start('t');
  const packer = new ContextPacker({ estimate, system: () => 'Be brief.' });
  const build = () => packer.build({ packId: 'p', transcript: writer.transcript, model: model(8192), tools: noTools, smaller: false });
  const first = build();
  writer.reply('t', 'hello');
  const second = build();
  expect([second.messages === first.messages, second.tools === first.tools, second.messages.length]).toEqual([true, true, 2]);
  expect(packer.systemText(null)).toBe('Be brief.');
});

test('the standing instructions change only with the day or the template', () => {
  let nowMs = Date.UTC(2026, 0, 1, 1);
  let template = builtInPrompt('trayclaw-system');
  const system = createSystemPrompt({ workspace: '/ws', platform: 'linux', nowMs: () => nowMs, template: () => template });
  const first = system(null);
  nowMs += 20 * 3_600_000;
  expect([first.includes('Today is 2026-01-01'), system(null) === first]).toEqual([true, true]);
  nowMs += 4 * 3_600_000;
  expect(system(null)).toContain('Today is 2026-01-02');
  expect(system('/home/me/project')).toContain('The workspace is /home/me/project;');
  template = 'On {{system}} in {{workspace}}, {{today}}. {{else}}';
  expect(system(null)).toBe('On linux in /ws, 2026-01-02. {{else}}');
});

test('the text of the person is distinguished from the content of attached files', () => {
  const files = [{ sha256: 'a'.repeat(64), name: 'notes.md', mediaType: 'text/markdown', sizeBytes: 5 }];
  for (const read of [() => Buffer.from('plans'), () => Buffer.from([0, 1]), undefined]) {
    const { text } = withFiles('look at this\n\nand that', files, read) as { text: string };
    expect([text.length > 40, ownWords(text)]).toEqual([true, 'look at this\n\nand that']);
  }
  const image = [{ sha256: 'a'.repeat(64), name: 'dot.png', mediaType: 'image/png', sizeBytes: 5 }];
  expect(ownWords((withFiles('see', image, () => Buffer.from('x')) as { text: string }).text)).toBe('see');
  expect(ownWords('The person attached nothing')).toBe('The person attached nothing');
});

test.each([
  ['Windows-1252', Buffer.from('Käufer;12,50', 'latin1'), 'Käufer;12,50'],
  ['UTF-16', Buffer.from('\uFEFFKäufer', 'utf16le'), 'Käufer'],
])('an attached file in %s is shown as text', (_name, bytes, shown) => {
  const files = [{ sha256: 'a'.repeat(64), name: 'export.csv', mediaType: 'text/csv', sizeBytes: bytes.length + 10 }];
  const { text } = withFiles('look', files, () => bytes) as { text: string };
  expect(text).toContain(shown);
  expect(text).toContain(`from offset ${shown.length + (shown === 'Käufer' ? 1 : 0)}]`);
});

test('pictures from tools are shown, up to a limit; other files are not', () => {
  const file = (mediaType: string): ArtifactRef => ({ sha256: 'a'.repeat(64), name: 'page', mediaType, sizeBytes: 7 });
  const writer = new Writer().user('t', 'go').start('t');
  const picturesAt = (): number[] =>
    writer.transcript.messages.flatMap((message, at) => (message.role === 'tool' && message.images !== undefined ? [at] : []));
  writer.reply('t', '', ['text']).result('t', 'text', 'said', [file('text/plain')]);
  expect(picturesAt()).toEqual([]);
  for (let call = 0; call < 16; call++) writer.reply('t', '', [`c${call}`]).result('t', `c${call}`, 'took', [file('image/png')]);
  expect(picturesAt()).toHaveLength(16);
  writer.reply('t', '', ['last']).result('t', 'last', 'took', [file('image/png')]);
  expect(picturesAt()).toEqual([writer.transcript.messages.length - 1]);
  expect(writer.shown.filter((line) => line.includes('no longer shown'))).toHaveLength(16);
});
