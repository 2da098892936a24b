// A prompt of an editor. The test controls the order of deltas and events, which reach the command on two streams.

import type { AgentContext, SessionUpdate } from '@agentclientprotocol/sdk';
import { expect, test } from 'vitest';
import type { Claw } from '../../../contracts/claw.ts';
import type { AnyEvent, DeltaNotice } from '../../../contracts/events.ts';
import { AcpTurn } from './acp-turn.ts';

type Item = AnyEvent | DeltaNotice;

const delta = (requestId: string, text: string): DeltaNotice => ({
  kind: 'text',
  sessionId: 's',
  turnId: 't',
  callId: null,
  requestId,
  text,
});
const requested = (requestId: string): AnyEvent => ({ type: 'model.requested', turnId: 't', body: { requestId } }) as never;
const finished = (text: string): AnyEvent =>
  ({ type: 'turn.finished', turnId: 't', body: { status: 'done', text, costUsd: null } }) as never;

/** The updates that the editor receives for a turn whose events and deltas arrive in this order. */
async function updatesOf(items: readonly Item[]): Promise<SessionUpdate[]> {
  let tell: (notice: DeltaNotice) => void = () => undefined;
  const claw = {
    // A change of files takes a while to look up.
    op: async (name: string) => {
      for (let n = 0; name === 'checkpoint.diff' && n < 50; n++) await Promise.resolve();
      return { turnId: 't', files: [] };
    },
    onDelta: (listener: (notice: DeltaNotice) => void) => {
      tell = listener;
      return () => undefined;
    },
    async *events() {
      // From here on the turn is known.
      await Promise.resolve();
      for (const item of items) {
        if ('kind' in item) tell(item);
        else yield item;
      }
    },
  } as unknown as Claw;
  const updates: SessionUpdate[] = [];
  const notify = (_method: string, { update }: { update: SessionUpdate }): Promise<void> => {
    updates.push(update);
    return Promise.resolve();
  };
  const turn = new AcpTurn({ claw, client: { notify } as unknown as AgentContext, sessionId: 's' });
  expect(await turn.run({ text: 'please write', attachments: [] })).toBe('end_turn');
  return updates;
}

