// The model's input in the whole program: pinned rules, a window smaller than expected, packs as a person views them.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ConfigInput } from '../../core/contracts/config.ts';
import type { TrayClaw } from '../../core/index.ts';
import { ScriptedModel, type Rule } from '../doubles/scripted-model.ts';
import { TestHome } from '../faults/test-home.ts';

async function open(rules: readonly Rule[] = [{ answer: { text: 'ok' } }], config: object = {}, contextTokens?: number) {
  const model = await ScriptedModel.start(rules);
  const home = new TestHome();
  const served = model.config('openai');
  const lab = { ...served.providers?.['lab'], ...(contextTokens === undefined ? {} : { contextTokens }) };
  const claw = await home.open({ config: { ...served, providers: { lab }, ...config } as ConfigInput });
  onTestFinished(async () => {
    await home.dispose();
    await model.close();
  });
  const system = (): string => {
    const [first] = (model.requests.at(-1)?.body['messages'] ?? []) as { role: string; content: string }[];
    return first?.content ?? '';
  };
  return { claw, model, home, system };
}

async function say(claw: TrayClaw, text: string, sessionId = 's') {
  const { turnId } = await claw.op('message.send', { text, sessionId });
  return claw.op('turn.wait', { turnId });
}

test('a pinned rule is in every later request of its session or agent until removed', async () => {
  const { claw, system } = await open();
  await say(claw, 'hello');
  const ran = await claw.op('command.run', { line: '/rule Answer in German. Keep "umlauts".', sessionId: 's' });
  const ruleId = /`(rul_\w+)`/.exec(ran.text)?.[1] ?? '';
  await claw.op('rule.pin', { text: 'Never push.', agentId: 'main' });
  await say(claw, 'and now');
  expect(system()).toContain('- Never push.\n- Answer in German. Keep "umlauts".');
  await say(claw, 'elsewhere', 's2');
  expect([system().includes('Never push.'), system().includes('Answer in German')]).toEqual([true, false]);
  expect((await claw.op('rule.list', { sessionId: 's' })).rules.map(({ text, scope }) => `${scope} ${text}`)).toEqual([
    'agent Never push.',
    'session Answer in German. Keep "umlauts".',
  ]);
  await claw.op('command.run', { line: `/unrule ${ruleId}`, sessionId: 's' });
  await say(claw, 'again');
  expect(system()).not.toContain('Answer in German');
});

test('a rule is changed in one step, and removed from a fork but not its original', async () => {
  const { claw, system } = await open();
  await say(claw, 'hello');
  const first = await claw.op('rule.pin', { text: 'Answer in German.', sessionId: 's' });
  const ofAgent = await claw.op('rule.pin', { text: 'Never push.', agentId: 'main' });
  const second = await claw.op('rule.pin', { text: 'Answer in French.', sessionId: 's', replaces: first.ruleId });
  await say(claw, 'and now');
  expect(system()).toContain('- Answer in French.');
  expect(system()).not.toContain('German');
  const replacing = { text: 'x', sessionId: 's', replaces: ofAgent.ruleId };
  await expect(claw.op('rule.pin', replacing)).rejects.toMatchObject({ code: 'not_found' });
  const { sessionId } = await claw.op('session.fork', { sessionId: 's' });
  await expect(claw.op('rule.unpin', { ruleId: first.ruleId, sessionId })).rejects.toMatchObject({ code: 'not_found' });
  await claw.op('command.run', { line: `/unrule ${second.ruleId}`, sessionId });
  const textsIn = async (where: string) => (await claw.op('rule.list', { sessionId: where })).rules.map(({ text }) => text);
  expect([await textsIn('s'), await textsIn(sessionId)]).toEqual([['Never push.', 'Answer in French.'], ['Never push.']]);
});

