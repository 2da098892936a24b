import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../base/logger.ts';
import type { Claw } from '../../contracts/claw.ts';
import type { OutboundItem } from '../../contracts/channels.ts';
import { AppError } from '../../contracts/errors.ts';
import type { EndedQuestion, McpQuestion } from '../../contracts/features/mcp.ts';
import type { OpParams } from '../../contracts/ops.ts';
import type { Approval } from '../../contracts/policy.ts';
import { answeredWords } from '../../contracts/turn-words.ts';
import { freshMs, Questions, runCommand } from '../../runtime/chats/chats.ts';
import { until } from '../../../tests/until.ts';
import { approvalOf, benchNames, openBench } from '../../../tests/rigs/core/features/channels/channel-bench.ts';

function open(more: { readonly isPlain?: boolean } = {}) {
  const bench = openBench(onTestFinished);
  const approvals = new Map<string, Approval>([['apr_1', approvalOf('apr_1')]]);
  const changes = new Map<string, string>();
  const queued: Omit<OutboundItem, 'outboundId'>[] = [];
  const decided: unknown[] = [];
  const servers: { open: McpQuestion[]; ended: EndedQuestion[] } = { open: [], ended: [] };
  const op = (
    name: string,
    params: { approvalId: string; decision: 'approve' | 'deny' } & OpParams<'mcp.answer'>,
    caller: unknown,
  ): Promise<unknown> => {
    if (name === 'approval.diff') {
      const diff = changes.get(params.approvalId);
      if (diff === undefined) return Promise.reject(new AppError('not_found', 'There is no such approval.'));
      return Promise.resolve({ files: [{ path: 'a.txt', change: 'changed', diff, addedLines: 1, removedLines: 1, note: null }] });
    }
    const question = servers.open.find(({ questionId }) => questionId === params.questionId);
    if (question !== undefined) {
      decided.push([name, params, caller]);
      servers.open = servers.open.filter((one) => one !== question);
      servers.ended.push({ question, action: params.action ?? 'accept', fields: [], by: 'telegram:42' });
      return Promise.resolve({});
    }
    const approval = approvals.get(params.approvalId);
    if (approval?.state !== 'pending') return Promise.reject(new AppError('approval_not_pending', 'This was already answered.'));
    decided.push([name, params, caller]);
    const state = params.decision === 'approve' ? 'approved' : 'denied';
    const after: Approval = { ...approval, state, decidedBy: 'telegram:42' };
    approvals.set(params.approvalId, after);
    return Promise.resolve(after);
  };
  let drawn = 0;
  const questions = new Questions({
    ...bench,
    ...more,
    names: benchNames,
    logger: silentLogger,
    approvals: {
      approval: (approvalId) => approvals.get(approvalId) ?? null,
      pendingApprovals: () => [...approvals.values()].filter(({ state }) => state === 'pending'),
    },
    servers: {
      list: () => [...servers.open],
      ended: (questionId) => servers.ended.find(({ question }) => question.questionId === questionId) ?? null,
    },
    claw: { op } as unknown as Pick<Claw, 'op'>,
    nonce: () => `nonce-number-${String(++drawn).padStart(8, '0')}`,
    queue: (item) => `out_${queued.push(item)}`,
    keep: (text, name) => ({ sha256: 'x', name, mediaType: 'text/plain', sizeBytes: text.length }),
  });
  bench.pair('42', 'Ada');
  questions.askOpen();
  const data = (at: number, button = 0): string => queued[at]?.buttons?.flat()[button]?.data ?? '';
  return { ...bench, approvals, changes, servers, queued, decided, questions, data };
}

const ada = { userId: '42', chatId: '42', waitedMs: 0 };
const notYours = 'This question was not asked of you.';

test('asks every paired person once, with a unique nonce that fits into a button', () => {
  const { questions, queued, pair, store } = open();
  pair('43', 'Bob');
  questions.askOpen();
  questions.askOpen();
  expect(queued.map(({ to, kind, idempotencyKey }) => [to.chatId, kind, idempotencyKey])).toEqual([
    ['42', 'question', 'telegram-question:apr_1:42:1'],
    ['43', 'question', 'telegram-question:apr_1:43:1'],
  ]);
  expect(queued.flatMap(({ buttons = [] }) => buttons.flat()).every(({ data }) => Buffer.byteLength(data) <= 64)).toBe(true);
  expect(new Set(store.questionsOf('apr_1').map(({ nonce }) => nonce)).size).toBe(2);
});

