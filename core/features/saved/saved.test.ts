// Saved prompts through the whole program: kept across a restart, offered for /prompt, and sent with additional text.

import { expect, onTestFinished, test } from 'vitest';
import { TestHome } from '../../../tests/faults/test-home.ts';
import { ScriptedModel } from '../../../tests/doubles/scripted-model.ts';

test('a prompt is saved, completed by name, sent with further text, and removed', async () => {
  const model = await ScriptedModel.start([{ answer: { text: 'Done.' } }]);
  const home = new TestHome();
  onTestFinished(async () => {
    await home.dispose();
    await model.close();
  });
  let claw = await home.open({ config: model.config('openai') });
  await claw.op('saved.put', { name: 'weekly-report', text: 'Sum up\nthis week.' });
  await home.close(claw);
  claw = await home.open({ config: model.config('openai') });
  expect((await claw.op('saved.list', {})).prompts).toMatchObject([{ name: 'weekly-report', text: 'Sum up\nthis week.' }]);
  expect((await claw.op('command.complete', { line: '/prompt we' })).completions).toEqual([
    { line: 'Sum up\nthis week.', label: 'weekly-report', about: 'Sum up\nthis week.' },
  ]);
  const ran = await claw.op('command.run', { line: '/prompt weekly-report In one line.' });
  await claw.op('turn.wait', { turnId: ran.turnId ?? '' });
  expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('Sum up\\nthis week.\\n\\nIn one line.');
  await expect(claw.op('command.run', { line: '/prompt nothing' })).rejects.toMatchObject({ code: 'not_found' });
  await expect(claw.op('saved.put', { name: 'Not a name', text: 'x' })).rejects.toMatchObject({ code: 'invalid_params' });
  await claw.op('saved.remove', { name: 'weekly-report' });
  await expect(claw.op('saved.remove', { name: 'weekly-report' })).rejects.toMatchObject({ code: 'not_found' });
});

test('a prompt is not saved under a secret', async () => {
  const home = new TestHome();
  onTestFinished(() => home.dispose());
  home.env['LAB_KEY'] = 'weekly-report-secret-7';
  const lab = { kind: 'openai-compatible' as const, baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'env:LAB_KEY' };
  const claw = await home.open({ config: { providers: { lab } } });
  const put = claw.op('saved.put', { name: 'weekly-report-secret-7', text: 'x' });
  await expect(put).rejects.toMatchObject({ code: 'invalid_params' });
  expect((await claw.op('saved.list', {})).prompts).toEqual([]);
});
