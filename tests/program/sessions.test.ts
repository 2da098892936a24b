// Sessions as a window uses them: pins, unread ends, separate models, paging, retries and branches.

import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { TrayClaw } from '../../core/index.ts';
import { ScriptedModel, type ModelRequestSeen } from '../doubles/scripted-model.ts';
import { TestHome } from '../faults/test-home.ts';

let claw: TrayClaw;
let model: ScriptedModel;

beforeEach(async () => {
  model = await ScriptedModel.start([{ answer: ({ index }) => ({ text: `answer ${index}` }) }]);
  const home = new TestHome();
  // The conversation is compared word for word, so no skill may be offered in it.
  claw = await home.open({ config: { ...model.config('openai'), budget: { perDayUsd: 100 }, skills: { shortlist: 0 } } });
  onTestFinished(async () => {
    await home.dispose();
    await model.close();
  });
});

/** The messages of the model's last request. */
function shown(seen: ModelRequestSeen | undefined = model.requests.at(-1)): string[] {
  const messages = (seen?.body['messages'] ?? []) as { role: string; content: string }[];
  return messages.filter(({ role }) => role !== 'system').map(({ role, content }) => `${role}: ${content}`);
}

async function say(text: string, sessionId: string): Promise<string> {
  const { turnId } = await claw.op('message.send', { text, sessionId });
  await claw.op('turn.wait', { turnId });
  return turnId;
}

test('pinned sessions come first, and pages join without a gap', async () => {
  const ids: string[] = [];
  for (const title of ['a', 'b', 'c', 'd', 'e']) ids.push((await claw.op('session.create', { title })).sessionId);
  const [first = ''] = ids;
  expect(await claw.op('session.pin', { sessionId: first, pinned: true })).toMatchObject({ pinned: true });
  const titles: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof list>> = await list(cursor);
    titles.push(...page.sessions.map(({ title }) => title));
    cursor = page.nextCursor;
  } while (cursor !== null);
  expect(titles).toEqual(['a', 'e', 'd', 'c', 'b']);
  await expect(claw.op('session.list', { cursor: 'nonsense' })).rejects.toMatchObject({
    code: 'invalid_params',
    message: 'No page gave the cursor "nonsense".',
  });

  function list(from: string | null) {
    return claw.op('session.list', { limit: 2, ...(from === null ? {} : { cursor: from }) });
  }
});

test('an unseen end is unread until a person looks or writes, also after a recount', async () => {
  await say('one', 's');
  const { unread, seenSeq } = (await claw.op('session.get', { sessionId: 's' })).session;
  expect(unread).toBe(1);
  const { events } = await claw.op('session.get', { sessionId: 's' });
  const last = events.at(-1)?.seq ?? 0;
  expect(seenSeq).toBeLessThan(last);
  expect(await claw.op('session.seen', { sessionId: 's', seq: seenSeq + 1 })).toMatchObject({ unread: 1, seenSeq: seenSeq + 1 });
  expect(await claw.op('session.seen', { sessionId: 's' })).toMatchObject({ unread: 0 });
  const before = (await claw.op('session.get', { sessionId: 's' })).session.events;
  await claw.op('session.seen', { sessionId: 's' });
  expect((await claw.op('session.get', { sessionId: 's' })).session.events).toBe(before);
  await say('two', 's');
  await say('three', 's');
  expect((await claw.op('session.list', {})).sessions).toMatchObject([{ sessionId: 's', unread: 1 }]);
});

test('a session has its own model, until it is reset', async () => {
  await claw.op('session.configure', { sessionId: (await claw.op('session.create', { title: 'x' })).sessionId, model: 'lab/other' });
  const { sessionId } = await claw.op('session.create', { title: 'y', model: 'lab/other' });
  await say('hello', sessionId);
  expect(model.requests.at(-1)?.model).toBe('other');
  const fork = await claw.op('session.fork', { sessionId });
  expect(fork.model).toBe('lab/other');
  expect(await claw.op('session.configure', { sessionId, model: null })).toMatchObject({ model: null });
  await say('again', sessionId);
  expect(model.requests.at(-1)?.model).toBe('scripted');
  await expect(claw.op('session.configure', { sessionId, model: 'nobody/x' })).rejects.toMatchObject({ code: 'model_unknown' });
});