test('asks again after an uncertain delivery, and only the new button counts', async () => {
  const { questions, queued, log, data, decided } = open();
  log.append('system', [{ type: 'outbound.uncertain', body: { outboundId: 'out_1', part: 0, reason: 'the program ended' } }]);
  questions.askOpen();
  questions.askOpen();
  expect(queued.map(({ idempotencyKey }) => idempotencyKey)).toEqual(['telegram-question:apr_1:42:1', 'telegram-question:apr_1:42:2']);
  expect(await questions.press({ ...ada, data: data(0) })).toBe('This button belongs to nothing that is asked.');
  expect(await questions.press({ ...ada, data: data(1) })).toBe('Answered here: approved.');
  expect(decided).toHaveLength(1);
});

test('a press decides as the person who made it', async () => {
  const { questions, decided, data } = open();
  expect(await questions.press({ ...ada, data: data(0, 1) })).toBe('Answered here: denied.');
  expect(decided).toEqual([['approval.decide', { approvalId: 'apr_1', decision: 'deny' }, { channel: 'telegram', actor: 'telegram:42' }]]);
});

test('only the person who was asked can answer, in the chat where it was asked', async () => {
  const { questions, decided, data, pair } = open();
  pair('43', 'Bob');
  expect(await questions.press({ ...ada, userId: '66', chatId: '66', data: data(0) })).toBe(notYours);
  expect(await questions.press({ ...ada, userId: '43', chatId: '43', data: data(0) })).toBe(notYours);
  expect(await questions.press({ ...ada, userId: '43', data: data(0) })).toBe(notYours);
  expect(await questions.press({ ...ada, chatId: '-500', data: data(0) })).toBe(notYours);
  expect(decided).toEqual([]);
});

test('a person who is no longer paired decides nothing', async () => {
  const { questions, decided, data, log } = open();
  log.append('system', [{ type: 'channel.revoked', body: { channel: 'telegram', userId: '42', by: 'cli' } }]);
  expect(await questions.press({ ...ada, data: data(0) })).toBe(notYours);
  expect(decided).toEqual([]);
});

test.each(['ap:nonce-number-99999999:y', 'ap:apr_1:y', 'ap::y', 'apr_1', '', 'ap:nonce-number-00000001:x'])(
  'button data %j matches no open question',
  async (data) => {
    const { questions, decided } = open();
    expect(await questions.press({ ...ada, data })).toBe('This button belongs to nothing that is asked.');
    expect(decided).toEqual([]);
  },
);

test('a button answers only its own question', async () => {
  const { questions, approvals, data, decided, queued } = open();
  approvals.set('apr_2', approvalOf('apr_2'));
  questions.askOpen();
  expect(queued).toHaveLength(2);
  await questions.press({ ...ada, data: data(1) });
  expect(decided).toMatchObject([['approval.decide', { approvalId: 'apr_2' }, {}]]);
  expect(approvals.get('apr_1')?.state).toBe('pending');
});

test('a question is answered only once, from any door', async () => {
  const { questions, data, decided, approvals } = open();
  await questions.press({ ...ada, data: data(0) });
  expect(await questions.press({ ...ada, data: data(0, 1) })).toBe('Answered here: approved.');
  expect(decided).toHaveLength(1);
  approvals.set('apr_1', approvalOf('apr_1', { state: 'denied', decidedBy: 'window' }));
  expect(await questions.press({ ...ada, data: data(0) })).toBe('Answered in the window: denied.');
  expect(decided).toHaveLength(1);
});

test('a question closed in the chat can no longer be answered there', async () => {
  const { questions, data, decided, store } = open();
  const [question] = store.questionsOf('apr_1');
  if (question !== undefined) questions.close(question);
  await questions.press({ ...ada, data: data(0) });
  expect(decided).toEqual([]);
});

test('an old press decides nothing; a press is never older than its question', async () => {
  const { questions, data, decided, clock } = open();
  clock.advance(freshMs + 1);
  expect(await questions.press({ ...ada, waitedMs: freshMs + 1, data: data(0) })).toMatch(/Press again/);
  expect(decided).toEqual([]);
  expect(await questions.press({ ...ada, waitedMs: 30_000, data: data(0) })).toBe('Answered here: approved.');
  const fresh = open();
  expect(await fresh.questions.press({ ...ada, waitedMs: Number.MAX_SAFE_INTEGER, data: fresh.data(0) })).toBe('Answered here: approved.');
});

