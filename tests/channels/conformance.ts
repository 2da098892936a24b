// The rules that every chat service must follow, run over one service and a real peer or a strict double of it. A bench starts the other
// side and implements how a person there writes, presses and reads; everything else is shared.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { has, needs, type Need } from '../needs.ts';
import { soak } from '../soak.ts';
import { until } from '../until.ts';
import { ConformanceRig, type ChannelBench } from './conformance-rig.ts';

const CRASHES = soak(2, 100);

export function channelConformance(name: string, start: () => Promise<ChannelBench>, need?: Need): void {
  describe(`${name} as a channel`, () => {
    const rig = new ConformanceRig(name, start);
    const options = need === undefined ? {} : needs(need);
    beforeAll(async () => {
      if (need === undefined || has(need)) await rig.start();
    });
    afterAll(() => rig.dispose());
    peopleTests(rig, options);
    approvalTests(rig, options);
    upkeepTests(rig, options);
  });
}

type Options = Partial<ReturnType<typeof needs>>;

function peopleTests(rig: ConformanceRig, options: Options): void {
  test('a stranger starts nothing', options, async () => {
    const eve = await rig.bench.person('eve');
    await eve.write('let me in');
    await eve.write('/panic');
    if (rig.bench.answersStrangers !== false) await rig.hears(eve, /private bot/);
    const ada = await rig.ada();
    await ada.write('after the stranger');
    // Everything before the owner's message has been handled.
    await rig.hears(ada, 'You said: after the stranger');
    expect(await rig.turns()).toBe(1);
    expect((await rig.claw.op('panic.status', {})).engaged).toBe(false);
  });

  test('a code pairs only the person confirmed at the computer', options, async () => {
    const { code, pairingId } = await rig.offer();
    const bob = await rig.bench.person('bob');
    await bob.write(code);
    await until(async () => (await rig.claimedBy(pairingId)) === bob.id, 'the code has arrived');
    const before = await rig.turns();
    await bob.write('not yet');
    await rig.settleWith('a word after it');
    expect(await rig.turns()).toBe(before + 1);
    await rig.confirm(pairingId);
    await rig.hears(bob, /You are paired/);
    await bob.write('now I may');
    await rig.hears(bob, 'You said: now I may');
    await rig.revoke(bob.id);
    await bob.write('and now not');
    await rig.settleWith('a word at the end');
    expect(await bob.heard()).not.toContain('You said: and now not');
  });

  test('messages of one chat form one conversation, and each is answered once', options, async () => {
    const ada = await rig.ada();
    const before = await rig.turns();
    await ada.write('first of two');
    await rig.hears(ada, 'You said: first of two');
    await ada.write('second of two');
    await rig.hears(ada, 'You said: second of two');
    expect(await rig.turns()).toBe(before + 2);
    const heard = await ada.heard();
    for (const text of ['first of two', 'second of two']) expect(heard.filter((one) => one === `You said: ${text}`)).toHaveLength(1);
  });

  test('a long answer arrives complete', options, async () => {
    const ada = await rig.ada();
    await ada.write('a long answer please');
    // While the answer is being written, a part of it may be shown.
    const timesOf = async (): Promise<number[]> => {
      const all = (await ada.heard()).join('\n');
      return Array.from({ length: 120 }, (_, line) => all.split(new RegExp(`line\\s+${line}\\b`)).length - 1);
    };
    await until(async () => (await timesOf()).every((times) => times >= 1), 'every line has arrived');
    await rig.settleWith('after the long answer');
    expect(new Set(await timesOf())).toEqual(new Set([1]));
  });

  test('a file arrives with its message', options, async () => {
    const ada = await rig.ada();
    if (ada.sendFile === undefined) return;
    await ada.sendFile('notes.txt', 'the content of the notes', 'look at this file');
    await rig.hears(ada, /^You said: look at this file/);
    const events = await rig.userMessages();
    expect(events.at(-1)).toMatchObject({ attachments: [{ name: 'notes.txt' }] });
  });
}

