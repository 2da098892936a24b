import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Grant, GrantMatch } from '../../contracts/policy.ts';
import type { CallFacts } from '../../contracts/tools.ts';
import { bindingsHash } from './bindings.ts';
import { AllowedCommands } from './pre-approved.ts';
import { choicesFor } from './grant-choices.ts';
import { exactMatch, isLive, matches } from './grant-match.ts';
import { bindings, entryWords, facts, fetchFrom, npmTest, path, plainCommand } from '../../../tests/rigs/policy-bench.ts';

const call = (given: CallFacts, argsHash = 'h', tool = 'put') => ({ tool, argsHash, facts: given, workspace: '/ws' });
const folder = (at: string) => ({ kind: 'folder', tool: 'put', folder: at }) as const;
const covers = (match: GrantMatch, given: CallFacts, tool = 'put'): boolean => matches(match, call(given, 'h', tool));
const offered = (given: CallFacts): string[] => choicesFor(call(given)).map((choice) => choice.covers);

test.each([
  ['/ws/notes/a.md', true],
  ['/ws/notes/deep/a.md', true],
  ['/ws/notes/..a', true],
  ['/ws/notes', false],
  ['/ws/notes2/a.md', false],
  ['/ws/a.md', false],
  ['/ws/notes/../a.md', false],
])('a grant for a folder and %s: %s', (real, isCovered) => {
  const inside = facts('write', [path(real)]);
  expect([covers(folder('/ws/notes'), inside), covers({ kind: 'writes', tool: '*', folder: '/ws/notes' }, inside, 'any')]).toEqual([
    isCovered,
    isCovered,
  ]);
});

test('a folder grant covers no outside path, other tool, class, host, command or part', () => {
  const inside = path('/ws/notes/a');
  const match = folder('/ws/notes');
  expect(covers(match, facts('write', [inside]))).toBe(true);
  expect([
    covers(match, facts('write', [{ ...inside, insideWorkspace: false }])),
    covers(match, facts('write', [inside]), 'other'),
    covers(match, facts('write', [inside], { line: 'rm a', cwd: '/ws/notes' })),
    covers(match, facts('write', [inside, path('/ws/b')])),
    covers(match, facts('write')),
    covers(match, facts('destructive', [inside])),
    covers(match, { ...facts('write', [inside]), hosts: ['a.example'] }),
    covers(match, facts('write', [{ ...inside, protectedBy: 'keys' }])),
  ]).toEqual(Array.from({ length: 8 }, () => false));
});

test('a grant to write under a folder covers a command that is known to only change files there', () => {
  const copy = (real: string, changes: object = {}, more: CallFacts['paths'] = []): CallFacts => ({
    ...plainCommand('cp a b', { reads: null, family: null, writes: 'copies files', ...changes }),
    paths: [path('/ws', { access: 'read' }), path('/ws/a', { access: 'read' }), path(real), ...more],
  });
  const match = { kind: 'writes', tool: '*', folder: '/ws/notes' } as const;
  expect(covers(match, copy('/ws/notes/a'), 'exec')).toBe(true);
  expect([
    covers(match, copy('/ws/a'), 'exec'),
    covers(match, copy('/ws/notes/a', { writes: undefined }), 'exec'),
    covers(match, copy('/ws/notes/a', {}, [path('/etc/x', { access: 'read', insideWorkspace: false })]), 'exec'),
    covers(match, copy('/ws/notes/a', {}, [path('/ws/notes/b', { access: 'read', protectedBy: 'keys' })]), 'exec'),
    covers(match, { ...copy('/ws/notes/a'), hosts: ['a.example'] }, 'exec'),
    covers(match, { ...copy('/ws/notes/a'), class: 'destructive' }, 'exec'),
  ]).toEqual(Array.from({ length: 6 }, () => false));
  expect(offered(copy('/ws/notes/a'))).toEqual([
    'run exactly `cp a b` in the workspace',
    'any tool or command that only changes files under notes/',
  ]);
  expect(offered(copy('/ws/notes/a', {}, [path('/ws/b')]))).toEqual(['run exactly `cp a b` in the workspace']);
});

test('an approval of typed input reaches no other running command, and one of a line no input', () => {
  const typed = (id: string, command = 'cat'): CallFacts => ({ ...facts('exec', [], { line: 'yes', cwd: '/ws' }), input: { id, command } });
  const [choice, ...more] = choicesFor(call(typed('cmd-1')));
  expect([choice.covers, more]).toEqual(['type exactly this into cmd-1, which runs `cat`', []]);
  expect([typed('cmd-1'), typed('cmd-2'), typed('cmd-1', 'bash')].map((one) => covers(choice.match, one))).toEqual([true, false, false]);
  const line: GrantMatch = { kind: 'command', tool: 'put', line: 'yes', cwd: '/ws' };
  expect([covers(line, facts('exec', [], { line: 'yes', cwd: '/ws' })), covers(line, typed('cmd-1'))]).toEqual([true, false]);
});

