import { expect, test } from 'vitest';
import { noTaint, ownDataProtection, toolClasses, type CallFacts } from '../../contracts/tools.ts';
import { wholeBounds, type TurnBounds } from '../../contracts/turn-bounds.ts';
import type { MatchedRule } from './config-rules.ts';
import { facts, fetchFrom, fromWeb, npmTest, path, plainCommand } from '../../../tests/rigs/policy-bench.ts';
import { decideByRules, ruleIds, type RuleInput } from './policy-rules.ts';
import type { PreApproval } from './pre-approved.ts';

const input = (given: CallFacts, changes: Partial<RuleInput> = {}): RuleInput => ({
  tool: 'put',
  facts: given,
  panicEngaged: false,
  deniedTools: [],
  mode: 'supervised',
  rule: null,
  overLimit: null,
  taint: noTaint,
  staysInside: true,
  grant: null,
  outdated: null,
  preApproved: null,
  domainsAllowed: false,
  bounds: null,
  ...changes,
});
const covered = (kind: 'once' | 'minutes' | 'session' | 'always'): Pick<RuleInput, 'grant'> => ({
  grant: { kind, covers: 'write files in notes/', unseen: [] },
});
const rule = (then: MatchedRule['then'], reason: string | null = null, changes: Partial<MatchedRule> = {}): Pick<RuleInput, 'rule'> => ({
  rule: { number: 2, then, reason, allowsCommand: false, allowsPaths: false, ...changes },
});
const pre = (state: PreApproval['state'], changes: readonly string[] = []): Pick<RuleInput, 'preApproved'> => ({
  preApproved: { state, grant: null, match: null, covers: '`npm test` in the workspace, as config.yaml says', changes },
});
const ownData = path('/home/trayclaw.db', { protectedBy: ownDataProtection });
const guarded = path('/ws/.ssh/key', { protectedBy: 'keys are kept there' });
const outside = path('/etc/hosts', { access: 'read' });
const note = facts('write', [path('/ws/a')]);
const look = facts('read', [path('/ws/a', { access: 'read' })]);
const ls = plainCommand('ls', { reads: 'lists files', family: ['ls'] });
const copy = (...paths: CallFacts['paths']): CallFacts => ({
  ...plainCommand('cp a b', { reads: null, family: null, writes: 'copies files' }),
  paths: [path('/ws/a', { access: 'read' }), path('/ws/b'), ...paths],
});
const threeWay = { taint: { ...fromWeb('evil.example'), sensitive: true } };
const web = { taint: fromWeb('evil.example') };
const message = (recipient: Partial<NonNullable<CallFacts['recipient']>> = {}, paths: CallFacts['paths'] = []): CallFacts => ({
  ...facts('message', paths),
  recipient: { channel: 'telegram', chatId: '7', isOrigin: true, ...recipient },
});
const forOther = (given: CallFacts): CallFacts => ({
  ...given,
  withheld: 'It shows files of the workspace to openai:app, who began this turn.',
});
const over = { overLimit: { name: 'exec', limit: 60 } };
const within = (changes: Partial<TurnBounds>): Pick<RuleInput, 'bounds'> => ({
  bounds: { bounds: { ...wholeBounds, ...changes }, coversHost: (host) => changes.hosts?.includes(host) ?? true },
});
const all = { ...covered('always'), preApproved: pre('free').preApproved, domainsAllowed: true, mode: 'workspace-free' } as const;

