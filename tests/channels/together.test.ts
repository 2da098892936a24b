// All channels in one program: an approval that is answered on one closes on all others, and each can engage the panic stop.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TrayClaw } from '../../core/index.ts';
import type { Plugin } from '../../core/contracts/plugin.ts';
import { startDiscordBench } from '../doubles/discord/discord-bench.ts';
import { startIrcBench } from '../doubles/irc/irc-bench.ts';
import { MailBench } from '../doubles/mail/mail-bench.ts';
import { startTelegramBench } from '../doubles/telegram/telegram-bench.ts';
import { has, needs } from '../needs.ts';
import { isSoak, soak } from '../soak.ts';
import { until } from '../until.ts';
import { ConformanceRig, type BenchPerson, type ChannelBench } from './conformance-rig.ts';
import { createSharedClock } from '../own-clock.ts';

const CLOSES_MS = isSoak ? 1_000 : 10_000;
const PANICS = soak(1, 50);
const need = 'Dovecot and aiosmtpd';

/** The benches of all channels, as one program is configured. */
const benches = new Map<string, ChannelBench>();
const rig = new ConformanceRig('telegram', async () => {
  benches.set('telegram', await startTelegramBench());
  benches.set('discord', await startDiscordBench());
  benches.set('email', (await MailBench.start()).bench);
  if (has('ngircd')) {
    const sample = new URL('../../examples/irc/irc.mjs', import.meta.url);
    benches.set('irc', await startIrcBench(((await import(sample.href)) as { feature: Plugin }).feature));
  }
  const all = [...benches.values()];
  const [telegram] = all;
  if (telegram === undefined) throw new Error('there is no bench');
  return {
    ...telegram,
    channels: Object.assign({}, ...all.map(({ channels }) => channels)) as NonNullable<ChannelBench['channels']>,
    environment: Object.assign({}, ...all.map(({ environment }) => environment)) as Record<string, string>,
    ...Object.assign({}, ...all.map(({ plugins, program }) => ({ ...(plugins && { plugins }), ...(program && { program }) }))),
    stop: async () => {
      for (const bench of all) await bench.stop();
    },
  };
});
const people = new Map<string, BenchPerson>();

beforeAll(async () => {
  if (!has(need)) return;
  await rig.start();
  for (const [name, bench] of benches) people.set(name, await pair(rig.claw, name, bench));
});
afterAll(() => rig.dispose());

async function pair(claw: TrayClaw, name: string, bench: ChannelBench): Promise<BenchPerson> {
  const isOpen = async (): Promise<boolean> =>
    (await claw.op('channel.list', {})).channels.some((one) => one.channel === name && one.state === 'running');
  await until(isOpen, `${name} is running`);
  const person = await bench.person('ada');
  const { code, pairingId } = await claw.op('channel.pair', { channel: name });
  await person.write(code);
  const claimedBy = async (): Promise<string | null> =>
    (await claw.op('channel.people', {})).people.find((one) => one.pairingId === pairingId)?.userId ?? null;
  await until(async () => (await claimedBy()) === person.id, `the code came over ${name}`);
  await claw.op('channel.confirm', { pairingId });
  await rig.hears(person, /You are paired/);
  return person;
}

const timesOf = async (person: BenchPerson, words: RegExp): Promise<number> =>
  (await person.heard()).join('\n').match(new RegExp(words.source, 'g'))?.length ?? 0;

test('an approval answered on one channel closes on all others', needs(need), async () => {
  for (const [name, person] of people) {
    const asked = new Map(
      await Promise.all([...people].map(async ([other, one]) => [other, await timesOf(one, /Wants to write/)] as const)),
    );
    const closed = new Map(await Promise.all([...people].map(async ([other, one]) => [other, await timesOf(one, /Answered by/)] as const)));
    const { turnId } = await rig.claw.op('message.send', { text: 'write the file' });
    for (const [other, one] of people) {
      await until(async () => (await timesOf(one, /Wants to write/)) > (asked.get(other) ?? 0), `${other} asks`);
    }
    // An approval can be closed only after the service has confirmed its delivery.
    await until(async () => (await rig.claw.op('outbox.list', {})).items.length === 0, 'all questions are delivered');
    await person.answer('no');
    await until(async () => (await rig.claw.op('approval.list', {})).approvals.length === 0, `${name} answered`);
    const nowMs = createSharedClock();
    const decidedMs = nowMs();
    for (const [other, one] of people) {
      if (other === name) continue;
      await until(
        async () => (await timesOf(one, /Answered by/)) > (closed.get(other) ?? 0),
        `${other} says that it was answered on ${name}`,
      );
    }
    expect(nowMs() - decidedMs).toBeLessThan(CLOSES_MS);
    await rig.claw.op('turn.wait', { turnId, timeoutMs: 20_000 });
  }
});

test('every channel can stop everything', { ...needs(need), timeout: 120_000 + PANICS * 20_000 }, async () => {
  const took: Record<string, number[]> = {};
  for (const [name, person] of people) {
    for (let time = 0; time < PANICS; time++) {
      const beganMs = performance.now();
      await person.write('/panic');
      await until(async () => (await rig.claw.op('panic.status', {})).engaged, `${name} stopped everything`);
      took[name] = [...(took[name] ?? []), performance.now() - beganMs];
      await until(async () => (await rig.claw.op('outbox.list', {})).items.length === 0, 'the answer is sent');
      await rig.claw.op('panic.release', {});
    }
  }
  if (isSoak) process.stderr.write(`panic, from writing to stopped, ms: ${JSON.stringify(p99Of(took))}\n`);
  expect(Object.keys(took)).toEqual([...people.keys()]);
});

function p99Of(took: Readonly<Record<string, readonly number[]>>): Record<string, number> {
  const p99 = (values: readonly number[]): number => Math.round(values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? 0);
  return Object.fromEntries(Object.entries(took).map(([name, values]) => [name, p99(values)]));
}
