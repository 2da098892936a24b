// The message tool in the whole program: chats without approval, chats that need approval, and that no message arrives twice.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { TrayClaw } from '../../core/index.ts';
import { LoopbackChannel } from '../doubles/loopback-channel.ts';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { until } from '../until.ts';
import { TestHome } from '../faults/test-home.ts';

interface Rig {
  readonly claw: TrayClaw;
  readonly channel: LoopbackChannel;
  readonly home: TestHome;
  /** Makes the model call the tool with these arguments, then say `text`. */
  readonly say: (args: Readonly<Record<string, unknown>>, text?: string) => void;
  readonly shown: (count: number) => Promise<string[]>;
  /** The gate's decision about the last call. */
  readonly decided: (sessionId: string) => Promise<{ decision: string; ruleId: string; reason: string }>;
}

async function open(): Promise<Rig> {
  const model = await ScriptedModel.start([{ answer: { text: 'hello' } }]);
  const home = new TestHome();
  onTestFinished(async () => {
    await home.dispose();
    await model.close();
  });
  const channel = new LoopbackChannel();
  const claw = await home.open({ config: model.config('openai'), channels: [channel] });
  return {
    claw,
    channel,
    home,
    say: (args, text = 'Finished.') => {
      model.script([{ results: 0, answer: { calls: [{ tool: 'message', args }] } }, { answer: { text } }]);
    },
    shown: async (count) => {
      await until(() => channel.shown.length >= count, `${count} messages arrived`);
      // Gives a surplus message the time to arrive.
      await until(async () => (await claw.op('outbox.list', {})).items.length === 0, 'nothing is on its way');
      expect(channel.shown).toHaveLength(count);
      return channel.shown.map(({ text, item }) => `${item.to.chatId} ${item.kind}: ${text}`);
    },
    decided: async (sessionId) => {
      const { events } = await claw.op('session.get', { sessionId });
      return events.findLast(({ type }) => type === 'policy.decided')?.body as { decision: string; ruleId: string; reason: string };
    },
  };
}

async function write(rig: Rig, text = 'go', chatId = '7'): Promise<{ sessionId: string; turnId: string; status: string }> {
  const receipt = rig.channel.write(text, { chatId });
  if (receipt.kind !== 'accepted') throw new Error(receipt.reason);
  return rig.claw.op('turn.wait', { turnId: receipt.turnId });
}

test('to the chat of the message it is sent without approval, and is the answer', async () => {
  const rig = await open();
  rig.say({ content: 'Working on it.' });
  const turn = await write(rig);
  expect(await rig.shown(1)).toEqual(['7 message: Working on it.']);
  expect(await rig.decided(turn.sessionId)).toMatchObject({ decision: 'allow', ruleId: 'message.same-chat' });
});

test('to another chat it needs approval, and does not replace the answer here', async () => {
  const rig = await open();
  await write(rig, 'hi', 'other');
  rig.say({ content: 'Dinner?', channel: 'loopback', chat_id: 'other' }, 'I asked.');
  const turn = await write(rig);
  expect(turn.status).toBe('waiting');
  const { approvals } = await rig.claw.op('approval.list', {});
  expect(approvals).toMatchObject([
    { summary: 'Wants to send a message to chat other: Dinner?', risk: 'It goes to Ada (loopback other) and cannot be taken back.' },
  ]);
  expect(await rig.decided(turn.sessionId)).toMatchObject({ decision: 'ask', ruleId: 'ask.message' });
  await rig.claw.op('approval.decide', { approvalId: approvals[0]?.approvalId ?? '', decision: 'approve' });
  const lines = await rig.shown(3);
  expect(lines[0]).toBe('other reply: hello');
  expect(lines.slice(1).sort()).toEqual(['7 reply: I asked.', 'other message: Dinner?']);
});

test('a chat without known people is refused, whatever a person would say', async () => {
  const rig = await open();
  rig.say({ content: 'x', channel: 'loopback', chat_id: 'stranger' }, 'It was refused.');
  const turn = await write(rig);
  expect(await rig.decided(turn.sessionId)).toMatchObject({ decision: 'deny', ruleId: 'address.refused' });
  expect(await rig.shown(1)).toEqual(['7 reply: It was refused.']);
});

test('from the window it goes to the last used chat, after approval', async () => {
  const rig = await open();
  await write(rig, 'hi', 'first');
  await write(rig, 'hi', 'second');
  rig.say({ content: 'From the desk.' });
  const asked = await rig.claw.ask('tell me on my phone', { sessionId: 'desk' });
  expect(asked).toMatchObject({
    status: 'waiting',
    pending: [{ tool: 'message', risk: expect.stringContaining('loopback second') as string }],
  });
  await rig.claw.op('approval.decide', { approvalId: asked.pending?.[0]?.approvalId ?? '', decision: 'approve' });
  expect(await rig.claw.op('turn.wait', { turnId: asked.turnId })).toMatchObject({ status: 'done', text: 'Finished.' });
  expect((await rig.shown(3)).at(-1)).toBe('second message: From the desk.');
});

test('workspace files and artifacts are sent along; one from outside needs approval', async () => {
  const rig = await open();
  mkdirSync(rig.home.workspace, { recursive: true });
  writeFileSync(join(rig.home.workspace, 'notes.md'), '# Notes');
  rig.say({ content: 'Here.', files: ['notes.md'] });
  await write(rig);
  await rig.shown(1);
  const [kept] = rig.channel.shown[0]?.files ?? [];
  expect(kept).toMatchObject({ name: 'notes.md', mediaType: 'text/markdown', sizeBytes: 7 });

  rig.say({ files: [kept?.sha256] });
  await write(rig);
  await rig.shown(2);
  expect(rig.channel.shown[1]?.files).toEqual([kept]);

  rig.say({ content: 'And this.', files: ['/etc/hostname'] });
  expect((await write(rig)).status).toBe('waiting');
});

test('without a channel the tool does not exist', async () => {
  await using home = new TestHome();
  const claw = await home.open({ config: { models: { default: 'demo/offline' } } });
  expect((await claw.op('tool.list', {})).tools.map(({ name }) => name)).not.toContain('message');
});
