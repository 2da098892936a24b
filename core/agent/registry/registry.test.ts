import { expect, test } from 'vitest';
import { configSchema, type ConfigInput } from '../../contracts/config.ts';
import { wholeBounds } from '../../contracts/turn-bounds.ts';
import { AgentRegistry } from './registry.ts';

const files: Record<string, string> = { 'agents/editor.md': '  You edit.\n' };

const capsules = { textOfAgent: () => '', isReadOnly: () => false };

function registry(agents: NonNullable<ConfigInput['agents']> = {}): AgentRegistry {
  const config = configSchema.parse({ agents });
  return new AgentRegistry({ agents: config.agents, limits: config.helpers, capsules, readText: (path) => files[path] ?? null });
}

test('main always exists, and if it is the only agent it may call only itself', () => {
  expect(registry().list()).toEqual([
    {
      agentId: 'main',
      name: 'main',
      description: '',
      capabilities: [],
      model: null,
      tools: null,
      bounds: null,
      helpers: ['main'],
      routes: [],
    },
  ]);
});

test('main may call all agents, others only themselves, unless a list says otherwise', () => {
  const agents = registry({ scout: {}, editor: { helpers: ['scout', 'ghost'] } });
  expect(agents.helpersOf('main')).toEqual(['main', 'scout', 'editor']);
  expect(agents.helpersOf('scout')).toEqual(['scout']);
  expect(agents.helpersOf('editor')).toEqual(['scout']);
});

test('the tools of an agent limit its turns, together with its bounds and the depth', () => {
  const agents = registry({
    scout: { tools: ['look', 'put'], bounds: { tools: ['look', 'fire'], usd: 1 } },
    free: {},
    low: { bounds: { depth: 0 } },
  });
  expect(agents.boundsOf('scout')).toEqual({ ...wholeBounds, depth: 3, tools: ['look'], usd: 1 });
  expect(agents.boundsOf('free')).toBeNull();
  expect(agents.boundsOf('low')).toEqual({ ...wholeBounds, depth: 0 });
});

test('an identity is the text, the file, or both; a missing file is empty', () => {
  const agents = registry({ editor: { identity: 'Be brief.', identityFile: 'agents/editor.md' }, lost: { identityFile: 'gone.md' } });
  expect(agents.identityOf('editor')).toBe('Be brief.\n\nYou edit.');
  expect(agents.identityOf('lost')).toBe('');
  expect(agents.identityOf('main')).toBe('');
});

test('a route for the exact chat wins over its channel, and main gets the rest', () => {
  const agents = registry({ all: { routes: [{ channel: 'telegram' }] }, one: { routes: [{ channel: 'telegram', chatId: '7' }] } });
  expect(agents.route({ channel: 'telegram', chatId: '7' })).toBe('one');
  expect(agents.route({ channel: 'telegram', chatId: '8' })).toBe('all');
  expect(agents.route({ channel: 'telegram', chatId: null })).toBe('all');
  expect(agents.route({ channel: 'cli', chatId: '7' })).toBe('main');
});

test('an undeclared agent is not found, and neither is a JavaScript built-in name', () => {
  const agents = registry({ scout: {} });
  for (const agentId of ['ghost', 'constructor', '__proto__']) expect(() => agents.assertKnown(agentId)).toThrow('There is no agent');
  expect(agents.modelOf('constructor')).toBeNull();
});