/** Each rule with an input that reaches it. Where a rule must win over a later one, the input matches the later rule as well. */
const table: readonly (readonly [string, string, RuleInput])[] = [
  ['panic.engaged', 'deny', input(facts('write', [ownData]), { panicEngaged: true, deniedTools: ['put'], ...all })],
  ['tool.denied', 'deny', input(facts('write', [ownData]), { deniedTools: ['put'], ...all })],
  [
    'address.refused',
    'deny',
    input({ ...facts('network', [ownData]), refused: 'It is not a public address.' }, { ...all, ...rule('deny') }),
  ],
  ['path.own-data', 'deny', input(facts('write', [guarded, ownData]), { ...all, ...rule('deny') })],
  ['rule.deny', 'deny', input(look, { ...all, ...rule('deny', 'Not today'), mode: 'locked-down' })],
  ['mode.locked-down', 'deny', input(note, { ...all, mode: 'locked-down', ...rule('allow') })],
  ['mode.locked-down', 'deny', input(facts('write', [guarded]), { mode: 'locked-down' })],
  ['mode.locked-down', 'deny', input(look, { mode: 'locked-down', ...rule('ask') })],
  ['mode.locked-down', 'deny', input(facts('read', [outside]), { ...all, mode: 'locked-down' })],
  ['read.workspace', 'allow', input(look, { mode: 'locked-down' })],
  ['command.reads', 'allow', input(ls, { mode: 'locked-down' })],
  ['path.protected', 'ask', input(facts('write', [path('/ws/a'), guarded]), { ...all, ...threeWay, ...rule('allow') })],
  ['path.own-data', 'deny', input(facts('read', [{ ...ownData, access: 'read' }]), all)],
  ['path.protected', 'ask', input(facts('read', [{ ...guarded, access: 'read' }]), all)],
  ['taint.three-way', 'ask', input(fetchFrom('a.example'), { ...all, ...threeWay, ...over, ...rule('allow') })],
  ['taint.three-way', 'ask', input(npmTest('1'), { ...all, ...threeWay })],
  ['taint.three-way', 'ask', input(copy(outside), { ...all, ...threeWay })],
  ['taint.unseen', 'ask', input(copy(), { mode: 'workspace-free', ...threeWay })],
  ['ask.workspace', 'ask', input({ ...facts('read', [outside]), opens: { path: '/p', identity: '1' } }, { ...all, ...rule('allow') })],
  ['mode.locked-down', 'deny', input({ ...look, opens: { path: '/p', identity: '1' } }, { mode: 'locked-down' })],
  ['rate.limit', 'ask', input(ls, { ...all, ...over, ...rule('ask') })],
  ['rule.ask', 'ask', input(look, { ...all, ...rule('ask', 'I want to see it.') })],
  ['read.workspace', 'allow', input(look, { ...all, ...threeWay })],
  ['command.reads', 'allow', input(ls, { ...all, ...threeWay })],
  ['grant.session', 'allow', input(facts('read', [outside]), covered('session'))],
  ...(['once', 'minutes', 'session', 'always'] as const).map(
    (kind) => [`grant.${kind}`, 'allow', input(npmTest('1'), { ...covered(kind), ...rule('allow') })] as const,
  ),
  ['taint.unseen', 'ask', input(note, { grant: { kind: 'always', covers: 'notes', unseen: web.taint.derived }, ...web })],
  ['rule.allow', 'allow', input(facts('destructive'), rule('allow', 'It is a toy'))],
  ['taint.unseen', 'ask', input(facts('destructive'), { ...rule('allow'), ...web })],
  ['rule.allow', 'allow', input(npmTest('1'), { ...rule('allow', null, { allowsCommand: true }), ...pre('bound') })],
  ['command.changed', 'ask', input(npmTest('2'), { ...rule('allow', null, { allowsCommand: true }), ...pre('changed', ['package.json']) })],
  ['ask.exec', 'ask', input(npmTest('1'), { ...rule('allow', null, { allowsCommand: true }), ...pre('free'), staysInside: false })],
  ['command.allowed', 'allow', input(npmTest('1'), { ...pre('first'), mode: 'workspace-free' })],
  ['command.changed', 'ask', input(npmTest('2'), pre('changed', ['package.json', 'the program /usr/bin/npm']))],
  ['ask.exec', 'ask', input(npmTest('1'), pre('revoked'))],
  ['ask.exec', 'ask', input(npmTest('1'), { ...pre('bound'), staysInside: false })],
  ['taint.unseen', 'ask', input(npmTest('1'), { ...pre('first'), ...web })],
  ['domain.allowed', 'allow', input(fetchFrom('a.example'), { domainsAllowed: true })],
  ['skill.beyond', 'ask', input({ ...fetchFrom('a.example'), beyond: 'It does more.' }, { domainsAllowed: true })],
  [
    'ask.network',
    'ask',
    input({ ...fetchFrom('a.example'), request: { method: 'POST', url: 'x', reads: false } }, { domainsAllowed: true }),
  ],
  ['taint.unseen', 'ask', input(fetchFrom('a.example'), { domainsAllowed: true, ...web })],
  ['write.workspace', 'allow', input(note, { mode: 'workspace-free' })],
  ['ask.exec', 'ask', input(npmTest('1'), { mode: 'workspace-free' })],
  ['write.workspace', 'allow', input(copy(), { mode: 'workspace-free' })],
  ['ask.write', 'ask', input(copy())],
  ['ask.exec', 'ask', input(copy(outside), { mode: 'workspace-free' })],
  ['path.protected', 'ask', input(copy(guarded), { mode: 'workspace-free' })],
  ['ask.exec', 'ask', input({ ...copy(), hosts: ['a.example'] }, { mode: 'workspace-free' })],
  ['taint.unseen', 'ask', input(copy(), { mode: 'workspace-free', ...web })],
  ['mode.locked-down', 'deny', input(copy(), { mode: 'locked-down' })],
  ['bounds.folder', 'deny', input(copy(), { mode: 'workspace-free', ...within({ folders: ['/ws'] }) })],
  ['ask.destructive', 'ask', input(facts('destructive', [path('/ws/a')]), { mode: 'workspace-free' })],
  ['ask.write-outside-workspace', 'ask', input(facts('write', [path('/ws/a'), path('/etc/x')]), { mode: 'workspace-free' })],
  ['taint.unseen', 'ask', input(note, { mode: 'workspace-free', ...web })],
  ['command.changed', 'ask', input(npmTest('2'), { outdated: { covers: '`npm test`', changes: ['package.json'] } })],
  ['read.outside-workspace', 'ask', input(facts('read', [path('/ws/a', { access: 'read' }), outside]))],
  ['message.same-chat', 'allow', input(message({}, [path('/ws/a', { access: 'read' })]))],
  ['message.same-chat', 'allow', input(message(), { ...web, ...within({ grants: false }) })],
  ['ask.message', 'ask', input(message({ isOrigin: false }))],
  ['ask.message', 'ask', input(message({}, [outside]))],
  ['ask.message', 'ask', input({ ...message(), hosts: ['a.example'] })],
  ['ask.destructive', 'ask', input({ ...message(), class: 'destructive' })],
  ['path.protected', 'ask', input(message({}, [{ ...guarded, access: 'read' }]))],
  ['taint.three-way', 'ask', input(message(), threeWay)],
  ['rate.limit', 'ask', input(message(), over)],
  ['rule.deny', 'deny', input(message(), rule('deny'))],
  ['mode.locked-down', 'deny', input(message(), { mode: 'locked-down' })],
  ['bounds.plan', 'deny', input(note, { ...all, ...within({ planFirst: 'whole' }) })],
  ['bounds.plan', 'deny', input(npmTest('1'), { ...all, ...within({ planFirst: 'steps' }) })],
  ['bounds.plan', 'deny', input(message(), within({ planFirst: 'whole' }))],
  ['bounds.plan', 'deny', input({ ...fetchFrom('a.example'), paths: [path('/ws/a')] }, within({ planFirst: 'whole' }))],
  ['ask.network', 'ask', input(fetchFrom('a.example'), within({ planFirst: 'whole' }))],
  ['read.workspace', 'allow', input(look, within({ planFirst: 'whole' }))],
  ['command.reads', 'allow', input(ls, within({ planFirst: 'whole' }))],
  ['ask.plan', 'ask', input({ ...look, approvesPlan: true }, { ...all, ...within({ planFirst: 'whole' }) })],
  ['bounds.class', 'deny', input(message(), within({ classes: ['read'] }))],
  ['panic.engaged', 'deny', input(message(), { panicEngaged: true })],
  ['bounds.tool', 'deny', input(look, { ...all, ...within({ tools: ['read_file'] }) })],
  ['read.workspace', 'allow', input(look, within({ tools: ['put'], classes: ['read'], folders: [], hosts: [] }))],
  ['bounds.class', 'deny', input(note, { ...all, ...within({ classes: ['read', 'exec'] }) })],
  ['bounds.class', 'deny', input({ ...look, hosts: ['a.example'] }, within({ classes: ['read'] }))],
  ['bounds.class', 'deny', input({ ...fetchFrom('a.example'), paths: [path('/ws/a')] }, within({ classes: ['network'] }))],
  ['ask.network', 'ask', input({ ...fetchFrom('a.example'), paths: [path('/ws/a')] }, within({ classes: ['network', 'write'] }))],
  ['bounds.folder', 'deny', input(facts('write', [path('/ws/a/x'), path('/ws/b')]), { ...all, ...within({ folders: ['/ws/a'] }) })],
  ['bounds.folder', 'deny', input(facts('destructive', [path('/ws/ab')]), within({ folders: ['/ws/a'] }))],
  ['write.workspace', 'allow', input(facts('write', [path('/ws/a/x')]), { mode: 'workspace-free', ...within({ folders: ['/ws/a'] }) })],
  ['bounds.folder', 'deny', input(npmTest('1'), { ...all, ...within({ folders: ['/ws'] }) })],
  ['command.reads', 'allow', input(ls, within({ folders: [], hosts: [] }))],
  ['ask.outsider', 'ask', input(forOther(look), within({ grants: false }))],
  ['ask.outsider', 'ask', input(forOther(ls), { ...within({ grants: false }), ...all })],
  ['ask.outsider', 'ask', input(forOther(message({}, look.paths)))],
  ['ask.exec', 'ask', input(forOther(npmTest('x')))],
  ['mode.locked-down', 'deny', input(forOther(look), { mode: 'locked-down' })],
  ['grant.session', 'allow', input(forOther(look), covered('session'))],
  ['bounds.host', 'deny', input(fetchFrom('a.example', 'b.example'), { ...all, ...within({ hosts: ['a.example'] }) })],
  ['domain.allowed', 'allow', input(fetchFrom('a.example'), { domainsAllowed: true, ...within({ hosts: ['a.example'] }) })],
  ['bounds.host', 'deny', input(npmTest('1'), { ...all, ...within({ hosts: ['a.example'] }) })],
  ['ask.write', 'ask', input(note, { ...all, ...rule('allow'), ...within({ grants: false }) })],
  ['ask.exec', 'ask', input(npmTest('1'), { ...pre('bound'), ...within({ grants: false }) })],
  ['grant.always', 'allow', input(note, { ...covered('always'), ...within({}) })],
  ...toolClasses.filter((one) => one !== 'read').map((one) => [`ask.${one}`, 'ask', input(facts(one))] as const),
];

