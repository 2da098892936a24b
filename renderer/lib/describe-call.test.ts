// A call described in one line.

import { expect, test } from 'vitest';
import { describeCall, labelOf, nameTool, stepsOfPlan } from './describe-call.ts';
import { chat } from './i18n/english/chat.ts';

const proposed = JSON.stringify({ action: 'propose', steps: ['Read notes.md', 'Write report.md'] });

test('a proposed plan reads as its steps, and only a plan that is asked about has steps', () => {
  const look = { verb: 'propose_plan', target: ['text', 'steps'] };
  expect(describeCall({ tool: 'plan', args: proposed, state: 'ok' }, look, chat)).toEqual({
    verb: 'Proposed a plan:',
    target: 'Read notes.md, Write report.md',
  });
  expect(stepsOfPlan(proposed, { approvesPlan: true })).toEqual(['Read notes.md', 'Write report.md']);
  expect(stepsOfPlan(proposed, {})).toBe(null);
  expect(stepsOfPlan('{"action":"next","step":1,"text":"Read notes.md"}', { approvesPlan: true })).toBe(null);
  expect(stepsOfPlan('{"action":"propose","steps":["a",2]}', { approvesPlan: true })).toBe(null);
});

test('a kind of call is named by its verb without what belongs to the object, and an unknown tool by its own name', () => {
  const named = ['use_tasks', 'search_web', 'take_picture', 'append'].map((verb) => nameTool('tool', { verb, target: [] }, chat));
  expect(named).toEqual(['use the task list', 'search the web', 'take a picture', 'append']);
  expect(nameTool('server__run', null, chat)).toBe('server__run');
});

test.each([
  ['max_bytes', 'Max bytes'],
  ['scheduleId', 'Schedule id'],
  ['action', 'Action'],
  ['url', 'URL'],
  ['baseUrl', 'Base URL'],
  ['', ''],
])('the argument "%s" has the label "%s"', (name, label) => {
  expect(labelOf(name)).toBe(label);
});