test('treats a press as old if the clock was set back', async () => {
  const { questions, data, decided, clock } = open();
  clock.advance(-3_600_000);
  expect(await questions.press({ ...ada, waitedMs: Number.MAX_SAFE_INTEGER, data: data(0) })).toMatch(/Press again/);
  expect(decided).toEqual([]);
});

test('offers and grants fifteen minutes only if the grant would cover something', async () => {
  const { questions, approvals, queued, decided, data } = open();
  expect(queued[0]?.buttons?.flat()).toHaveLength(2);
  expect(await questions.press({ ...ada, data: data(0).replace(/:y$/, ':m') })).toBe('This button belongs to nothing that is asked.');
  expect(decided).toEqual([]);
  approvals.set('apr_2', approvalOf('apr_2', { widerScope: '`rm` in notes/' }));
  questions.askOpen();
  await questions.press({ ...ada, data: data(1, 2) });
  expect(decided[0]).toMatchObject(['approval.decide', { scope: { kind: 'minutes', minutes: 15 } }, {}]);
});

test('a service without formatting gets questions without escapes, and blocks of code as they are', () => {
  const question = { server: 'my-notes', message: String.raw`echo \> "\*"` };
  const texts = [false, true].map((isPlain) => {
    const { questions, servers, queued } = open({ isPlain });
    servers.open.push(asked({}, question));
    questions.askOpen();
    return queued.at(-1)?.text.split('\n') ?? [];
  });
  expect(texts.map(([title]) => title)).toEqual([
    String.raw`**The MCP server my\-notes asks you something**`,
    '**The MCP server my-notes asks you something**',
  ]);
  expect(texts.map((lines) => lines[2])).toEqual([question.message, question.message]);
});

const asked = (properties: object, more: Partial<McpQuestion> = {}): McpQuestion => ({
  questionId: 'qst_1',
  server: 'notes',
  tool: 'ask',
  sessionId: 'ses_1',
  turnId: 'turn_1',
  callId: 'call_1',
  message: 'Which **one**?',
  schema: { type: 'object', properties, required: Object.keys(properties) },
  url: null,
  askedAtMs: 1,
  dueAtMs: 2,
  ...more,
});

test('an MCP question: buttons for choices, text for fields, one person answers', async () => {
  const { questions, servers, queued, decided, data, pair } = open();
  const labels = (at: number): string[][] => (queued[at]?.buttons ?? []).map((row) => row.map(({ label }) => label));
  servers.open = [asked({ size: { type: 'string', enum: ['s', 'm', 'l'] } })];
  questions.askOpen();
  expect([labels(1), queued[1]?.text]).toEqual([[['s', 'm'], ['l'], ['Decline']], expect.stringContaining('```\nWhich **one**?\n```')]);
  pair('43', 'Bob');
  expect(await questions.press({ ...ada, userId: '43', data: data(1) })).toBe(notYours);
  expect(await questions.press({ ...ada, data: data(1).replace(/.$/, '7') })).toMatch(/belongs to nothing/);
  expect(await questions.press({ ...ada, data: data(1, 2) })).toBe('Answered here: sent.');
  expect(await questions.press({ ...ada, data: data(1, 0) })).toBe('Answered here: sent.');
  servers.open = [asked({ name: { type: 'string' }, sure: { type: 'boolean' } }, { questionId: 'qst_2' })];
  questions.askOpen();
  expect(labels(3)).toEqual([['Decline']]);
  expect(await questions.answer({ askId: 'qst_2' }, { words: 'nickname: x' }, '42')).toMatch(/names no field[^]*name: … · sure: …/);
  expect(await questions.answer({ askId: 'qst_2' }, { words: 'name: Ada L.\nsure: yes' }, '42')).toBe('Answered here: sent.');
  const caller = { channel: 'telegram', actor: 'telegram:42' };
  expect(decided).toEqual([
    ['mcp.answer', { questionId: 'qst_1', action: 'accept', content: { size: 'l' } }, caller],
    ['mcp.answer', { questionId: 'qst_2', action: 'accept', content: { name: 'Ada L.', sure: true } }, caller],
  ]);
});