test.each(table)('%s: %s', (ruleId, decision, given) => {
  const ruled = decideByRules(given);
  expect([ruled.ruleId, ruled.decision, /[.!?]$/.test(ruled.reason), ruled.reason.includes('..')]).toEqual([ruleId, decision, true, false]);
});

test('every rule can be reached', () => {
  expect([...new Set(table.map(([ruleId]) => ruleId))].sort()).toEqual(
    ruleIds.filter((ruleId) => !ruleId.startsWith('review.') && !ruleId.startsWith('hook.')).sort(),
  );
});

test('only some rules that ask allow a wider grant', () => {
  const grantable = table.filter(([, , given]) => decideByRules(given).grantable).map(([ruleId]) => ruleId);
  expect([...new Set(grantable)].filter((ruleId) => !ruleId.startsWith('ask.')).sort()).toEqual([
    'command.changed',
    'read.outside-workspace',
    'taint.unseen',
  ]);
});

test('in a turn without grants, an approval becomes no grant either', () => {
  const asked = table
    .map(([, , given]) => decideByRules({ ...given, ...within({ grants: false }) }))
    .filter(({ decision }) => decision === 'ask');
  expect(asked.length).toBeGreaterThan(10);
  expect(asked.filter(({ grantable }) => grantable)).toEqual([]);
});