function approvalTests(rig: ConformanceRig, options: Options): void {
  test('an approval is requested and answered in the chat', options, async () => {
    const ada = await rig.ada();
    await ada.write('write the file');
    await rig.hears(ada, rig.bench.isPlain === true ? /Wants to write asked-for\.md/ : /Wants to write asked\\?-for\.md/);
    await ada.answer('no');
    await rig.hears(ada, /That is settled\./);
    const { approvals } = await rig.claw.op('approval.list', { all: true });
    expect(approvals[0]).toMatchObject({ state: 'denied', decidedBy: `${rig.name}:${ada.id}` });
    // Answering again finds nothing to decide.
    await ada.answer('yes').catch(() => undefined);
    await rig.settleWith('the answer came twice');
    expect((await rig.claw.op('approval.list', { all: true })).approvals[0]).toMatchObject({ state: 'denied' });
  });

  test('an approval answered elsewhere closes in the chat', options, async () => {
    const ada = await rig.ada();
    const { turnId } = await rig.claw.op('message.send', { text: 'write the file' });
    await until(async () => (await rig.claw.op('approval.list', {})).approvals.length === 1, 'it is asked');
    const before = (await ada.heard()).length;
    await until(async () => (await ada.heard()).filter((text) => /Wants to write/.test(text)).length === 2, 'the chat asks');
    const [open] = (await rig.claw.op('approval.list', {})).approvals;
    await rig.claw.op('approval.decide', { approvalId: open?.approvalId ?? '', decision: 'deny' }, { channel: 'window', actor: 'window' });
    await rig.hears(ada, /Answered in the window: denied\./);
    expect(before).toBeGreaterThan(0);
    await rig.claw.op('turn.wait', { turnId, timeoutMs: 20_000 });
  });

  test('a question of an MCP server is answered in the chat or closed by another answer', options, async () => {
    const ada = await rig.ada();
    const callId = await rig.callAsking();
    await rig.hears(ada, /Which color shall it be\?/);
    await ada.choose('blue');
    await until(async () => (await rig.recorded('tool.finished')).some((one) => one.callId === callId), 'the call has ended');
    const call = (await rig.recorded('tool.finished')).find((one) => one.callId === callId);
    expect(call?.forModel).toContain('{"action":"accept","content":{"color":"blue"}}');
    const ended = { server: 's', action: 'accept', fields: ['color'], by: `${rig.name}:${ada.id}` };
    expect(await rig.recorded('mcp.answered')).toMatchObject([ended]);
    // Answering again finds nothing to decide.
    await ada.choose('red').catch(() => undefined);
    await rig.callAsking();
    const [open] = (await rig.claw.op('mcp.list', {})).questions;
    await until(async () => (await ada.heard()).filter((text) => /Which color/.test(text)).length === 2, 'the chat asks');
    const answer = { questionId: open?.questionId ?? '', action: 'decline' as const };
    await rig.claw.op('mcp.answer', answer, { channel: 'window', actor: 'window' });
    await rig.hears(ada, /Answered in the window: declined\./);
    expect((await rig.recorded('mcp.answered')).map(({ by }) => by).toSorted()).toEqual([`${rig.name}:${ada.id}`, 'window']);
  });

  test('the panic stop works from the chat and is confirmed there', options, async () => {
    const ada = await rig.ada();
    await ada.write('/panic');
    await rig.hears(ada, /Everything is stopped/);
    expect((await rig.claw.op('panic.status', {})).engaged).toBe(true);
    await rig.claw.op('panic.release', {});
  });
}

