// The forms of the public sets, in samples written for this test.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkByRule } from './assertions.ts';
import { declaredTool } from './declared-tool.ts';
import { readSuite, type SuiteCase } from './suite-file.ts';

const noCode = () => Promise.reject(new Error('there is no code here'));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sets-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(files: Readonly<Record<string, readonly object[] | string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), typeof content === 'string' ? content : content.map((line) => JSON.stringify(line)).join('\n'));
  }
}

function verdicts({ asserts }: SuiteCase, calls: readonly (readonly [string, object])[]): (boolean | undefined)[] {
  const made = calls.map(([tool, args]) => ({ tool, args: JSON.stringify(args) }));
  const outcome = { status: 'done', text: '', calls: made, files: {}, costUsd: 0, tookMs: 0 };
  return asserts.map((one) => checkByRule(one, outcome)?.pass);
}

const area = {
  name: 'shape.area',
  description: 'The area.',
  parameters: {
    type: 'dict',
    properties: {
      sides: { type: 'tuple', items: { type: 'float' }, default: '[1, 2]' },
      unit: { type: 'String', enum: ['cm', 'm'] },
      options: { type: 'dict', properties: { round: { type: 'any' } } },
    },
    required: ['sides'],
  },
};
const right = { sides: [[3, 4.5]], unit: ['', 'cm'], options: ['', { round: [2, 3] }] };

test('the Berkeley leaderboard: right values, those that may be left out, irrelevance; parts of several turns are left out', async () => {
  put({
    'BFCL_v4_multiple.json': [{ id: 'multiple_0', question: [[{ role: 'user', content: 'How large?' }]], function: [area] }],
    'possible_answer/BFCL_v4_multiple.json': [{ id: 'multiple_0', ground_truth: [{ 'shape.area': right }] }],
    'BFCL_v4_irrelevance.json': [{ id: 'irrelevance_0', question: [[{ role: 'user', content: 'Who is it?' }]], function: [area] }],
    'BFCL_v4_multi_turn_base.json': [{ id: 'multi_turn_0', question: [], other: true }],
  });
  const [none, one, ...others] = await readSuite(folder, noCode);
  if (none === undefined || one === undefined) throw new Error('a case is missing');
  expect([none.name, one.name, others]).toEqual(['irrelevance_0', 'multiple_0', []]);
  expect([verdicts(none, []), verdicts(none, [['shape_area', {}]])]).toEqual([[true], [false]]);
  for (const args of [{ sides: [3, 4.5] }, { sides: [3, 4.5], unit: 'CM' }, { sides: [3, 4.5], options: { round: 3 } }])
    expect([args, verdicts(one, [['shape_area', args]])]).toEqual([args, [true, true]]);
  for (const args of [
    {},
    { sides: [4.5, 3] },
    { sides: [3, 4.5], unit: 'm' },
    { sides: [3, 4.5], colour: 'red' },
    { sides: [3, 4.5], options: { round: 4 } },
  ])
    expect([args, verdicts(one, [['shape_area', args]])]).toEqual([args, [true, false]]);
  const [tool] = one.tools.map(declaredTool);
  const takes = (args: object): boolean | undefined => tool?.input.safeParse(args).success;
  expect([
    takes({ sides: [3, 4.5], unit: 'cm' }),
    takes({ sides: ['3'] }),
    takes({ unit: 'cm' }),
    takes({ sides: [3], unit: 'km' }),
  ]).toEqual([true, false, false, false]);
});

test('tau2: the request under the policy, the calls of the agent alone, and a rubric', async () => {
  const actions = [
    { name: 'find_user', arguments: { zip: '19122' } },
    { name: 'turn_on', arguments: {}, requestor: 'user' },
  ];
  const instructions = { reason_for_call: 'Exchange my keyboard.', known_info: 'You are Ada.' };
  const criteria = { actions, nl_assertions: ['It says when.', 'It is polite.'] };
  put({
    'policy.md': 'Never refund.',
    'tasks.json': JSON.stringify([{ id: '0', user_scenario: { instructions }, evaluation_criteria: criteria }]),
  });
  const [one] = await readSuite(folder, noCode);
  expect(one?.input).toMatch(/Never refund\.[\s\S]*Exchange my keyboard\.\nYou are Ada\./);
  expect(one?.asserts).toEqual([
    { type: 'tool', value: { name: 'find_user', args: { zip: '19122' } } },
    { type: 'llm-rubric', value: '- It says when.\n- It is polite.' },
  ]);
});

test('a damaged set is refused by name', async () => {
  put({ 'BFCL_v4_multiple.json': '{"id":', 'possible_answer/BFCL_v4_multiple.json': '' });
  await expect(readSuite(folder, noCode)).rejects.toThrow(/looks like a public set/);
});
