// A message to a session whose earlier turn waits for the person, sent without a terminal. The command says so and ends. The message is
// answered once the person decided about the earlier turn.

import { expect, onTestFinished, test } from 'vitest';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { TestHome } from '../faults/test-home.ts';

interface Asked {
  readonly status: string;
  readonly text: string;
  readonly sessionId: string;
  readonly pending?: readonly { readonly approvalId: string }[];
}

test('a message behind a waiting turn names what it waits for, and follows it', { timeout: 120_000 }, async () => {
  const write = { tool: 'write_file', args: { path: 'a.txt', content: 'a' } };
  const model = await ScriptedModel.start([
    { user: 'write', results: 0, answer: { calls: [write] } },
    { user: 'write', answer: { text: 'Written.' } },
    { user: 'second', answer: { text: 'Also done.' } },
  ]);
  onTestFinished(() => model.close());
  const home = new TestHome();
  onTestFinished(() => home.dispose());
  home.configure(model.config('openai'));

  const first = await home.command(['ask', 'write']);
  const { sessionId, pending } = first.json as Asked;
  const approvalId = pending?.[0]?.approvalId ?? '';
  const second = await home.command(['ask', 'second', '--session', sessionId]);
  expect(second).toMatchObject({ code: 3, json: { sessionId, status: 'waiting', pending: [{ approvalId }] } });
  expect(second.stderr).toContain('An earlier turn of this session waits for you.');

  await home.command(['approvals', 'approve', approvalId]);
  const third = await home.command(['ask', 'second again', '--session', sessionId]);
  expect(third).toMatchObject({ code: 0, json: { status: 'done', text: 'Also done.' } });
  expect(model.requests.filter(({ userText }) => userText.includes('second'))).toHaveLength(2);
});
