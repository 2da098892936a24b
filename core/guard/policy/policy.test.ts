import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../base/clock.ts';
import { CountingIds } from '../../base/ids.ts';
import { silentLogger } from '../../base/logger.ts';
import type { AnyDraft } from '../../contracts/events.ts';
import type { Grant, GrantScope } from '../../contracts/policy.ts';
import { ownDataProtection, toolClasses, type CallFacts, type PathFact, type ToolClass } from '../../contracts/tools.ts';
import { SessionLog, sessionMigrations } from '../../store/session/session.ts';
import { Storage } from '../../store/storage/storage.ts';
import { decideByRules, type RuleInput } from './policy-rules.ts';
import { matches, PolicyGate, PolicyStore, policyMigrations, ruleIds } from './policy.ts';

const path = (real: string, changes: Partial<PathFact> = {}): PathFact => ({
  given: real,
  real,
  access: 'write',
  insideWorkspace: true,
  protectedBy: null,
  ...changes,
});
const facts = (toolClass: ToolClass, paths: readonly PathFact[] = [], command: CallFacts['command'] = null): CallFacts => ({
  class: toolClass,
  paths: [...paths],
  command,
  hosts: [],
});
const input = (given: CallFacts, changes: Partial<RuleInput> = {}): RuleInput => ({
  tool: 'put',
  facts: given,
  panicEngaged: false,
  deniedTools: [],
  coveredBy: null,
  ...changes,
});
const covered = (kind: string): RuleInput['coveredBy'] => ({ grantId: 'grt_1', kind, covers: 'write files in notes/' });
const ownData = path('/home/trayclaw.db', { protectedBy: ownDataProtection });
const guarded = path('/ws/.ssh/key', { protectedBy: 'keys are kept there' });
const outside = path('/etc/hosts', { insideWorkspace: false, access: 'read' });

/** Each rule with what reaches it; a later one's reason is there as well where it must not win. */
const table: readonly (readonly [string, string, RuleInput])[] = [
  ['panic.engaged', 'deny', input(facts('write', [ownData]), { panicEngaged: true, deniedTools: ['put'], coveredBy: covered('always') })],
  ['tool.denied', 'deny', input(facts('write', [ownData]), { deniedTools: ['put'], coveredBy: covered('always') })],
  ['address.refused', 'deny', input({ ...facts('write', [ownData]), refused: 'It is this computer.' }, { coveredBy: covered('always') })],
  ['path.own-data', 'deny', input(facts('write', [guarded, ownData]), { coveredBy: covered('always') })],
  ['path.protected', 'ask', input(facts('write', [path('/ws/a'), guarded]), { coveredBy: covered('always') })],
  ['path.protected', 'ask', input(facts('read', [{ ...ownData, access: 'read' }]))],
  ['ask.write-outside-workspace', 'ask', input(facts('write', [path('/ws/a'), path('/etc/x', { insideWorkspace: false })]))],
  ['read.outside-workspace', 'ask', input(facts('read', [path('/ws/a', { access: 'read' }), outside]))],
  ['read.workspace', 'allow', input(facts('read', [path('/ws/a', { access: 'read' })]), { coveredBy: covered('always') })],
  ['grant.session', 'allow', input(facts('read', [outside]), { coveredBy: covered('session') })],
  ...(['once', 'minutes', 'session', 'always'] as const).map(
    (kind) => [`grant.${kind}`, 'allow', input(facts('exec'), { coveredBy: covered(kind) })] as const,
  ),
  ...toolClasses.filter((one) => one !== 'read').map((one) => [`ask.${one}`, 'ask', input(facts(one))] as const),
];

test.each(table)('%s: %s', (ruleId, decision, given) => {
  const ruled = decideByRules(given);
  expect([ruled.ruleId, ruled.decision, ruled.reason.endsWith('.')]).toEqual([ruleId, decision, true]);
});

test('every rule can be reached, and only what a person may widen is grantable', () => {
  expect([...new Set(table.map(([ruleId]) => ruleId))].sort()).toEqual([...ruleIds].sort());
  const grantable = table.filter(([, , given]) => decideByRules(given).grantable).map(([ruleId]) => ruleId.split('.')[0]);
  expect(new Set(grantable)).toEqual(new Set(['ask', 'grant', 'read']));
  expect(decideByRules(input(facts('write', [guarded]))).grantable).toBe(false);
});

