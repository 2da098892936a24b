// Evals in the whole program: cases from a TypeScript file, and runs that are started, watched and stopped.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { TrayClaw } from '../../core/index.ts';
import type { Rule, ScriptedModel } from '../doubles/scripted-model.ts';
import { eachTest } from '../faults/home-and-model.ts';
import type { TestHome } from '../faults/test-home.ts';
import { evalLeftovers } from './eval-leftovers.ts';

let home: TestHome;
let model: ScriptedModel;

eachTest((made) => ({ home, model } = made));

function open(rules: readonly Rule[]): Promise<TrayClaw> {
  model.script(rules);
  return home.open({ config: { ...model.config('openai'), sandbox: { mode: 'off' } } });
}

const paris: Rule = { answer: { text: 'Paris is the capital.' } };

test('TypeScript cases are data from a confined process; a broken file is explained', async () => {
  const claw = await open([paris]);
  const folder = home.project('evals');
  mkdirSync(folder, { recursive: true });
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  write('shared.ts', "export const capitals: readonly string[] = ['France', 'Italy'];");
  const path = write(
    'capitals.cases.ts',
    `import { capitals } from './shared.ts';
     console.log('reading');
     interface Named { readonly input: string }
     export default { tests: capitals.map((of): Named & { assert: object[] } => ({ input: 'Capital of ' + of + '?', assert: [{ type: 'contains', value: 'Paris' }] })) };`,
  );
  const run = await claw.op('eval.run', { path });
  expect([run.finished, run.running]).toEqual([true, false]);
  expect(run.cases.map(({ name, verdict }) => [name, verdict])).toEqual([
    ['Capital of France?', 'pass'],
    ['Capital of Italy?', 'pass'],
  ]);
  // In a folder, only files named as cases are run.
  expect((await claw.op('eval.run', { path: folder })).planned).toBe(2);
  const failing = async (name: string, text: string): Promise<string> =>
    claw.op('eval.run', { path: write(name, text) }).then(
      () => 'it ran',
      (cause: unknown) => (cause as Error).message.replace(folder, ''),
    );
  expect(await failing('a.ts', "throw new TypeError('no such thing');")).toBe('/a.ts cannot be used: TypeError: no such thing.');
  expect(await failing('b.ts', 'export const cases = 1;')).toBe('/b.ts cannot be used: it has no default export with cases.');
  expect(await failing('c.ts', 'export default { tests: [] };')).toContain('/c.ts cannot be used: tests');
  expect(await failing('d.ts', 'process.exit(0);')).toBe('/d.ts cannot be used: it has no default export with cases.');
});

test('a run in the background shows its progress, and is stopped with its results', async () => {
  const held = Promise.withResolvers<void>();
  const claw = await open([{ user: /second/, answer: { text: 'Paris', holds: [{ afterFrames: 1, until: held.promise }] } }, paris]);
  const tests = ['first', 'second', 'third'].map((input) => ({ input, assert: [{ type: 'contains' as const, value: 'Paris' }] }));
  const path = join(home.project('evals'), 'cases.yaml');
  mkdirSync(home.project('evals'), { recursive: true });
  writeFileSync(path, stringify({ tests }));
  const started = await claw.op('eval.run', { path, wait: false, parallel: 1 });
  expect([started.running, started.planned, started.finished]).toEqual([true, 3, false]);
  expect(started.exported).toContain('It is still running.');
  const now = async () => (await claw.op('eval.list', {})).runs[0];
  await expect.poll(async () => (await now())?.passed).toBe(1);
  expect(await claw.op('eval.stop', { runId: 'last' })).toEqual({ runId: started.runId, stopped: true });
  held.resolve();
  expect(await now()).toMatchObject({ running: false, finished: false, passed: 1, planned: 3 });
  expect(await claw.op('eval.stop', { runId: 'last' })).toMatchObject({ stopped: false });
  expect(evalLeftovers()).toEqual([]);
});
