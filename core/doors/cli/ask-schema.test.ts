// `ask --schema` prints only a value to standard output.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FakeClaw, type Step } from '../../../tests/doubles/fake-claw.ts';
import { fakeParts, runCommand } from '../../../tests/doubles/fake-terminal.ts';
import { noUsage } from '../../contracts/llm.ts';

function scripted(step: Step): FakeClaw {
  const claw = new FakeClaw();
  claw.scripts.push([step]);
  return claw;
}

test('ask --schema prints only the value, and nothing if the turn failed', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'trayclaw-schema-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const schema = { type: 'object', properties: { people: { type: 'integer' } } };
  writeFileSync(join(cwd, 'town.json'), JSON.stringify(schema));
  writeFileSync(join(cwd, 'bad.json'), '{');
  writeFileSync(join(cwd, 'list.json'), '[]');
  const ask = (file: string, claw: FakeClaw, ...more: string[]) =>
    runCommand(['ask', 'x', '--schema', join(cwd, file), ...more], fakeParts(claw));
  const answering = (): FakeClaw => {
    const claw = scripted({ say: 'four people' });
    claw.answers = { 'turn.value': ({ turnId }) => ({ turnId, value: { people: 4 }, model: null, usage: noUsage, costUsd: 0 }) };
    return claw;
  };
  const claw = answering();
  expect(await ask('town.json', claw)).toEqual({ code: 0, out: '{\n  "people": 4\n}\n', err: '' });
  expect(claw.calls.find(({ name }) => name === 'turn.value')?.params).toEqual({ turnId: 'trn_1', schema });
  const json = await ask('town.json', answering(), '--json');
  expect(JSON.parse(json.out)).toMatchObject({ text: 'four people', value: { people: 4 } });
  const failed = scripted({ fail: { code: 'model_timeout', message: 'The model took too long.' } });
  expect(await ask('town.json', failed)).toEqual({ code: 1, out: '', err: 'The model took too long.\n' });
  expect(failed.calls.some(({ name }) => name === 'turn.value')).toBe(false);
  // A missing file fails as in every other command that takes a file.
  for (const [file, code] of [
    ['bad.json', 2],
    ['list.json', 2],
    ['none.json', 1],
  ] as const) {
    const none = new FakeClaw();
    expect(await ask(file, none)).toMatchObject({ code, err: expect.stringContaining(file) as unknown });
    expect(none.calls).toEqual([]);
  }
  expect((await runCommand(['ask', '/calc 1+1', '--schema', join(cwd, 'town.json')], fakeParts(new FakeClaw()))).code).toBe(2);
});