test('pages of whole turns go back to the beginning, and types filter events', async () => {
  const turnIds: string[] = [];
  for (let i = 0; i < 7; i++) turnIds.push(await say(`message ${i}`, 's'));
  const types = ['user.message', 'assistant.message'];
  const pages: (string | null)[][] = [];
  let before: number | null = null;
  do {
    const page: { events: { turnId: string | null; type: string }[]; earlierBefore: number | null } = await claw.op('session.get', {
      sessionId: 's',
      turns: 3,
      types,
      ...(before === null ? {} : { before }),
    });
    pages.unshift(page.events.map(({ turnId }) => turnId));
    before = page.earlierBefore;
  } while (before !== null);
  expect(pages.flat()).toEqual(turnIds.flatMap((turnId) => [turnId, turnId]));
  expect(pages.map((page) => page.length)).toEqual([2, 6, 6]);
  const newest = await claw.op('session.get', { sessionId: 's', limit: 10 });
  expect(newest.earlierBefore).toBe(newest.events[0]?.seq);
});

test('search finds word beginnings, titles first, each session once, no old titles', async () => {
  await claw.op('session.create', { title: 'Gardening in spring' });
  await say('how do gardens grow? gardens!', 's');
  await say('gardens again', 's');
  await claw.op('session.rename', { sessionId: 's', title: 'Nothing' });
  const { hits } = await claw.op('session.search', { query: 'garden', each: 'session' });
  expect(hits.map(({ title, type }) => [title, type])).toEqual([
    ['Gardening in spring', 'session.created'],
    ['Nothing', 'user.message'],
  ]);
  expect((await claw.op('session.search', { query: 'gardens', sessionId: 's' })).hits.length).toBe(2);
  await expect(claw.op('session.search', { query: 'x', sessionId: 'none' })).rejects.toMatchObject({ code: 'not_found' });
});

test('a retry keeps the earlier answer in the log but in no later request', async () => {
  await say('first', 's');
  const turnId = await say('second', 's');
  const again = await claw.op('turn.retry', { turnId, model: 'lab/other' });
  await claw.op('turn.wait', { turnId: again.turnId });
  expect(shown()).toEqual(['user: first', 'assistant: answer 0', 'user: second']);
  expect(model.requests.at(-1)?.model).toBe('other');
  expect(await claw.op('turn.get', { turnId })).toMatchObject({ text: 'answer 1', supersededBy: again.turnId });
  const { packs } = await claw.op('turn.get', { turnId: again.turnId });
  expect((await claw.op('pack.get', { packId: packs[0] ?? '' })).messages.slice(1).map(({ text }) => text)).toEqual([
    'first',
    'answer 0',
    'second',
  ]);
  await say('third', 's');
  expect(shown()).toEqual(['user: first', 'assistant: answer 0', 'user: second', 'assistant: answer 2', 'user: third']);
  await expect(claw.op('turn.retry', { turnId: again.turnId })).rejects.toMatchObject({ code: 'conflict' });
  for (const one of [turnId, again.turnId]) expect(await claw.op('replay.run', { turnId: one })).toMatchObject({ identical: true });
  expect(await claw.op('audit.verify', {})).toMatchObject({ ok: true });
});

test('an edited last message replaces the earlier one in every later request', async () => {
  await say('first', 's');
  const turnId = await say('second', 's');
  const again = await claw.op('turn.retry', { turnId, text: 'changed' });
  await claw.op('turn.wait', { turnId: again.turnId });
  expect(shown()).toEqual(['user: first', 'assistant: answer 0', 'user: changed']);
  expect(await claw.op('turn.get', { turnId })).toMatchObject({ text: 'answer 1', supersededBy: again.turnId });
  for (const one of [turnId, again.turnId]) expect(await claw.op('replay.run', { turnId: one })).toMatchObject({ identical: true });
  expect(await claw.op('audit.verify', {})).toMatchObject({ ok: true });
});