const call = (given: CallFacts, argsHash = 'h', tool = 'put') => ({ tool, argsHash, facts: given, workspace: '/ws' });
const folder = (at: string) => ({ kind: 'folder', tool: 'put', folder: at }) as const;

test.each([
  ['/ws/notes/a.md', true],
  ['/ws/notes/deep/a.md', true],
  ['/ws/notes/..a', true],
  ['/ws/notes', false],
  ['/ws/notes2/a.md', false],
  ['/ws/a.md', false],
  ['/ws/notes/../a.md', false],
])('a grant for a folder and %s: %s', (real, isCovered) => {
  expect(matches(folder('/ws/notes'), call(facts('write', [path(real)])))).toBe(isCovered);
});

test('a grant for a folder covers neither what lies outside the workspace, nor another tool, nor a command, nor half a call', () => {
  const inside = path('/ws/notes/a');
  expect(matches(folder('/ws/notes'), call(facts('write', [{ ...inside, insideWorkspace: false }])))).toBe(false);
  expect(matches(folder('/ws/notes'), call(facts('write', [inside]), 'h', 'other'))).toBe(false);
  expect(matches(folder('/ws/notes'), call(facts('exec', [inside], { line: 'rm a', cwd: '/ws/notes' })))).toBe(false);
  expect(matches(folder('/ws/notes'), call(facts('write', [inside, path('/ws/b')])))).toBe(false);
  expect(matches(folder('/ws/notes'), call(facts('write')))).toBe(false);
});