test('a command grant covers that line in that folder with unchanged bindings', () => {
  const match: GrantMatch = { kind: 'command', tool: 'put', line: 'npm test', cwd: '/ws', bindingsHash: bindingsHash(bindings('1')) };
  const { bindingsHash: _, ...old } = match;
  const plain = facts('exec', [], { line: 'npm test', cwd: '/ws' });
  expect([covers(match, npmTest('1')), covers(old, plain)]).toEqual([true, true]);
  expect([
    covers(match, npmTest('2')),
    covers(match, npmTest('1', '/ws/a')),
    covers(match, plainCommand('npm test --x', { bindings: bindings('1') })),
    covers(match, plain),
    covers(match, facts('exec')),
    // Given before bindings were recorded.
    covers(old, npmTest('1')),
  ]).toEqual(Array.from({ length: 6 }, () => false));
});

test('a family grant covers those words in that folder with unchanged bindings only', () => {
  const match: GrantMatch = { kind: 'family', tool: 'put', family: ['npm', 'test'], cwd: '/ws', bindingsHash: bindingsHash(bindings('1')) };
  const verbose = plainCommand('npm test --silent', { family: ['npm', 'test'], bindings: bindings('1') });
  expect([covers(match, npmTest('1')), covers(match, verbose)]).toEqual([true, true]);
  expect([
    covers(match, npmTest('2')),
    covers(match, npmTest('1', '/ws/a')),
    covers(match, plainCommand('npm test', { family: ['npm'], bindings: bindings('1') })),
    covers(match, plainCommand('npm test', { family: null, bindings: bindings('1') })),
    covers(match, { ...npmTest('1'), class: 'destructive' }),
    covers(match, { ...npmTest('1'), hosts: ['a.example'] }),
    covers(match, { ...npmTest('1'), paths: [path('/ws/a')] }),
    covers(match, { ...npmTest('1'), paths: [path('/etc/hosts', { access: 'read' })] }),
  ]).toEqual(Array.from({ length: 8 }, () => false));
  // The person approved the outside folder itself.
  const outside = npmTest('1', '/home/ada/project');
  expect(covers({ ...match, cwd: '/home/ada/project' }, outside)).toBe(true);
});

test('a host grant covers fetches from that host only', () => {
  const match: GrantMatch = { kind: 'host', tool: 'put', host: 'a.example' };
  expect(covers(match, fetchFrom('a.example'))).toBe(true);
  expect([
    covers(match, fetchFrom('b.example')),
    covers(match, fetchFrom('a.example', 'b.example')),
    covers(match, fetchFrom('www.a.example')),
    covers(match, fetchFrom('a.example'), 'other'),
    covers(match, { ...fetchFrom('a.example'), request: { method: 'POST', url: 'x', reads: false } }),
    covers(match, { ...facts('network'), hosts: ['a.example'] }),
    covers(match, { ...fetchFrom('a.example'), class: 'message' }),
    covers(match, { ...fetchFrom('a.example'), paths: [path('/ws/out')] }),
    covers(match, { ...fetchFrom('a.example'), command: npmTest('1').command }),
  ]).toEqual(Array.from({ length: 9 }, () => false));
});

test('offers scopes narrowest first', () => {
  expect({
    command: offered(npmTest('1')),
    elsewhere: offered(plainCommand('make', {}, '/home/ada/x')),
    unclear: offered(facts('exec', [], { line: 'a | b', cwd: '/ws/sub', unclear: 'it is more than one command' })),
    write: offered(facts('write', [path('/ws/notes/a')])),
    top: offered(facts('write', [path('/ws/a'), path('/ws/b')])),
    writeApart: offered(facts('write', [path('/ws/a'), path('/ws/notes/b')])),
    writeOutside: offered(facts('write', [path('/etc/x')])),
    fetch: offered(fetchFrom('a.example')),
    send: offered({ ...fetchFrom('a.example'), request: { method: 'POST', url: 'https://a.example/', reads: false } }),
    message: offered({ ...facts('message'), hosts: ['a.example'] }),
  }).toEqual({
    command: ['run exactly `npm test` in the workspace', '`npm test` in the workspace, with any options known to be harmless'],
    elsewhere: ['run exactly `make` in /home/ada/x'],
    unclear: ['run exactly `a | b` in sub/, even if the files it uses change'],
    write: ['put for files under notes/', 'any tool or command that only changes files under notes/'],
    top: ['put for files under the workspace', 'any tool or command that only changes files under the workspace'],
    writeApart: ['put with exactly these arguments'],
    writeOutside: ['put with exactly these arguments'],
    fetch: ['fetch exactly https://a.example/', 'fetch from a.example'],
    send: ['put with exactly these arguments'],
    message: ['put with exactly these arguments'],
  });
});

