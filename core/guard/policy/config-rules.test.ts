import { expect, test } from 'vitest';
import { configSchema, type PolicyRule } from '../../contracts/config.ts';
import type { CallFacts } from '../../contracts/tools.ts';
import { ConfigRules } from './config-rules.ts';
import { pathGlob } from './path-glob.ts';
import { entryWords, facts, fetchFrom, npmTest, path, plainCommand } from '../../../tests/rigs/policy-bench.ts';
import { workMs } from '../../../tests/own-clock.ts';

const listed = (entries: readonly string[]) => ({ covers: (host: string) => entries.includes(host) });
const origin = { channel: 'cli', agentId: 'main' };

function fits(rule: PolicyRule, given: CallFacts, call: { tool?: string; channel?: string; agentId?: string } = {}): boolean {
  const { tool = 'put', ...from } = call;
  return (
    new ConfigRules([rule], { workspace: '/ws', domains: listed, entryWords }).firstFor({
      tool,
      facts: given,
      origin: { ...origin, ...from },
    }) !== null
  );
}
const rule = (then: PolicyRule['then'], when: PolicyRule['when']): PolicyRule => ({ when, then });
const unclear = (line: string): CallFacts => facts('exec', [], { line, cwd: '/ws', unclear: 'it is more than one command' });
const two = facts('write', [path('/ws/notes/a'), path('/ws/b')]);

test.each([
  ['notes', '/ws/notes', true],
  ['notes', '/ws/notes/deep/a', true],
  ['notes/', '/ws/notes/a', true],
  ['notes', '/ws/notes2', false],
  ['notes', '/other/notes', false],
  ['*.md', '/ws/a.md', true],
  ['*.md', '/ws/sub/a.md', false],
  ['**/*.md', '/ws/a.md', true],
  ['**/*.md', '/ws/sub/deep/a.md', true],
  ['src/**/test', '/ws/src/test/a', true],
  ['src/**/test', '/ws/src/a/b/test', true],
  ['src/**', '/ws/src', true],
  ['src/**', '/ws/srcx', false],
  ['a?c', '/ws/abc', true],
  ['a?c', '/ws/a/c', false],
  ['a+(b)', '/ws/a+(b)', true],
  ['a.b', '/ws/aXb', false],
  ['/etc', '/etc/hosts', true],
  ['.', '/ws/a', true],
  ['Notes', '/ws/notes/a', false],
])('the path pattern %s and %s: %s', (pattern, real, matches) => {
  expect(pathGlob(pattern, '/ws', false)(real)).toBe(matches);
});

test('rules that deny or ask ignore case, as some disks do', () => {
  expect([fits(rule('deny', { paths: ['Secret'] }), facts('write', [path('/ws/secret/a')])), pathGlob('A', '/ws', true)('/ws/a')]).toEqual([
    true,
    true,
  ]);
  expect(fits(rule('allow', { paths: ['Notes'] }), facts('write', [path('/ws/notes/a')]))).toBe(false);
});

test('matches a pattern with many stars in little time', () => {
  const matches = pathGlob(`${'*a'.repeat(20)}/**/**/**/**/x`, '/ws', true);
  const tookMs = workMs(() => {
    expect(matches(`/ws/${'a'.repeat(60)}/${'y/'.repeat(60)}`)).toBe(false);
  });
  expect(tookMs).toBeLessThan(1000);
});

test('deny and ask rules match any part of a call; allow rules need every part', () => {
  const notes = { paths: ['notes'] };
  expect([fits(rule('deny', notes), two), fits(rule('ask', notes), two), fits(rule('allow', notes), two)]).toEqual([true, true, false]);
  const hosts = { hosts: ['a.example'] };
  const both = fetchFrom('a.example', 'b.example');
  expect([fits(rule('deny', hosts), both), fits(rule('allow', hosts), both), fits(rule('allow', hosts), fetchFrom('a.example'))]).toEqual([
    true,
    false,
    true,
  ]);
  expect([fits(rule('allow', hosts), facts('network')), fits(rule('allow', notes), facts('write'))]).toEqual([false, false]);
});

test('all conditions must hold; one entry of each list is enough', () => {
  const when = { tools: ['x', 'pu*'], classes: ['write' as const], agents: ['main'], channels: ['cli', 'http'] };
  const write = facts('write', [path('/ws/a')]);
  expect([
    fits(rule('ask', when), write),
    fits(rule('ask', when), write, { tool: 'push' }),
    fits(rule('ask', when), write, { tool: 'get' }),
    fits(rule('ask', when), write, { channel: 'telegram' }),
    fits(rule('ask', when), write, { agentId: 'other' }),
    fits(rule('ask', when), facts('read')),
  ]).toEqual([true, true, false, false, false, false]);
});

test('denies a command by words anywhere, allows it only if they say everything', () => {
  const push = { commands: ['git push'] };
  // However the command is started: these are free if no rule names them.
  const started = ['env LC_ALL=C git push', 'timeout 9 git push', 'xargs -n 1 git push', 'git -C sub push', 'git --no-pager -c a=b push x'];
  for (const line of started) expect([line, fits(rule('deny', push), plainCommand(line))]).toEqual([line, true]);
  for (const line of ['git log push', 'git', 'echo git push'])
    expect([line, fits(rule('deny', push), plainCommand(line))]).toEqual([line, false]);
  const denied = (given: CallFacts): boolean => fits(rule('deny', push), given);
  expect([
    denied(plainCommand('git push origin')),
    denied(plainCommand('/usr/bin/git push')),
    denied(plainCommand('git status')),
    denied(unclear('cd x&&git push')),
    denied(unclear('$(git push)')),
    denied(facts('write')),
  ]).toEqual([true, true, false, true, true, false]);
  const allowed = (words: string, given: CallFacts): boolean => fits(rule('allow', { commands: [words] }), given);
  expect([
    allowed('npm test', npmTest('1')),
    allowed('npm', npmTest('1')),
    allowed('npm', plainCommand('npm install', { family: null })),
    allowed('npm install', plainCommand('npm install', { family: null })),
    allowed('npm test', unclear('npm test')),
  ]).toEqual([true, true, false, true, false]);
});