test('a retry carries no approval over, and keeps what was said along the way', async () => {
  const write = { calls: [{ tool: 'write_file', args: { path: 'a.md', content: 'x' } }] };
  model.script([
    { when: ({ body }) => !JSON.stringify(body['messages']).includes('tool_call_id'), answer: write },
    { answer: { text: 'written' } },
  ]);
  const { turnId } = await claw.op('message.send', { text: 'write a.md', sessionId: 's' });
  await claw.op('turn.wait', { turnId });
  await expect(claw.op('turn.retry', { turnId })).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('under way') as string,
  });
  await claw.op('turn.steer', { turnId, text: 'and be brief' });
  const [approval] = (await claw.op('approval.list', {})).approvals;
  await claw.op('approval.decide', { approvalId: approval?.approvalId ?? '', decision: 'approve' });
  expect(await claw.op('turn.wait', { turnId })).toMatchObject({ status: 'done' });
  const again = await claw.op('turn.retry', { turnId });
  expect(await claw.op('turn.wait', { turnId: again.turnId })).toMatchObject({ status: 'waiting', pending: [{ tool: 'write_file' }] });
  expect(shown()).toEqual(['user: write a.md\n\nand be brief']);
  await claw.op('turn.cancel', { turnId: again.turnId });
  expect(await claw.op('audit.verify', {})).toMatchObject({ ok: true });
});

test('a branch contains everything before a message and leaves the original unchanged', async () => {
  await say('first', 's');
  const turnId = await say('second', 's');
  await say('third', 's');
  const before = (await claw.op('session.get', { sessionId: 's' })).session.events;
  const branch = await claw.op('turn.branch', { turnId, text: 'something else' });
  await claw.op('turn.wait', { turnId: branch.turnId });
  expect(branch.sessionId).not.toBe('s');
  expect(shown()).toEqual(['user: first', 'assistant: answer 0', 'user: something else']);
  expect((await claw.op('session.get', { sessionId: 's' })).session.events).toBe(before);
  const same = await claw.op('turn.branch', { turnId });
  await claw.op('turn.wait', { turnId: same.turnId });
  expect(shown()).toEqual(['user: first', 'assistant: answer 0', 'user: second']);
  const direct = await claw.op('tool.run', { tool: 'calc', args: { expression: '1+1' }, sessionId: 's' });
  await expect(claw.op('turn.branch', { turnId: direct.turnId })).rejects.toMatchObject({ code: 'conflict' });
  expect(await claw.op('audit.verify', {})).toMatchObject({ ok: true });
});

test("forwarded text does not become the person's by a retry or a branch", async () => {
  const { turnId, sessionId } = await claw.op('message.send', { text: 'forwarded words', forwardedFrom: 'stranger' });
  await claw.op('turn.wait', { turnId });
  const marks = async (id: string, turn: string): Promise<unknown[]> => {
    const { events } = await claw.op('session.get', { sessionId: id, limit: 5000, types: ['taint.marked'] });
    return events.filter((event) => event.turnId === turn).map(({ body }) => (body as { sources: unknown }).sources);
  };
  const again = await claw.op('turn.retry', { turnId });
  await claw.op('turn.wait', { turnId: again.turnId });
  expect(await marks(sessionId, again.turnId)).toEqual([[{ kind: 'message', where: 'stranger' }]]);
  const branch = await claw.op('turn.branch', { turnId: again.turnId, text: 'edited words' });
  await claw.op('turn.wait', { turnId: branch.turnId });
  expect(await marks(branch.sessionId, branch.turnId)).toEqual([[{ kind: 'message', where: 'stranger' }]]);
});

test('a conversation reread from the log is the same for the model after a retry', async () => {
  const home = new TestHome();
  onTestFinished(() => home.dispose());
  const first = await home.open({ config: model.config('openai') });
  const one = await first.ask('alpha', { sessionId: 's' });
  const two = await first.op('turn.retry', { turnId: one.turnId });
  await first.op('turn.wait', { turnId: two.turnId });
  await home.close(first);
  const second = await home.open({ config: model.config('openai') });
  await second.ask('beta', { sessionId: 's' });
  expect(shown()).toEqual(['user: alpha', 'assistant: answer 1', 'user: beta']);
});
