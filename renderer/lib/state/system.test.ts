// The window's state of the panic stop: an answer older than a press never hides it.

import { expect, test } from 'vitest';
import type { OpClient } from '../client.ts';
import { System } from './system.svelte.ts';

const calm = { engaged: false, sinceMs: null, reason: null, killed: 0, tookMs: null };
const models = { models: [], defaultModel: null, problem: null, offers: [] };

/** Answers at once, unless the test holds an answer back. */
function createClient(answers: Record<string, unknown>) {
  const held: (() => void)[] = [];
  const op = async (name: string): Promise<unknown> => {
    const answer = answers[name] ?? {};
    if (name === 'panic.status') await new Promise<void>((resolve) => held.push(resolve));
    return answer;
  };
  return { client: { op } as unknown as OpClient, answerStatus: () => held.splice(0).forEach((resolve) => resolve()) };
}

test('a stop pressed while the window starts stays shown when the older status arrives', async () => {
  const engaged = { engaged: true, sinceMs: 5, reason: 'Panic stop in the window', killed: 2, tookMs: 12 };
  const { client, answerStatus } = createClient({ 'panic.status': calm, 'panic.engage': engaged, 'model.list': models });
  const system = new System(client, () => undefined);
  const loading = system.load();
  await system.engagePanic();
  answerStatus();
  await loading;
  expect([system.panic, system.isPressedHere]).toEqual([engaged, true]);
});

test('without a press the status is taken as it is answered', async () => {
  const engaged = { ...calm, engaged: true, sinceMs: 5 };
  const { client, answerStatus } = createClient({ 'panic.status': engaged, 'model.list': models });
  const system = new System(client, () => undefined);
  const loading = system.load();
  answerStatus();
  await loading;
  expect(system.panic).toEqual(engaged);
});