test('hosts and paths do not allow a command; a graver class does not hide it', () => {
  const curl = { ...plainCommand('curl a.example'), class: 'network' as const, hosts: ['a.example'] };
  expect([
    fits(rule('allow', { hosts: ['a.example'] }), curl),
    fits(rule('allow', { paths: ['.'] }), npmTest('1')),
    fits(rule('allow', { paths: ['.'], commands: ['npm test'] }), npmTest('1')),
    fits(rule('deny', { classes: ['exec'] }), curl),
    fits(rule('allow', { classes: ['exec'] }), curl),
    fits(rule('deny', { classes: ['network'] }), { ...npmTest('1'), hosts: ['a.example'] }),
  ]).toEqual([false, false, true, true, false, true]);
});

const checked = (policy: unknown): string[] => {
  const result = configSchema.safeParse({ policy });
  return result.success ? [] : result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
};

test.each([
  ['no condition', { rules: [{ when: {}, then: 'deny' }] }, /rules\.0\.when: a rule needs at least one of tools/],
  ['an empty list', { rules: [{ when: { tools: [] }, then: 'deny' }] }, /when\.tools/],
  ['an unknown condition', { rules: [{ when: { tool: ['x'] }, then: 'deny' }] }, /tool/],
  ['an unknown answer', { rules: [{ when: { tools: ['x'] }, then: 'maybe' }] }, /rules\.0\.then/],
  ['an unknown class', { rules: [{ when: { classes: ['execute'] }, then: 'ask' }] }, /classes\.0/],
  ['an address for a domain', { rules: [{ when: { hosts: ['https://a.example'] }, then: 'ask' }] }, /hosts\.0: must be a domain/],
  ['a way out of the workspace', { rules: [{ when: { paths: ['a/../../b'] }, then: 'ask' }] }, /paths\.0: must be a path or glob/],
  ['a home folder', { rules: [{ when: { paths: ['~/x'] }, then: 'ask' }] }, /paths\.0: must be a path/],
  ['an unknown mode', { mode: 'yolo' }, /policy\.mode/],
  ['half a call a minute', { limits: { callsPerMinute: { exec: 0.5 } } }, /callsPerMinute\.exec/],
])('rejects %s and names the place', (_what, policy, told) => {
  expect(checked(policy).join('; ')).toMatch(told);
});

test('limits may name tools; the built-in limits remain', () => {
  expect(configSchema.parse({ policy: { limits: { callsPerMinute: { exec: 5, deploy: 1 } } } }).policy.limits.callsPerMinute).toEqual({
    network: 60,
    message: 20,
    exec: 5,
    deploy: 1,
  });
});

test('a relative path denies and asks in a session folder too, but allows nothing', () => {
  const inProject = { ...facts('write', [path('/home/me/project/notes/a')]), workspace: '/home/me/project' };
  expect(fits(rule('deny', { paths: ['notes'] }), inProject)).toBe(true);
  expect(fits(rule('ask', { paths: ['notes'] }), inProject)).toBe(true);
  expect(fits(rule('allow', { paths: ['notes'] }), inProject)).toBe(false);
  expect(fits(rule('allow', { paths: ['/home/me/project/notes'] }), inProject)).toBe(true);
});

test.each<[string, boolean, PolicyRule[]]>([
  ['its name', true, [rule('deny', { tools: ['put'] })]],
  ['the beginning of its name', true, [rule('deny', { tools: ['pu*'] })]],
  ['its class', true, [rule('deny', { classes: ['write'] })]],
  ['every call', true, [rule('deny', {})]],
  ['who calls it', true, [rule('deny', { tools: ['put'], channels: ['cli'], agents: ['main'] })]],
  ['another tool', false, [rule('deny', { tools: ['look'] })]],
  ['another class', false, [rule('deny', { classes: ['exec'] })]],
  ['another channel', false, [rule('deny', { tools: ['put'], channels: ['telegram'] })]],
  ['some of its calls', false, [rule('deny', { tools: ['put'], paths: ['secret'] })]],
  ['some of its calls, then all', true, [rule('deny', { paths: ['secret'] }), rule('deny', { tools: ['put'] })]],
  ['all but calls allowed before', false, [rule('allow', { paths: ['notes'] }), rule('deny', { tools: ['put'] })]],
  ['all but calls that ask before', false, [rule('ask', { tools: ['put'] }), rule('deny', { tools: ['put'] })]],
  ['all, after another tool is allowed', true, [rule('allow', { tools: ['look'] }), rule('deny', {})]],
])('rules that deny %s always deny the tool: %s', (_what, always, rules) => {
  const ready = new ConfigRules(rules, { workspace: '/ws', domains: listed, entryWords });
  expect(ready.refusesAlways({ name: 'put', class: 'write' }, origin)).toBe(always);
});
