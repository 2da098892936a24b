// Tests the check that suites run before they close a runtime: it replays every recorded turn and detects one that was decided differently.

import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { replayEveryTurn } from './replay-check.ts';
import { TestHome } from './test-home.ts';

test('replays turns with the same decisions, and detects a forged decision', async () => {
  await using home = new TestHome();
  await using model = await ScriptedModel.start([
    { user: 'fail', answer: { refuse: 'unknown-model' } },
    { user: 'loop', answer: { calls: [{ tool: 'calc', args: { expression: '1 + 1' } }] } },
    {
      user: 'read',
      results: 0,
      answer: {
        calls: [
          { tool: 'list_dir', args: { path: '.' } },
          { tool: 'nothing', args: {} },
        ],
      },
    },
    { answer: { text: 'done' } },
  ]);
  const claw = await home.open({ config: model.config('openai') });
  const statuses: string[] = [];
  for (const text of ['read the folder', 'loop for ever', 'fail at once']) statuses.push((await claw.ask(text)).status);
  await claw.op('tool.run', { tool: 'calc', args: { expression: '2 * 3' } });
  expect(statuses).toEqual(['done', 'failed', 'failed']);
  const { turns, decisions, different } = await replayEveryTurn(claw);
  expect([turns, decisions > 40, different]).toEqual([4, true, []]);
  await home.close(claw);

  const db = new Database(join(home.path, 'trayclaw.db'));
  db.prepare(`UPDATE events SET body = replace(body, '"intent":"observe"', '"intent":"respond"') WHERE type = 'brain.decided'`).run();
  db.close();
  const forged = await home.open({ config: model.config('openai') });
  expect((await replayEveryTurn(forged)).different.length).toBeGreaterThan(0);
});