test('a question shows the change to a file, once, also if it cannot be read', async () => {
  const { questions, approvals, changes, queued } = open();
  const path = { real: '/w/a.txt', access: 'write' };
  const facts = { class: 'write', paths: [path], hosts: [], command: null } as unknown as Approval['facts'];
  const tool = { tool: 'edit_file', args: '{"path":"a.txt"}', facts };
  changes.set('apr_short', '@@ -1 +1 @@\n-old\u202e\n+new ```\n');
  changes.set('apr_long', `@@ -1 +1 @@\n${'+more\n'.repeat(400)}`);
  for (const id of ['apr_short', 'apr_long', 'apr_gone', 'apr_denied']) approvals.set(id, approvalOf(id, tool));
  questions.askOpen();
  questions.askOpen();
  approvals.set('apr_denied', approvalOf('apr_denied', { ...tool, state: 'denied' }));
  await until(() => queued.length === 4, 'the questions');
  await new Promise((resolve) => setImmediate(resolve));
  const [short, long, gone] = queued.slice(1);
  expect(short?.text).toContain('The change:\n```\n@@ -1 +1 @@\n-old');
  expect(short?.text).not.toMatch(/\u202e|new ```/);
  expect(long?.text).toContain('The change is in the file.');
  expect(long?.files).toMatchObject([{ name: 'call.txt', sizeBytes: expect.toSatisfy((size: number) => size > 2_000) }]);
  expect([gone?.text.includes('The change'), queued.length]).toEqual([false, 4]);
});

test('/approve decides only what has arrived in this chat, by the id that came with it', async () => {
  const { questions, approvals, servers, log, decided, queued } = open();
  const pendingApprovals = (): Approval[] => [...approvals.values()].filter(({ state }) => state === 'pending');
  const say = async (name: string, rest = '', more: object = {}): Promise<string> => {
    const deps = { names: benchNames, claw: { op: () => Promise.reject(new Error('not used')) }, questions, servers, log };
    const all = { ...deps, approvals: { pendingApprovals } } as unknown as Parameters<typeof runCommand>[0];
    return (await runCommand(all, { name, rest, ...ada, ...more })).text;
  };
  const arrives = (at: number): void =>
    void log.append('system', [{ type: 'outbound.part_sent', body: { outboundId: `out_${at}`, part: 0, messageId: `m${at}` } }]);
  expect(queued[0]?.text).toMatch(/Or write: \/approve apr_1$/);
  expect(await say('approve', 'apr_1')).toBe('Nothing that was asked in this chat waits for you.');
  arrives(1);
  expect(await say('approve')).toMatch(/^apr_1: [^]*Write the id as well: \/approve apr_1$/);
  expect(await say('approve', '1')).toBe('Nothing with the id 1 waits.');
  expect(await say('approve', 'apr_1', { chatId: '-500' })).toBe('Nothing that was asked in this chat waits for you.');
  approvals.set('apr_2', approvalOf('apr_2'));
  expect(await say('approve', 'apr_2')).toBe('Nothing with the id apr_2 waits.');
  expect(await say('approve', 'apr_1', { waitedMs: freshMs + 1 })).toMatch(/written a while ago/);
  expect(decided).toEqual([]);
  expect(await say('approve', 'APR_1')).toMatch(/Answered here: approved\.$/);
  questions.askOpen();
  arrives(2);
  expect(await say('deny')).toMatch(/Answered here: denied\.$/);
  const answers = decided.map((one) => (one as unknown[])[1]);
  expect(answers).toMatchObject([
    { approvalId: 'apr_1', decision: 'approve' },
    { approvalId: 'apr_2', decision: 'deny' },
  ]);
});

test('describes how a question was answered', () => {
  const told = (change: Partial<Approval>): string => answeredWords(approvalOf('a', change), 'telegram:');
  expect([
    told({ state: 'approved', decidedBy: 'cli' }),
    told({ state: 'approved', decidedBy: 'window', scope: { kind: 'minutes', minutes: 15 } }),
    told({ state: 'denied', decidedBy: 'timeout' }),
    told({ state: 'withdrawn' }),
  ]).toEqual([
    'Answered at the command line: approved.',
    'Answered in the window: approved for 15 min.',
    'Answered by timeout: denied.',
    'No longer asked: the turn has ended.',
  ]);
});
