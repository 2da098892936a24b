// The preview of the next model request: it contains what the request then contains, asks no model, and leaves no trace.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createTrayClaw } from '../../core/index.ts';

test('a preview is the request that follows, and records nothing', async () => {
  const home = mkdtempSync(join(tmpdir(), 'tcv-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const claw = await createTrayClaw({ home, config: { models: { default: 'demo/offline' } }, environment: {} });
  onTestFinished(() => claw.close());
  await claw.op('memory.add', { text: 'The ferry to Hven leaves at nine.', kind: 'fact' });
  const { sessionId } = await claw.ask('Hello');
  await claw.op('rule.pin', { text: 'Answer in metric units.', sessionId });
  const before = await claw.op('activity.search', { limit: 100 });
  const preview = await claw.op('pack.preview', { sessionId, text: 'When does the ferry leave?' });
  expect(await claw.op('activity.search', { limit: 100 })).toEqual(before);
  expect(preview.model).toBe('demo/offline');
  expect(preview.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user', 'note']);
  expect(preview.messages[0]?.text).toContain('Answer in metric units.');
  expect(preview.messages.at(-1)?.text).toContain('The ferry to Hven leaves at nine.');

  await claw.ask('When does the ferry leave?', { sessionId });
  const { packs } = await claw.op('pack.list', { sessionId, limit: 1 });
  const sent = await claw.op('pack.get', { packId: packs[0]?.packId ?? '' });
  const { sections, tokens, budgetTokens } = sent;
  expect({ sections: preview.sections, tokens: preview.tokens, budgetTokens: preview.budgetTokens }).toEqual({
    sections,
    tokens,
    budgetTokens,
  });
  expect(preview.messages.slice(1)).toEqual(sent.messages.slice(1));
});

test('a session that would begin has a preview too, and one that is not there has none', async () => {
  const home = mkdtempSync(join(tmpdir(), 'tcv-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const claw = await createTrayClaw({ home, config: { models: { default: 'demo/offline' } }, environment: {} });
  onTestFinished(() => claw.close());
  const { messages, sections } = await claw.op('pack.preview', { text: 'Hello' });
  expect(messages.map(({ role, text }) => (role === 'system' ? role : text))).toEqual(['system', 'Hello']);
  expect(sections.map(({ name }) => name)).toEqual(['system', 'messages', 'tools']);
  await expect(claw.op('pack.preview', { sessionId: 'ses_none' })).rejects.toMatchObject({ code: 'not_found' });
  await expect(claw.op('pack.preview', { model: 'none/such' })).rejects.toMatchObject({ code: 'model_unknown' });
});
