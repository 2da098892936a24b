// The open session: live text that arrives before or after the record is never shown in the wrong place.

import { expect, test } from 'vitest';
import type { AnyEvent, DeltaNotice, EventBodies, EventType } from '../../../core/contracts/events.ts';
import { noUsage } from '../../../core/contracts/llm.ts';
import type { OpClient } from '../client.ts';
import { OpenConversation } from './open-conversation.svelte.ts';

let seq = 0;
function eventOf<T extends EventType>(type: T, body: EventBodies[T], turnId: string | null = 'trn_1'): AnyEvent {
  seq += 1;
  return { seq, sessionId: 'ses_1', sessionSeq: seq, turnId, step: 1, phase: null, type, v: 1, atMs: seq, body } as AnyEvent;
}

const said = {
  usage: noUsage,
  usageReported: true,
  costUsd: 0,
  tookMs: 1,
  firstTokenMs: 1,
  finishReason: 'tool_calls',
  reasoning: '',
} as const;
const ended = { status: 'done', error: null, usage: noUsage, costUsd: 0, modelCalls: 1, toolCalls: 0 } as const;
const call = { callId: 'call_1', providerCallId: 'p', tool: 'write_file', args: '{}' };
const textOf = (text: string): DeltaNotice => ({ kind: 'text', sessionId: 'ses_1', turnId: 'trn_1', callId: null, text });

function createRecord() {
  seq = 0;
  const limits = { steps: 50, turnMs: 1, sameCall: 3, parallelReads: 8 };
  return [
    eventOf('user.message', { text: 'Hi', channel: 'window', sender: 'person', dedupeKey: null }),
    eventOf('turn.started', { kind: 'chat', agentId: 'main', model: 'lab/m', limits, calls: [] }),
    eventOf('model.requested', { requestId: 'q', packId: 'p', model: 'lab/m' }),
    eventOf('model.finished', { ...said, requestId: 'q', text: 'I see to notes.md.', calls: [call] }),
  ];
}

/** A host that answers with the page when the test releases it. */
function open(streamed: readonly { kind: 'text'; callId: null; text: string }[] = []) {
  const page = Promise.withResolvers<AnyEvent[]>();
  const op = async (name: string): Promise<unknown> =>
    name === 'turn.live' ? { texts: streamed } : { session: {}, events: await page.promise, earlierBefore: null };
  const client: OpClient = { op: op as OpClient['op'], events: () => () => undefined };
  const conversation = new OpenConversation(client, 'ses_1');
  return { page, conversation, loaded: conversation.load() };
}

const live = ({ view }: OpenConversation): string => view.turns.map((turn) => turn.live).join('|');

test('text that streamed before the record of its answer is not shown twice', async () => {
  const record = createRecord();
  const { page, conversation, loaded } = open();
  conversation.takeDelta(textOf('I see '));
  conversation.takeDelta(textOf('to notes'));
  for (const event of record) conversation.take(event);
  page.resolve(record);
  await loaded;
  expect(conversation.view.turns.map(({ calls }) => Object.keys(calls))).toEqual([['call_1']]);
  expect(live(conversation)).toBe('');
});

test('text that comes after a page which already holds its answer is dropped', async () => {
  const record = createRecord();
  const { page, conversation, loaded } = open();
  page.resolve(record);
  await loaded;
  conversation.takeDelta(textOf('to notes.md.'));
  conversation.linkLost();
  expect(live(conversation)).toBe('');
});

test('control: text of an answer that is under way waits for the page and is shown', async () => {
  const record = createRecord();
  const { page, conversation, loaded } = open();
  conversation.takeDelta(textOf('I see '));
  page.resolve(record.slice(0, 3));
  await loaded;
  expect(live(conversation)).toContain('I see ');
});

test('a search hit further back is reached while an earlier page is on its way', async () => {
  seq = 0;
  const turn = (turnId: string) => [
    eventOf('user.message', { text: turnId, channel: 'window', sender: 'person', dedupeKey: null }, turnId),
    eventOf('turn.finished', { ...ended, text: turnId }, turnId),
  ];
  const events = Array.from({ length: 40 }, (_, index) => turn(`trn_${index}`)).flat();
  const held: (() => void)[] = [];
  const op = async (_name: string, asked: { before?: number; after?: number; limit?: number }): Promise<unknown> => {
    const { before, after, limit = 0 } = asked;
    if (after !== undefined) return { session: {}, events: events.filter((event) => event.seq > after).slice(0, Math.min(limit, 10)) };
    if (before === undefined) return { session: {}, events: events.slice(-4) };
    await new Promise<void>((resolve) => held.push(resolve));
    return { session: {}, events: events.filter((event) => event.seq < before).slice(-Math.min(limit, 10)) };
  };
  const conversation = new OpenConversation({ op: op as OpClient['op'], events: () => () => undefined }, 'ses_1');
  await conversation.load();
  const scrolling = conversation.loadEarlier();
  const reached = conversation.reach(events[44]?.seq ?? 0);
  const letGo = setInterval(() => held.splice(0).forEach((resolve) => resolve()), 1);
  try {
    expect(await reached).toBe('trn_22');
    await scrolling;
    // Loaded separately from the end, with the events around it, without those in between.
    const shown = conversation.part.view.turns.map(({ turnId }) => turnId);
    expect([shown.includes('trn_21'), shown.includes('trn_39'), conversation.view.turns.at(-1)?.turnId]).toEqual([true, false, 'trn_39']);
  } finally {
    clearInterval(letGo);
  }
});

test('what was streamed before the window looked on comes first, and pieces it holds are not shown twice', async () => {
  const record = createRecord();
  const { page, conversation, loaded } = open([{ kind: 'text', callId: null, text: 'I see to ' }]);
  conversation.takeDelta({ ...textOf('see to '), from: 2 });
  conversation.takeDelta({ ...textOf('to notes'), from: 6 });
  page.resolve(record.slice(0, 3));
  await loaded;
  expect(live(conversation)).toBe('I see to notes');
  conversation.takeDelta({ ...textOf('.md'), from: 14 });
  conversation.linkLost();
  expect(live(conversation)).toMatch(/^I see to notes\.md/);
});
