// The example of a chat service outside the source tree: IRC in one file of examples/, over a real server.

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { Plugin } from '../../core/contracts/plugin.ts';
import { sleep as pause } from '../../core/base/waits.ts';
import { needs } from '../needs.ts';
import { ConformanceRig } from './conformance-rig.ts';
import { channelConformance } from './conformance.ts';
import { IrcPerson, startIrcBench } from '../doubles/irc/irc-bench.ts';

const sample = new URL('../../examples/irc/irc.mjs', import.meta.url);

channelConformance(
  'irc',
  async () => {
    const { feature } = (await import(sample.href)) as { feature: Plugin };
    return startIrcBench(feature);
  },
  'ngircd',
);

async function open(settings: object = {}): Promise<ConformanceRig> {
  const { feature } = (await import(sample.href)) as { feature: Plugin };
  const rig = new ConformanceRig('irc', async () => {
    const bench = await startIrcBench(feature, settings);
    // The conformance waits only briefly for the next part of a text.
    return { ...bench, program: { ...bench.program, wait: (ms, signal) => pause(ms, signal) } };
  });
  onTestFinished(() => rig.dispose());
  await rig.start();
  return rig;
}

test('a quiet server is asked before it is left', needs('ngircd'), async () => {
  const rig = await open({ silenceSeconds: 1 });
  const since = async () => (await rig.claw.op('channel.list', {})).channels.map(({ state, sinceMs }) => ({ state, sinceMs }));
  const before = await since();
  await sleep(3_500);
  expect(await since()).toEqual(before);
});

test('a long text that the client sends as several lines is one message', needs('ngircd'), async () => {
  const rig = await open();
  const lines = ['first', 'second', 'third'].map((word) => `${word} ${'word '.repeat(80)}`.trim());
  const ada = await rig.ada();
  for (const line of [...lines, 'the end']) await ada.write(line);
  await rig.hears(ada, /^You said: first/);
  expect((await rig.userMessages()).map((body) => (body as { text: string }).text)).toEqual([[...lines, 'the end'].join('\n')]);
});

test('a message that the server refuses is not taken for sent', needs('ngircd'), async () => {
  const rig = await open();
  const ada = await rig.ada();
  if (!(ada instanceof IrcPerson)) throw new Error('people of the bench are of IRC');
  ada.block(true);
  ada.write('are you there');
  const waiting = async () => (await rig.claw.op('outbox.list', {})).items.map(({ text, reason }) => ({ text, reason }));
  await expect.poll(waiting).toEqual([{ text: 'You said: are you there', reason: expect.stringContaining('The IRC server refused it') }]);
  ada.block(false);
  await rig.hears(ada, 'You said: are you there');
});

test('names that differ in brackets are different people, whatever the server thinks of them', needs('ngircd'), async () => {
  const { feature } = (await import(sample.href)) as { feature: Plugin };
  const rig = new ConformanceRig('irc', () => startIrcBench(feature));
  onTestFinished(() => rig.dispose());
  await rig.start();
  const odd = await rig.bench.person('Ad[a]');
  const { code, pairingId } = await rig.offer();
  await odd.write(code);
  await expect.poll(() => rig.claimedBy(pairingId)).toMatch(/^ad\[a\]!~?person@/);
});

test('a part fits into what servers keep of a client before they close its connection', async () => {
  const { partsOf } = (await import(sample.href)) as { partsOf: (text: string) => { text: string }[] };
  const parts = partsOf(Array.from({ length: 50 }, (_, at) => `${at} ${'wörter '.repeat(90)}`).join('\n'));
  const target = `PRIVMSG #${'x'.repeat(49)} :\r\n`.length;
  // ircd-hybrid keeps 2,560 bytes unless its settings say otherwise.
  for (const { text } of parts) expect(Buffer.byteLength(text) + target * text.split('\n').length).toBeLessThan(2_500);
});

test('the example stays small', () => {
  expect(readFileSync(sample, 'utf8').split('\n').length).toBeLessThanOrEqual(250);
});