test('a grant for a command is for that line in that folder', () => {
  const match = { kind: 'command', tool: 'put', line: 'npm test', cwd: '/ws' } as const;
  const run = (line: string, cwd: string): boolean => matches(match, call(facts('exec', [], { line, cwd })));
  expect([run('npm test', '/ws'), run('npm test ', '/ws'), run('npm test', '/ws/a'), matches(match, call(facts('exec')))]).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

function open() {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-policy-'));
  const storage = Storage.open({ home, migrations: [...sessionMigrations, ...policyMigrations] });
  onTestFinished(() => {
    storage.dispose();
    rmSync(home, { recursive: true, force: true });
  });
  const clock = new ManualClock();
  const ids = new CountingIds();
  const panic = { engaged: false };
  const store = new PolicyStore(storage.db);
  const log = new SessionLog({ storage, clock, logger: silentLogger, projections: [store] });
  const gate = new PolicyGate({ store, clock, ids, panic, deniedTools: [], workspace: '/ws' });
  const request = (given: CallFacts, argsHash = 'h', sessionId = 's1') => ({
    callId: 'call_1',
    sessionId,
    turnId: 'trn_1',
    tool: 'put',
    args: '{}',
    argsHash,
    facts: given,
    summary: 'put it',
  });
  const add = (draft: AnyDraft): void => void log.append('system', [draft]);
  /** Asks, records, approves. */
  const allow = (given: CallFacts, scope: GrantScope, argsHash = 'h'): Grant => {
    const asked = request(given, argsHash);
    const approval = gate.question(asked, gate.authorize(asked));
    const grant = gate.grantFor(approval, scope, argsHash);
    add({ type: 'approval.requested', body: { approval } });
    const body = { approvalId: approval.approvalId, callId: 'call_1', scope: grant.scope, by: 'ada', grantId: grant.grantId };
    add({ type: 'approval.decided', body: { ...body, decision: 'approve' } });
    add({ type: 'grant.created', body: { grant } });
    return grant;
  };
  const decide = (given: CallFacts, argsHash = 'h', sessionId = 's1'): string => gate.authorize(request(given, argsHash, sessionId)).ruleId;
  return { log, store, gate, clock, panic, request, allow, decide, add };
}

const note = facts('write', [path('/ws/notes/a')]);
const other = facts('write', [path('/ws/notes/b')]);

test('rows of approvals and grants follow their events', () => {
  const { store, allow, add, clock, gate, request } = open();
  const pending = gate.question(request(note), gate.authorize(request(note)));
  add({ type: 'approval.requested', body: { approval: pending } });
  expect(store.pendingApprovals()).toEqual([pending]);
  add({
    type: 'approval.decided',
    body: { approvalId: pending.approvalId, callId: 'call_1', decision: 'withdraw', scope: null, by: 'the end', grantId: null },
  });
  expect(store.approval(pending.approvalId)).toEqual({ ...pending, state: 'withdrawn', decidedAtMs: clock.nowMs(), decidedBy: 'the end' });
  const grant = allow(note, { kind: 'minutes', minutes: 5 });
  expect(grant).toMatchObject({ covers: 'put for files in notes/', match: folder('/ws/notes'), expiresAtMs: clock.nowMs() + 300_000 });
  expect(store.grants(false, clock.nowMs())).toEqual([grant]);
  add({ type: 'grant.revoked', body: { grantId: grant.grantId, by: 'ada' } });
  expect([store.grants(false, clock.nowMs()), store.grants(true, 0), store.pendingApprovals(), store.recentApprovals().length]).toEqual([
    [],
    [{ ...grant, revokedAtMs: clock.nowMs() }],
    [],
    2,
  ]);
});

test('once is for this one call, in its session, until it is spent', () => {
  const { allow, decide, add } = open();
  const grant = allow(note, { kind: 'once' });
  expect([decide(note), decide(note, 'other'), decide(other), decide(note, 'h', 's2')]).toEqual([
    'grant.once',
    'ask.write',
    'ask.write',
    'ask.write',
  ]);
  add({ type: 'grant.spent', body: { grantId: grant.grantId, callId: 'call_1' } });
  expect(decide(note)).toBe('ask.write');
});

test('the same arguments about another thing are another call', () => {
  const { allow, decide } = open();
  const message = { ...facts('message'), hosts: ['a.example'] };
  allow(message, { kind: 'always' });
  expect([decide(message), decide({ ...message, hosts: ['b.example'] })]).toEqual(['grant.always', 'ask.message']);
});

test('minutes run out, a session ends at its border, always reaches everywhere, and the widest is named', () => {
  const { allow, decide, clock } = open();
  allow(note, { kind: 'minutes', minutes: 1 });
  expect([decide(other), decide(other, 'h', 's2')]).toEqual(['grant.minutes', 'grant.minutes']);
  allow(note, { kind: 'session' });
  expect([decide(other), decide(other, 'h', 's2')]).toEqual(['grant.session', 'grant.minutes']);
  clock.advance(60_000);
  expect([decide(other), decide(other, 'h', 's2')]).toEqual(['grant.session', 'ask.write']);
  allow(note, { kind: 'always' });
  expect(decide(other, 'h', 's2')).toBe('grant.always');
});

test('what may not be widened becomes a yes for once, whatever was asked for', () => {
  const { allow, decide, gate, request } = open();
  const secret = facts('write', [guarded]);
  expect(gate.question(request(secret), gate.authorize(request(secret)))).toMatchObject({ widerScope: null, ruleId: 'path.protected' });
  expect(allow(secret, { kind: 'always' }).scope).toEqual({ kind: 'once' });
  expect(decide(secret)).toBe('path.protected');
});

test('the panic stop goes before every grant', () => {
  const { allow, decide, panic } = open();
  allow(note, { kind: 'always' });
  panic.engaged = true;
  expect(decide(other)).toBe('panic.engaged');
});

test('a grant of a transaction that was rolled back was never there, though it was seen inside', () => {
  const { log, allow, decide } = open();
  expect(() =>
    log.transact(() => {
      allow(note, { kind: 'always' });
      expect(decide(other)).toBe('grant.always');
      throw new Error('rolled back');
    }),
  ).toThrow('rolled back');
  expect(decide(other)).toBe('ask.write');
  const grant = allow(note, { kind: 'always' });
  expect(() =>
    log.transact(() => {
      log.append('system', [{ type: 'grant.revoked', body: { grantId: grant.grantId, by: 'ada' } }]);
      expect(decide(other)).toBe('ask.write');
      throw new Error('rolled back');
    }),
  ).toThrow('rolled back');
  expect(decide(other)).toBe('grant.always');
});