test('an invalid rule is refused with a reason', async () => {
  const { claw } = await open();
  await say(claw, 'hello');
  await expect(claw.op('rule.pin', { text: 'x' })).rejects.toMatchObject({ code: 'invalid_params' });
  await expect(claw.op('rule.pin', { text: '  ', sessionId: 's' })).rejects.toMatchObject({ code: 'invalid_params' });
  await expect(claw.op('rule.pin', { text: 'x'.repeat(1_001), sessionId: 's' })).rejects.toMatchObject({ code: 'invalid_params' });
  await expect(claw.op('rule.pin', { text: 'x', sessionId: 'nobody' })).rejects.toMatchObject({ code: 'not_found' });
  await expect(claw.op('rule.pin', { text: 'x', agentId: 'nobody' })).rejects.toMatchObject({ code: 'not_found' });
  await expect(claw.op('rule.unpin', { ruleId: 'rul_none' })).rejects.toMatchObject({ code: 'not_found' });
  for (let index = 0; index < 12; index++) await claw.op('rule.pin', { text: `${index} ${'y'.repeat(990)}`, sessionId: 's' });
  await expect(claw.op('rule.pin', { text: 'z'.repeat(500), sessionId: 's' })).rejects.toMatchObject({ code: 'conflict' });
});

test('a request refused as too long is shortened, sent again, and the window is known', async () => {
  const { claw, model } = await open([{ times: 1, answer: { refuse: 'context-overflow' } }, { answer: { text: 'ok' } }]);
  expect(await say(claw, 'w '.repeat(9_000))).toMatchObject({ status: 'done', text: 'ok' });
  expect(model.requests).toHaveLength(2);
  const { packs } = await claw.op('pack.list', { sessionId: 's' });
  expect(packs.map(({ budgetTokens }) => budgetTokens < 8_192)).toEqual([true, false]);
  expect((packs[0]?.tokens ?? 0) <= (packs[0]?.budgetTokens ?? 0)).toBe(true);
  const listed = (await claw.op('model.list', {})).models.find(({ isDefault }) => isDefault);
  expect(listed?.contextTokens).toBe(8_192);
});

test("packs are listed and shown with the server's count, and exported to a file", async () => {
  const { claw, home } = await open([{ answer: { text: 'ok' } }], { context: { packLog: 'logs/packs.jsonl' } });
  const { turnId } = await say(claw, 'hello');
  const { packs } = await claw.op('pack.list', {});
  expect(packs).toMatchObject([{ packId: `${turnId}-p1`, turnId, model: expect.any(String), inputTokens: expect.any(Number), cachedInputTokens: expect.any(Number) }]); // prettier-ignore
  const view = await claw.op('pack.get', { packId: `${turnId}-p1` });
  expect(view.reported).toEqual({ inputTokens: packs[0]?.inputTokens, cachedInputTokens: packs[0]?.cachedInputTokens });
  const lines = readFileSync(join(home.path, 'logs/packs.jsonl'), 'utf8').trim().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { kind: string }).kind)).toEqual(['context.pack', 'llm.usage', 'turn.outcome']);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ sections: expect.arrayContaining([expect.objectContaining({ name: 'messages' })]) });
});

test('a pack shows its sections: rules as they were, the rest as it is now', async () => {
  const { claw } = await open();
  await say(claw, 'hello');
  const { ruleId } = await claw.op('rule.pin', { text: 'Answer in German.', sessionId: 's' });
  await claw.op('rule.pin', { text: 'Never push.', agentId: 'main' });
  const { turnId } = await say(claw, 'and now');
  await claw.op('rule.unpin', { ruleId });
  await claw.op('rule.pin', { text: 'Later.', sessionId: 's' });
  const { texts = [], summary, sections } = await claw.op('pack.get', { packId: `${turnId}-p1` });
  expect(texts.find(({ section }) => section === 'rules')).toEqual({
    section: 'rules',
    asOf: 'then',
    text: '- Never push.\n- Answer in German.',
  });
  expect(texts.find(({ section }) => section === 'system')).toMatchObject({ asOf: 'now', text: expect.stringContaining('TrayClaw') });
  expect(texts.find(({ section }) => section === 'tools')?.text).toContain('read_file: ');
  // Messages are reported one by one.
  expect(sections.map(({ name }) => name).filter((name) => texts.every(({ section }) => section !== name))).toEqual(['messages']);
  expect(summary).toBeNull();
});

