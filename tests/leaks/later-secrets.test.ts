// A secret that becomes known after it was said: the log already contains it, but from that moment no output of the same program run
// reveals it.

import { expect, test } from 'vitest';
import { LoopbackChannel } from '../doubles/loopback-channel.ts';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { TestHome } from '../faults/test-home.ts';

const secret = 'plum orchard at nine';
const passphrase = 'correct horse battery';

async function withVault(model: ScriptedModel): Promise<TestHome> {
  const home = new TestHome();
  home.env['TRAYCLAW_VAULT_PASSPHRASE'] = passphrase;
  const { providers, models } = model.config('openai');
  home.configure({ secrets: { store: 'vault' }, providers, models });
  return Promise.resolve(home);
}

test('the model no longer receives it in an ongoing conversation', async () => {
  await using model = await ScriptedModel.start();
  await using home = await withVault(model);
  const claw = await home.open();
  const call = { tool: 'calc', args: { expression: `1 + 1 # ${secret}` } };
  model.script([{ results: 0, answer: { text: `I keep ${secret} in mind.`, calls: [call] } }, { answer: { text: `It was ${secret}.` } }]);
  const { sessionId } = await claw.ask(`remember ${secret}`);
  const before = JSON.stringify(model.requests.map(({ body }) => body));
  expect(before.split(secret).length).toBeGreaterThan(3);
  model.requests.length = 0;
  await claw.op('secret.set', { name: 'place', value: secret });
  model.script([{ answer: { text: 'I will.' } }]);
  expect((await claw.ask('go on', { sessionId })).status).toBe('done');
  const sent = JSON.stringify(model.requests.map(({ body }) => body));
  await home.close(claw);
  expect(sent).toContain('remember [redacted:place]');
  expect(sent).not.toContain(secret);
});

test('a message that waited for its channel is delivered without it', async () => {
  await using model = await ScriptedModel.start();
  await using home = await withVault(model);
  const loop = new LoopbackChannel();
  const claw = await home.open({ channels: [loop] });
  model.script([{ answer: { text: `It is ${secret}.` } }]);
  loop.goOffline();
  const receipt = loop.write('where?');
  if (receipt.kind !== 'accepted') throw new Error(receipt.kind);
  await claw.op('turn.wait', { turnId: receipt.turnId });
  await expect.poll(async () => (await claw.op('outbox.list', {})).items.length).toBe(1);
  await claw.op('secret.set', { name: 'place', value: secret });
  loop.goOnline();
  await expect.poll(() => loop.shown.length).toBe(1);
  await home.close(claw);
  expect(JSON.stringify(loop.shown)).not.toContain(secret);
  expect(loop.shown.map(({ text }) => text)).toEqual(['It is [redacted:place].']);
});