async function shownOf(items: readonly Item[]): Promise<string> {
  const updates = await updatesOf(items);
  return updates
    .map((update) => (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text' ? update.content.text : ''))
    .join('');
}

test('text that follows a call comes after what the call shows', async () => {
  const call = { callId: 'c', outcome: 'ok', forUser: '' };
  const updates = await updatesOf([
    { type: 'tool.finished', turnId: 't', body: call } as never,
    delta('r2', 'Written.'),
    finished('Written.'),
  ]);
  expect(updates.map(({ sessionUpdate }) => sessionUpdate)).toEqual(['tool_call_update', 'agent_message_chunk']);
});

test('the use of the window is our own count until the server reports one', async () => {
  const built = { type: 'pack.built', turnId: 't', body: { tokens: 70, budgetTokens: 1000 } } as never;
  const counted = { type: 'model.finished', turnId: 't', body: { usage: { inputTokens: 80, outputTokens: 5 }, calls: [] } } as never;
  const used = async (...items: Item[]) => (await updatesOf([...items, finished('')])).find((one) => one.sessionUpdate === 'usage_update');
  expect(await used(built)).toMatchObject({ used: 70, size: 1000 });
  expect(await used(built, counted)).toMatchObject({ used: 85, size: 1000 });
});

test.each<[string, Item[]]>([
  ['events first', [requested('r1'), delta('r1', 'I write it.'), requested('r2'), delta('r2', 'Writ'), delta('r2', 'ten.')]],
  ['deltas first', [delta('r1', 'I write it.'), delta('r2', 'Writ'), delta('r2', 'ten.'), requested('r1'), requested('r2')]],
  ['an event within', [requested('r1'), delta('r1', 'I write it.'), delta('r2', 'Writ'), requested('r2'), delta('r2', 'ten.')]],
  ['the end is lost', [requested('r1'), delta('r1', 'I write it.'), requested('r2'), delta('r2', 'Writ')]],
  ['all of an answer is lost', [requested('r1'), delta('r1', 'I write it.'), requested('r2')]],
])('separates the answers of two steps once: %s', async (_order, items) => {
  expect(await shownOf([...items, finished('Written.')])).toBe('I write it.\n\nWritten.');
});

const color = { type: 'object', properties: { color: { type: 'string', enum: ['red', 'blue'] } }, required: ['color'] };
const question = { questionId: 'qst_1', server: 'paint', callId: 'c', message: 'Which?', schema: color, url: null };
const asked = { type: 'mcp.asked', turnId: 't', body: { questionId: 'qst_1' } } as never;
const over = { type: 'mcp.answered', turnId: 't', body: { question: 'qst_1' } } as never;

/** The requests to the editor, and the answers it gives. The turn ends after the answer, or after the question was answered elsewhere. */
async function askedOf(reply: object | null, forms: object | null): Promise<{ requests: unknown[]; answers: unknown[] }> {
  const [requests, answers]: [unknown[], unknown[]] = [[], []];
  const done = Promise.withResolvers<void>();
  const claw = {
    op: (name: string, params: unknown) => {
      if (name === 'mcp.answer') answers.push(params);
      return Promise.resolve(name === 'mcp.list' ? { questions: [question] } : { turnId: 't' });
    },
    onDelta: () => () => undefined,
    async *events() {
      await Promise.resolve();
      yield asked;
      if (reply === null) yield over;
      else await done.promise;
      yield finished('');
    },
  } as unknown as Claw;
  const request = (method: string, params: object, { cancellationSignal }: { cancellationSignal: AbortSignal }): Promise<unknown> => {
    requests.push([method, params]);
    setImmediate(() => done.resolve());
    if (reply !== null) return Promise.resolve(reply);
    return new Promise((resolve) => cancellationSignal.addEventListener('abort', () => resolve({ outcome: { outcome: 'cancelled' } })));
  };
  const client = { request, notify: () => Promise.resolve() } as unknown as AgentContext;
  await new AcpTurn({ claw, client, sessionId: 's', forms }).run({ text: 'paint it', attachments: [] });
  return { requests, answers };
}

test.each(['', ' ', '0x1', '1.0', '+1', '-0', '2', '__proto__'])(
  'an answer that no button offered, %j, decides nothing',
  async (optionId) => {
    expect((await askedOf({ outcome: { outcome: 'selected', optionId } }, null)).answers).toEqual([]);
  },
);

/** The requests to the editor about one approval, and the decisions it leads to. */
async function permissionOf(args: string, optionId: string): Promise<{ requests: unknown[]; decisions: unknown[] }> {
  const [requests, decisions]: [unknown[], unknown[]] = [[], []];
  const facts = { class: 'exec', paths: [], hosts: [], command: { line: args, cwd: '/ws/sub' } };
  const about = { summary: 'Wants to run\u202E it', risk: 'It runs.', reason: 'No rule allows it.', ruleId: 'class.exec' };
  const approval = { approvalId: 'apr_1', callId: 'c', tool: 'exec', args, facts, widerScope: null, ...about };
  const answered = Promise.withResolvers<void>();
  const claw = {
    op: (name: string, params: unknown) => {
      if (name === 'approval.decide') decisions.push(params);
      return Promise.resolve(name === 'approval.diff' ? { files: [] } : { turnId: 't' });
    },
    onDelta: () => () => undefined,
    async *events() {
      await Promise.resolve();
      yield { type: 'approval.requested', turnId: 't', body: { approval } } as never;
      await answered.promise;
      yield finished('');
    },
  } as unknown as Claw;
  const request = (_method: string, params: unknown): Promise<unknown> => {
    requests.push(params);
    setImmediate(() => answered.resolve());
    return Promise.resolve({ outcome: { outcome: 'selected', optionId } });
  };
  const client = { request, notify: () => Promise.resolve() } as unknown as AgentContext;
  await new AcpTurn({ claw, client, sessionId: 's' }).run({ text: 'run it', attachments: [] });
  return { requests, decisions };
}

test('an editor shows the whole call, or offers no approval of it', async () => {
  const short = await permissionOf('make\u202E all', 'once');
  const text = [
    String.raw`Wants to run\u{202e} it`,
    'Risk: It runs.',
    'Why it is asked: No rule allows it. (class.exec)',
    'Folder: /ws/sub',
    String.raw`make\u{202e} all`,
  ].join('\n');
  const toolCall = { title: String.raw`Wants to run\u{202e} it`, rawInput: String.raw`make\u{202e} all`, content: [{ content: { text } }] };
  expect(short).toMatchObject({
    requests: [{ toolCall, options: [{ optionId: 'once' }, { optionId: 'deny' }] }],
    decisions: [{ approvalId: 'apr_1', decision: 'approve' }],
  });
  const long = await permissionOf('x'.repeat(20_000), 'once');
  expect(long).toMatchObject({ requests: [{ options: [{ optionId: 'deny' }, { optionId: 'elsewhere' }] }], decisions: [] });
  expect((await permissionOf('x'.repeat(20_000), 'deny')).decisions).toMatchObject([{ decision: 'deny' }]);
});

test('an MCP question is a form or buttons, and ends when it is answered elsewhere', async () => {
  const content = { color: 'blue' };
  const form = await askedOf({ action: 'accept', content }, { form: {} });
  expect(form).toMatchObject({
    requests: [['elicitation/create', { mode: 'form', toolCallId: 'c', message: 'paint: Which?', requestedSchema: color }]],
    answers: [{ questionId: 'qst_1', action: 'accept', content }],
  });
  const pressed = await askedOf({ outcome: { outcome: 'selected', optionId: '1' } }, null);
  const options = [{ name: 'red' }, { name: 'blue' }, { name: 'Decline', kind: 'reject_once' }];
  expect(pressed).toMatchObject({ requests: [['session/request_permission', { options }]], answers: [{ action: 'accept', content }] });
  const declined = await askedOf({ outcome: { outcome: 'selected', optionId: 'decline' } }, null);
  expect(declined.answers).toEqual([{ questionId: 'qst_1', action: 'decline' }]);
  expect((await askedOf(null, null)).answers).toEqual([]);
});
