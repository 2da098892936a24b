import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PolicyRule } from '../../contracts/config.ts';
import type { CallFacts } from '../../contracts/tools.ts';
import { domainSets } from '../safety/safety.ts';
import { ConfigRules } from './config-rules.ts';
import { hiddenRules } from './hidden-rules.ts';

const rule = (then: PolicyRule['then'], when: PolicyRule['when']): PolicyRule => ({ then, when });

test.each<[string, PolicyRule[], [number, number][]]>([
  ['the same tool', [rule('allow', { tools: ['exec'] }), rule('deny', { tools: ['exec'] })], [[2, 1]]],
  ['a wider name', [rule('ask', { tools: ['read_*'] }), rule('deny', { tools: ['read_file', 'read_x*'] })], [[2, 1]]],
  ['fewer conditions', [rule('deny', { classes: ['network'] }), rule('allow', { classes: ['network'], hosts: ['a.example'] })], [[2, 1]]],
  ['all of its hosts', [rule('deny', { hosts: ['a.example', 'b.example'] }), rule('allow', { hosts: ['b.example'] })], [[2, 1]]],
  ['a third', [rule('ask', { tools: ['exec'] }), rule('ask', { tools: ['glob'] }), rule('deny', { tools: ['glob'] })], [[3, 2]]],
  ['a narrower one first', [rule('allow', { tools: ['exec'], commands: ['ls'] }), rule('deny', { tools: ['exec'] })], []],
  ['other agents', [rule('deny', { agents: ['a'] }), rule('allow', { tools: ['exec'] })], []],
  ['part of a call', [rule('allow', { hosts: ['a.example'] }), rule('deny', { hosts: ['a.example'] })], []],
  ['a command with hosts', [rule('allow', { hosts: ['a.example'] }), rule('allow', { hosts: ['a.example'], commands: ['curl'] })], []],
  ['words that deny elsewhere', [rule('ask', { commands: ['git status'] }), rule('allow', { commands: ['git status'] })], []],
])('%s', (_, rules, expected) => {
  expect(hiddenRules(rules).map(({ number, by }) => [number, by])).toEqual(expected);
});

const some = <T>(...values: T[]) =>
  fc.option(fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 2 }), { nil: undefined });
const anyRule = fc
  .record({
    then: fc.constantFrom('allow' as const, 'ask' as const, 'deny' as const),
    when: fc.record({
      tools: some('exec', 'read_file', 'read_*', 'r*'),
      classes: some('read' as const, 'exec' as const, 'network' as const),
      agents: some('main', 'm*', 'other'),
      hosts: some('a.example', 'b.example'),
      paths: some('notes', '/x'),
      commands: some('git status', 'ls'),
    }),
  })
  .map(({ then, when }) => rule(then, Object.fromEntries(Object.entries(when).filter(([, list]) => list !== undefined))))
  .filter(({ when }) => Object.keys(when).length > 0);
const anyCall = fc
  .record({
    tool: fc.constantFrom('exec', 'read_file', 'read_x', 'run'),
    class: fc.constantFrom('read' as const, 'exec' as const, 'network' as const),
    hosts: fc.subarray(['a.example', 'b.example', 'c.example']),
    paths: fc.subarray(['/w/notes', '/x', '/y']),
    line: fc.constantFrom(null, 'git status', 'ls', 'git -C x status'),
    agentId: fc.constantFrom('main', 'other'),
  })
  .map(({ tool, class: kind, hosts, paths, line, agentId }) => {
    const argv = line?.split(' ') ?? [];
    const plain = { argv, reads: null, family: line?.startsWith('git') === true ? ['git', 'status'] : argv, sayable: true, bindings: [] };
    const facts: CallFacts = {
      class: kind,
      hosts,
      paths: paths.map((real) => ({ given: real, real, access: 'read', insideWorkspace: true, protectedBy: null })),
      command: line === null ? null : { line, cwd: '/w', plain },
    };
    return { tool, facts, origin: { channel: 'cli', agentId } };
  });

test('no call of any kind finds a hidden rule', () => {
  const reading = { workspace: '/w', domains: domainSets, entryWords: (text: string) => text.split(' ') };
  fc.assert(
    fc.property(fc.array(anyRule, { minLength: 2, maxLength: 5 }), fc.array(anyCall, { minLength: 1, maxLength: 40 }), (rules, calls) => {
      const hidden = new Set(hiddenRules(rules).map(({ number }) => number));
      const ready = new ConfigRules(rules, reading);
      for (const call of calls) expect(hidden.has(ready.firstFor(call)?.number ?? 0)).toBe(false);
    }),
    { numRuns: 2000 },
  );
});
