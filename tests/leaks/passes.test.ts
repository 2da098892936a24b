// How often one text passes the redactor during a turn, and how often one call is parsed and analysed: the current numbers, so that none
// grows unnoticed. If you can lower a number, lower it here too.

import { globSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { Redactor } from '../../core/guard/safety/safety.ts';
import { defineTool, type TrayClaw } from '../../core/index.ts';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { TestHome } from '../faults/test-home.ts';

const said = 'Please look at the notes of this week and tell me in one line what is left to do.';
const answer = 'The only thing left to do this week is the letter to the landlord, which is due on Friday.';
const argsText = JSON.stringify({ about: 'what is left to do this week' });
/** As long as the longest result that a model receives. */
const result = 'a line of the notes of this week\n'.repeat(1_450);

let home: TestHome;
let model: ScriptedModel;

beforeEach(async () => {
  home = new TestHome();
  model = await ScriptedModel.start();
});

afterEach(async () => {
  vi.restoreAllMocks();
  await home.dispose();
  await model.close();
});

/** How often the texts passed since this call. */
function count(...texts: readonly string[]) {
  const passes = vi.spyOn(Redactor.prototype, 'redact');
  const looks = vi.spyOn(Redactor.prototype, 'analyse');
  const parses = vi.spyOn(JSON, 'parse');
  const of = (calls: readonly (readonly unknown[])[], text: string): number => calls.filter(([given]) => given === text).length;
  return {
    passes: () => texts.map((text) => of(passes.mock.calls, text)),
    looks: () => texts.map((text) => of(looks.mock.calls, text)),
    parses: () => texts.map((text) => of(parses.mock.calls, text)),
  };
}

async function open(look: () => void = () => undefined): Promise<TrayClaw> {
  const notes = defineTool({
    name: 'notes',
    description: 'Reads the notes.',
    input: z.strictObject({ about: z.string() }),
    class: 'read',
    idempotency: () => 'idempotent',
    facts: () => {
      look();
      return { class: 'read', paths: [], command: null, hosts: [] };
    },
    summarize: () => 'read the notes',
    run: () => Promise.resolve({ forModel: result }),
  });
  const { providers, models } = model.config('openai');
  return home.open({ config: { providers, models }, tools: [notes] });
}

test('a message and its answer', async () => {
  model.script([{ answer: { text: answer } }]);
  const claw = await open();
  const counted = count(said, answer);
  await claw.ask(said);
  // The message: on arrival, in its event, on its way to the model. The answer: on arrival, in each of the three events that contain it, in
  // the conversation sent to the model next, and through the door.
  expect(counted.passes()).toEqual([3, 6]);
  expect(counted.looks()).toEqual([1, 1]);
  await home.close(claw);
});

test('a call and its result', async () => {
  model.script([
    { results: 0, answer: { calls: [{ tool: 'notes', args: { about: 'what is left to do this week' } }] } },
    { answer: { text: answer } },
  ]);
  let looks = 0;
  const claw = await open(() => (looks += 1));
  const counted = count(argsText, result);
  await claw.ask(said);
  // The arguments: on arrival, in the two events that contain them, on their way to the model. The result: on arrival, on its way to the
  // model, and in its event, once for the model and once for the person.
  expect(counted.passes()).toEqual([4, 4]);
  expect(counted.looks()).toEqual([1, 1]);
  // Once for the call itself, and once for the request, which includes only arguments that are an object.
  expect(counted.parses()[0]).toBe(2);
  // Once for the decision, and once more right before the call runs.
  expect(looks).toBe(2);
  await home.close(claw);
});

test('redacted text comes from the redactor, or from redacted text in these files', () => {
  const files = globSync('{core,main}/**/*.ts').filter((path) => !/\.test\.ts$|-bench\.ts$|base\/redacted\.ts$/.test(path));
  expect(files.length).toBeGreaterThan(500);
  const makers = files.filter((path) => /stillRedacted|as (?:unknown as )?Redacted/.test(readFileSync(path, 'utf8')));
  expect(makers.sort()).toEqual([
    'core/features/channels/service-channel.ts',
    'core/features/openai/passthrough.ts',
    'core/guard/safety/redact-json.ts',
    'core/guard/safety/redactor.ts',
    'core/hands/tools/hosted-result.ts',
    'core/hands/tools/tools.ts',
    'core/mind/asking/ask-model.ts',
    'core/mind/context/context.ts',
    'core/mind/context/message-rows.ts',
    'core/mind/context/pack-sections.ts',
    'core/mind/context/transcript.ts',
    'core/runtime/outbox/dispatch.ts',
  ]);
});