test.each([
  ['destructive', { class: 'destructive' }],
  ['credential', { class: 'credential' }],
  ['network', { class: 'network', hosts: ['a.example'] }],
] as const)('offers a command of the class %s only word for word', (_what, change) => {
  expect(offered({ ...npmTest('1'), ...change, hosts: [] })).toHaveLength(1);
});

test('offers commands that reach other machines only word for word', () => {
  expect(offered(plainCommand('kubectl get pods', { family: ['kubectl', 'get'] }))).toEqual([
    'run exactly `kubectl get pods` in the workspace',
  ]);
});

test('every offered scope covers the call, unless the call touches a protected place', () => {
  const given = fc.oneof(
    fc.constantFrom('1', '2').map((content) => npmTest(content)),
    fc.constantFrom('/ws/a', '/ws/notes/a', '/etc/a').map((real) => facts('write', [path(real)])),
    fc.constantFrom('a.example', 'b.example').map((host) => fetchFrom(host)),
    fc.constantFrom('message' as const, 'spend' as const).map((toolClass) => facts(toolClass)),
  );
  fc.assert(
    fc.property(given, fc.boolean(), (one, isProtected) => {
      const touched = isProtected ? { ...one, paths: [...one.paths, path('/ws/.env', { protectedBy: 'keys', access: 'read' })] } : one;
      for (const { match } of choicesFor(call(touched))) expect(matches(match, call(touched))).toBe(!isProtected);
    }),
  );
});

test('an old exact grant without a facts hash covers no command with bindings', () => {
  const { factsHash: _, ...old } = exactMatch(call(npmTest('1'))) as Extract<GrantMatch, { kind: 'exact' }>;
  expect([covers(old, facts('write', [path('/ws/a')])), covers(old, npmTest('1'))]).toEqual([true, false]);
});

test('a spent, revoked or expired grant is not live', () => {
  const base = { grantId: 'g', covers: '', sessionId: 's', approvalId: 'a', createdAtMs: 0 };
  const grant: Grant = {
    ...base,
    scope: { kind: 'once' },
    match: exactMatch(call(facts('write', []))),
    expiresAtMs: 9,
    revokedAtMs: null,
    spentAtMs: null,
  };
  expect(
    [grant, { ...grant, expiresAtMs: null }, { ...grant, createdAtMs: 1_000, expiresAtMs: 2_000 }].map((one) => isLive(one, 8)),
  ).toEqual([true, true, true]);
  const over: Grant[] = [
    { ...grant, createdAtMs: 86_400_000, expiresAtMs: 86_700_000 },
    { ...grant, spentAtMs: 1 },
    { ...grant, revokedAtMs: 1 },
    { ...grant, expiresAtMs: 8 },
  ];
  expect(over.map((one) => isLive(one, 8))).toEqual([false, false, false, false]);
});

test('allowCommands matches the family, or all words if they say everything', () => {
  const allows = (line: string, family: string[] | null, sayable: boolean, ...list: string[]) => {
    const { command } = plainCommand(line, { family, sayable });
    return command !== null && new AllowedCommands(list, entryWords).covers(command);
  };
  const status = (entry: string) => allows('git status -s', ['git', 'status'], true, entry);
  expect(['git status', ' git  status -s', 'git', 'git statu', 'status', 'git status -sb', '', 'GIT status'].map(status)).toEqual([
    true,
    true,
    ...Array<boolean>(6).fill(false),
  ]);
  expect(allows('git status', null, false, 'git status')).toBe(false);
  expect(allows('mytool a', null, true, 'x', 'mytool a')).toBe(true);
  expect(allows('mytool a c', null, true, 'mytool a')).toBe(false);
  const doubtful = { line: 'mytool a', cwd: '/ws', ...plainCommand('mytool a').command };
  expect(new AllowedCommands(['mytool a'], entryWords).covers({ ...doubtful, unclear: 'x' })).toBe(false);
  expect(new AllowedCommands(['mytool a'], () => null).covers({ line: 'mytool a', cwd: '/ws' })).toBe(false);
});

test('trust in a folder covers no call, not even the call that asked for it', () => {
  const match = { kind: 'workspace', tool: 'open_workspace', folder: '/ws', identity: '1' } as const;
  const opening = { ...facts('read', [path('/ws', { access: 'read' })]), opens: { path: '/ws', identity: '1' } };
  expect([covers(match, opening, 'open_workspace'), covers(match, facts('read', [path('/ws/a')]))]).toEqual([false, false]);
});