test('judges a call declared as a read by its actual effect', () => {
  expect(decideByRules(input({ ...look, hosts: ['a.example'] })).ruleId).toBe('ask.network');
  expect(decideByRules(input(facts('read', [path('/ws/a')]))).ruleId).toBe('ask.write');
  expect(decideByRules(input({ ...look, command: ls.command })).ruleId).toBe('ask.exec');
});

test('a command may freely read only inside, without hosts or writes', () => {
  expect(decideByRules(input(ls, { staysInside: false })).ruleId).toBe('ask.exec');
  expect(decideByRules(input({ ...ls, hosts: ['a.example'] })).ruleId).toBe('ask.exec');
  expect(decideByRules(input({ ...ls, paths: [path('/ws/a')] })).ruleId).toBe('ask.exec');
  expect(decideByRules(input({ ...ls, class: 'destructive' })).ruleId).toBe('ask.destructive');
});

test.each([
  ['nothing private was read', { ...threeWay.taint, sensitive: false }],
  ['no untrusted content was read', { ...threeWay.taint, session: [] }],
  ['its text is the person’s own', { ...threeWay.taint, derived: [] }],
])('the three-way rule does not apply if %s', (_why, taint) => {
  expect(decideByRules(input(facts('message'), { taint })).ruleId).toBe('ask.message');
});

test('words the reasons for people', () => {
  const reason = (changes: Partial<RuleInput>, given: CallFacts = note): string => decideByRules(input(given, changes)).reason;
  expect([
    reason(rule('deny', 'It is archived')),
    reason(rule('ask')),
    reason(over, ls),
    reason({ grant: { kind: 'always', covers: 'put for files in notes/', unseen: web.taint.derived } }),
    reason(pre('changed', ['package.json', 'its environment']), npmTest('2')),
    reason(threeWay, facts('message')),
    reason({}, ls),
  ]).toEqual([
    'Rule 2 of policy.rules refuses it: It is archived.',
    'Rule 2 of policy.rules requires your approval.',
    'More than 60 calls of exec within a minute.',
    'These arguments may come from evil.example, which you had not seen when you allowed: put for files in notes/.',
    'policy.allowCommands allows it, but package.json and its environment have changed since it first ran. Approving accepts it as it is now.',
    'It sends something out, may follow words from evil.example, and private things were read before.',
    'The command only lists files, inside the workspace.',
  ]);
});
