// Which tools are left out if a request accepts no more of them.

import { expect, test } from 'vitest';
import type { ChatMessage, ToolSchema } from '../../contracts/llm.ts';
import { toolPriority, withinToolLimit } from './tool-priority.ts';

const tool = (name: string, description = 'Does something.'): ToolSchema => ({ name, description, parameters: { type: 'object' } });
const many = (count: number): ToolSchema[] => Array.from({ length: count }, (_, at) => tool(`tool_${String(at).padStart(3, '0')}`));
const said = (text: string): ChatMessage => ({ role: 'user', text });
const called = (name: string): ChatMessage => ({ role: 'assistant', text: '', calls: [{ id: 'c', tool: name, args: '{}' }] });

test('a list up to the limit stays the same object', () => {
  const tools = many(128);
  expect(withinToolLimit(tools, [said('go')])).toBe(tools);
});

test('a longer list keeps built-in, called and requested tools, in the given order', () => {
  const own = toolPriority.map((name) => tool(name));
  const tools = [
    ...many(150),
    tool('ticket_close', 'Closes a ticket.'),
    tool('used_once'),
    tool('weather', 'The weather of a city.'),
    ...own,
  ];
  const kept = withinToolLimit(tools, [
    said('Close my ticket'),
    called('used_once'),
    said('And the weather?\n\nThe person attached "ticket": x'),
  ]);
  const names = kept.map(({ name }) => name);
  expect(kept).toHaveLength(128);
  expect(names.slice(-own.length)).toEqual([...toolPriority]);
  expect(names).toEqual(expect.arrayContaining(['used_once', 'weather']));
  expect(names).not.toContain('ticket_close');
  expect(names).toEqual(tools.filter((one) => kept.includes(one)).map(({ name }) => name));
});

test('calling a tool does not change which tools the next step gets', () => {
  const tools = [...many(150), tool('weather')];
  const before = withinToolLimit(tools, [said('weather')]);
  expect(withinToolLimit(tools, [said('weather'), called('tool_003')])).toEqual(before);
});