function upkeepTests(rig: ConformanceRig, options: Options): void {
  test('messages written during a pause are answered afterwards', options, async () => {
    const ada = await rig.ada();
    await rig.delivered();
    await rig.pause(true);
    await until(async () => (await rig.state()) === 'paused', 'it is paused');
    // The connection ends only now, which must not change the state.
    await sleep(200);
    expect(await rig.state()).toBe('paused');
    if (rig.bench.keepsMessages !== false) await ada.write('while it was paused');
    await rig.pause(false);
    await rig.running();
    if (rig.bench.keepsMessages === false) await ada.write('while it was paused');
    await rig.hears(ada, 'You said: while it was paused');
    expect(await rig.state()).toBe('running');
  });

  test('a cut connection is restored, and nothing is lost', options, async () => {
    const ada = await rig.ada();
    await rig.delivered();
    await rig.bench.cut();
    if (rig.bench.keepsMessages === false) await rig.running();
    await ada.write('after the cut');
    await rig.hears(ada, 'You said: after the cut');
    expect((await ada.heard()).filter((text) => text === 'You said: after the cut')).toHaveLength(1);
  });

  test('messages written while the program was away are answered once', options, async () => {
    const ada = await rig.ada();
    await rig.delivered();
    await rig.close();
    if (rig.bench.keepsMessages !== false) await ada.write('while it was away');
    await rig.open();
    if (rig.bench.keepsMessages === false) await ada.write('while it was away');
    await rig.hears(ada, 'You said: while it was away');
    await rig.settleWith('the last word');
    expect((await ada.heard()).filter((text) => text === 'You said: while it was away')).toHaveLength(1);
    await rig.delivered();
  });

  test(
    'a crash between a send and its record loses and duplicates nothing',
    { ...options, timeout: 60_000 + CRASHES * 6_000 },
    async () => {
      const ada = await rig.ada();
      const texts = Array.from({ length: CRASHES }, (_, at) => `crash ${at}`);
      for (const text of texts) {
        await rig.delivered();
        const crashed = rig.crashAfterSend();
        await ada.write(text);
        await rig.hears(ada, `You said: ${text}`);
        await crashed;
        await rig.close();
        await rig.open();
        if (rig.bench.deduplicates !== true) await rig.settleUncertain(`You said: ${text}`);
      }
      await rig.delivered();
      const heard = await ada.heard();
      for (const text of texts) expect(heard.filter((one) => one === `You said: ${text}`)).toHaveLength(1);
    },
  );

  test('the health check lists the paired people', options, async () => {
    const { checks } = await rig.claw.op('health.check', {});
    const found = checks.find(({ id }) => id === rig.name || id === `channel-${rig.name}`);
    expect(found).toMatchObject({ ok: true, detail: expect.stringMatching(/paired with 1 person/) as string });
  });

  test('a person whose pairing was ended gets nothing more, also nothing that was asked for before', options, async () => {
    const carl = await rig.bench.person('carl');
    const { code, pairingId } = await rig.offer();
    await carl.write(code);
    await until(async () => (await rig.claimedBy(pairingId)) === carl.id, 'the code has arrived');
    await rig.confirm(pairingId);
    await rig.hears(carl, /You are paired/);
    await carl.write('write the file');
    await rig.hears(carl, /Wants to write/);
    const chat = (await rig.claw.op('chat.list', {})).chats[0];
    await rig.claw.op('schedule.create', {
      name: 'to carl',
      prompt: 'a word of the schedule',
      spec: { kind: 'every', everyMs: 3_600_000 },
      deliver: `${chat?.channel}:${chat?.chatId}`,
    });
    await rig.revoke(carl.id);
    const [open] = (await rig.claw.op('approval.list', {})).approvals;
    await rig.claw.op('approval.decide', { approvalId: open?.approvalId ?? '', decision: 'deny' }, { channel: 'window', actor: 'window' });
    await rig.claw.op('turn.wait', { turnId: open?.turnId ?? '', timeoutMs: 20_000 });
    const [schedule] = (await rig.claw.op('schedule.list', {})).schedules;
    const { turnId } = await rig.claw.op('schedule.run', { scheduleId: schedule?.scheduleId ?? '' });
    await rig.claw.op('turn.wait', { turnId: turnId ?? '', timeoutMs: 20_000 });
    await rig.claw.op('schedule.remove', { scheduleId: schedule?.scheduleId ?? '' });
    await rig.settleWith('a word after the end');
    await rig.delivered();
    const heard = await carl.heard();
    expect(heard.filter((text) => /That is settled|a word of the schedule/.test(text))).toEqual([]);
  });
}