test('a pack shows what its summary replaces, including earlier summaries in it', async () => {
  const { claw } = await open();
  for (let turn = 1; turn <= 5; turn++) await say(claw, `note ${turn}`);
  const first = await claw.op('session.compact', { sessionId: 's' });
  for (let turn = 6; turn <= 9; turn++) await say(claw, `note ${turn}`);
  const second = await claw.op('session.compact', { sessionId: 's' });
  const { turnId } = await say(claw, 'and now');
  const { summary } = await claw.op('pack.get', { packId: `${turnId}-p1` });
  expect(summary).toMatchObject({ summaryId: second.summaryId, text: second.text, messages: first.messages + second.messages });
  const { events } = await claw.op('session.get', { sessionId: 's', limit: 1000 });
  expect(summary?.fromAtMs).toBe(events.find(({ type }) => type === 'turn.started')?.atMs);
  expect(summary?.toAtMs).toBeGreaterThanOrEqual(summary?.fromAtMs ?? Infinity);
});

test('a conversation is summarised on request, and its text stays in the log', async () => {
  const { claw, model } = await open();
  for (let turn = 1; turn <= 5; turn++) await say(claw, `note ${turn}: box KX-${turn}000`);
  expect(await claw.op('session.compact', { sessionId: 's' })).toMatchObject({ messages: 6 });
  await say(claw, 'and now');
  const messages = (model.requests.at(-1)?.body['messages'] ?? []) as { content: string }[];
  expect(messages[1]?.content).toMatch(/<conversation-summary>[\s\S]+KX-1000[\s\S]+<\/conversation-summary>/);
  expect((await claw.op('session.search', { query: 'KX' })).hits.length).toBeGreaterThan(0);
  await expect(claw.op('session.compact', { sessionId: 'nobody' })).rejects.toMatchObject({ code: 'not_found' });
});

test('a turn that outgrows the window keeps a line for each step without room', { timeout: 30_000 }, async () => {
  const STEPS = 60;
  let reads = 0;
  const { claw, model, home } = await open(
    [
      {
        when: () => reads < STEPS,
        answer: () => ({ calls: [{ tool: 'read_file', args: { path: `part-${(reads += 1) - 1}.log` } }] }),
      },
      { answer: { text: 'all read' } },
    ],
    { limits: { steps: 100 }, context: { summaries: { mode: 'off' } } },
  );
  for (let at = 0; at < STEPS; at++) {
    const lines = Array.from({ length: 60 }, (_, line) => `${line} compiling unit ${line * 7} of part ${at}`);
    writeFileSync(join(home.workspace, `part-${at}.log`), [...lines, `error: part ${at} needs port 47${at}`, ...lines].join('\n'));
  }
  expect(await say(claw, 'Read all parts and remember which port each of them needs.')).toMatchObject({
    status: 'done',
    text: 'all read',
  });
  expect(model.violations).toEqual([]);
  const { packs } = await claw.op('pack.list', { limit: 200 });
  expect(packs.length).toBe(STEPS + 1);
  expect(packs.every(({ tokens, budgetTokens }) => tokens <= budgetTokens)).toBe(true);
  const messages = (model.requests.at(-1)?.body['messages'] ?? []) as { role: string; content: string }[];
  expect(messages.filter(({ role }) => role === 'tool').length).toBeLessThan(STEPS);
  const told = messages.map(({ content }) => content).join('\n');
  expect(told).toContain('Read all parts and remember which port each of them needs.');
  const known = Array.from({ length: STEPS }, (_, at) => at).filter((at) => told.includes(`part ${at} needs port 47${at}`));
  // The newest steps whole, earlier ones as lines, and the oldest only counted.
  expect(known.length).toBeGreaterThan(STEPS / 2);
});
