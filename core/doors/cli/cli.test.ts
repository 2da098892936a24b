// The command line in process: commands, JSON output, exit codes, connecting, serving.

import { expect, test } from 'vitest';
import { answersOf, dayBudget, helper, scout, turnView, vaultStatus } from '../../../tests/doubles/fake-answers.ts';
import { memoryCommands } from '../../../tests/doubles/memory-commands.ts';
import { contextCommands } from '../../../tests/doubles/context-commands.ts';
import { scheduleCommands } from '../../../tests/doubles/schedule-commands.ts';
import { cautionCommands } from '../../../tests/doubles/caution-commands.ts';
import { mcpCommands } from '../../../tests/doubles/mcp-commands.ts';
import { pluginCommands } from '../../../tests/doubles/plugin-commands.ts';
import { placeCommands } from '../../../tests/doubles/place-commands.ts';
import { undoCommands } from '../../../tests/doubles/undo-commands.ts';
import { skillCommands } from '../../../tests/doubles/skill-commands.ts';
import { FakeClaw } from '../../../tests/doubles/fake-claw.ts';
import { fakeParts, runCommand } from '../../../tests/doubles/fake-terminal.ts';
import { AppError } from '../../contracts/errors.ts';
import { opForms } from '../../contracts/op-forms.ts';
import type { OpName } from '../../contracts/ops.ts';

interface Row {
  readonly argv: readonly string[];
  readonly op: OpName;
  readonly params: unknown;
  readonly json: unknown;
  readonly code?: number;
  readonly stdin?: string;
}

const exact = { kind: 'exact', tool: 'write', argsHash: 'h' };
const rows: readonly Row[] = [
  { argv: ['tools'], op: 'tool.list', params: {}, json: [{ name: 'read', description: 'reads', class: 'read', schema: {} }] },
  { argv: ['approvals', 'list'], op: 'approval.list', params: {}, json: [] },
  { argv: ['turns', 'show', 't'], op: 'turn.get', params: { turnId: 't' }, json: turnView('t') },
  {
    argv: ['activity', 'search', 'two', 'words', '--kind', 'tool', 'file', '--outcome', 'error', '--before', '9'],
    op: 'activity.search',
    params: { query: 'two words', kinds: ['tool', 'file'], outcome: 'error', before: 9 },
    json: [],
  },
  {
    argv: ['activity', 'events', 't', '--after', '3'],
    op: 'turn.events',
    params: { turnId: 't', after: 3 },
    json: { sessionId: 'ses_1', events: [], hasMore: false },
  },
  {
    argv: ['activity', 'export', 't', '--format', 'markdown'],
    op: 'turn.export',
    params: { turnId: 't', format: 'markdown' },
    json: { text: 'markdown of a turn\n' },
  },
  ...contextCommands,
  { argv: ['packs', 'show', 'p'], op: 'pack.get', params: { packId: 'p' }, json: expect.objectContaining({ packId: 'p', messages: [] }) },
  {
    argv: ['config', 'get'],
    op: 'config.get',
    params: {},
    json: { config: expect.anything(), path: '/h/config.yaml', warnings: [], file: {}, problem: null },
  },
  {
    argv: ['grants', 'revoke', 'g'],
    op: 'grant.revoke',
    params: { grantId: 'g' },
    json: expect.objectContaining({ grantId: 'g', revokedAtMs: 2 }),
  },
  { argv: ['agents', 'list'], op: 'agent.list', params: {}, json: [scout] },
  { argv: ['agents', 'show', 'scout'], op: 'agent.get', params: { agentId: 'scout' }, json: { ...scout, identity: 'Be brief.' } },
  { argv: ['subagents', 'list', '--session', 's', '--all'], op: 'helper.list', params: { sessionId: 's', all: true }, json: [helper] },
  { argv: ['--quiet', 'subagents', 'cancel', 'job_1'], op: 'helper.cancel', params: { jobId: 'job_1' }, json: helper },
  { argv: ['budget', 'show', '--turn', 't'], op: 'budget.get', params: { turnId: 't' }, json: [dayBudget] },
  { argv: ['budget', 'allow', '$1.50'], op: 'budget.allow', params: { scope: 'day', usd: 1.5 }, json: [{ ...dayBudget, limit: 11.5 }] },
  {
    argv: ['budget', 'allow', '2000', '--tokens', '--turn', 't'],
    op: 'budget.allow',
    params: { scope: 'turn', turnId: 't', tokens: 2000 },
    json: [{ ...dayBudget, limit: 11.5 }],
  },
  {
    argv: ['turns', 'continue', 't'],
    op: 'turn.continue',
    params: { turnId: 't' },
    json: expect.objectContaining({ status: 'done', text: 'ok' }),
  },
  { argv: ['grants', 'list', '--all'], op: 'grant.list', params: { all: true }, json: [] },
  {
    argv: ['grants', 'preview', JSON.stringify(exact), '--days', '3'],
    op: 'grant.preview',
    params: { match: exact, days: 3 },
    json: { covered: [], asked: 0, total: 0, lookedBackToMs: null },
  },
  { argv: ['outcomes', 'list'], op: 'outcome.list', params: {}, json: [] },
  {
    argv: ['outcomes', 'settle', 'c', 'retry'],
    op: 'outcome.settle',
    params: { callId: 'c', answer: 'retry' },
    json: { callId: 'c', turnId: null },
  },
  {
    argv: ['outbox', 'list', '--state', 'uncertain', '--session', 's', '--limit', '5'],
    op: 'outbox.list',
    params: { state: 'uncertain', sessionId: 's', limit: 5 },
    json: [expect.objectContaining({ outboundId: 'o', state: 'uncertain' })],
  },
  {
    argv: ['outbox', 'settle', 'o', 'resend'],
    op: 'outbox.settle',
    params: { outboundId: 'o', answer: 'resend' },
    json: expect.objectContaining({ outboundId: 'o' }),
  },
  {
    argv: ['chats', 'list', '--channel', 'telegram'],
    op: 'chat.list',
    params: { channel: 'telegram' },
    json: [expect.objectContaining({ chatId: '7', sessionId: 'ses_1' })],
  },
  {
    argv: ['chats', 'bind', 'telegram', '7', 'ses_2', '--thread', '3'],
    op: 'chat.bind',
    params: { chat: { channel: 'telegram', chatId: '7', threadId: '3' }, sessionId: 'ses_2' },
    json: expect.objectContaining({ sessionId: 'ses_2' }),
  },
  {
    argv: ['policy', 'show'],
    op: 'config.get',
    params: {},
    json: expect.objectContaining({ mode: 'supervised', rules: [], limits: { callsPerMinute: { network: 60, message: 20, exec: 60 } } }),
  },
  {
    argv: ['policy', 'explain', '{"tool":"exec","args":{"command":"ls"}}'],
    op: 'policy.explain',
    params: { tool: 'exec', args: { command: 'ls' }, folder: '/work-folder' },
    json: expect.objectContaining({ decision: 'ask', ruleId: 'r', reason: 'why', class: 'exec' }),
  },
  {
    argv: ['sandbox', 'explain', 'rm x', '--cwd', 'sub'],
    op: 'sandbox.explain',
    params: { command: 'rm x', cwd: '/work-folder/sub', folder: '/work-folder' },
    json: expect.objectContaining({ command: { runs: 'outside', reason: 'none here' }, available: false }),
  },
  {
    argv: ['safety', 'url', 'http://10.0.0.1'],
    op: 'safety.url',
    params: { url: 'http://10.0.0.1' },
    json: { decision: 'deny', reason: 'private', url: 'http://10.0.0.1' },
    code: 3,
  },
  {
    argv: ['safety', 'redact'],
    stdin: 'a hunter2\n',
    op: 'safety.redact',
    params: { text: 'a hunter2\n' },
    json: { text: 'a [redacted]\n', found: ['password'] },
  },
  {
    argv: ['panic', '--reason', 'why'],
    op: 'panic.engage',
    params: { reason: 'why' },
    json: expect.objectContaining({ engaged: true, sinceMs: 5, killed: 2 }),
  },
  { argv: ['panic', '--release'], op: 'panic.release', params: {}, json: expect.objectContaining({ engaged: false }) },
  { argv: ['panic', '--status'], op: 'panic.status', params: {}, json: expect.objectContaining({ engaged: false }) },
  {
    argv: ['sessions', 'list', '--limit', '5'],
    op: 'session.list',
    params: { limit: 5 },
    json: [expect.objectContaining({ sessionId: 'ses_1' })],
  },
  {
    argv: ['sessions', 'show', 's'],
    op: 'session.get',
    params: { sessionId: 's' },
    json: { session: expect.anything(), events: [], earlierBefore: null },
  },
  { argv: ['sessions', 'search', 'two', 'words'], op: 'session.search', params: { query: 'two words' }, json: [] },
  {
    argv: ['sessions', 'fork', 's', '--at', '3'],
    op: 'session.fork',
    params: { sessionId: 's', atSessionSeq: 3 },
    json: expect.objectContaining({ sessionId: 'ses_2' }),
  },
  {
    argv: ['sessions', 'rename', 's', 'New title'],
    op: 'session.rename',
    params: { sessionId: 's', title: 'New title' },
    json: expect.anything(),
  },
  {
    argv: ['sessions', 'archive', 's', '--undo'],
    op: 'session.archive',
    params: { sessionId: 's', archived: false },
    json: expect.anything(),
  },
  { argv: ['sessions', 'pin', 's'], op: 'session.pin', params: { sessionId: 's', pinned: true }, json: expect.anything() },
  { argv: ['sessions', 'seen', 's'], op: 'session.seen', params: { sessionId: 's' }, json: expect.anything() },
  {
    argv: ['sessions', 'configure', 's', '--model', 'default', '--agent', 'writer'],
    op: 'session.configure',
    params: { sessionId: 's', model: null, agentId: 'writer' },
    json: expect.anything(),
  },
  {
    argv: ['turns', 'retry', 't', '--model', 'lab/x'],
    op: 'turn.retry',
    params: { turnId: 't', model: 'lab/x' },
    json: expect.objectContaining({ status: 'done' }),
  },
  {
    argv: ['turns', 'branch', 't', 'other words'],
    op: 'turn.branch',
    params: { turnId: 't', text: 'other words' },
    json: expect.objectContaining({ status: 'done' }),
  },
  {
    argv: ['sessions', 'export', 's', '--format', 'markdown'],
    op: 'session.export',
    params: { sessionId: 's', format: 'markdown' },
    json: { text: 'markdown text\n' },
  },
  { argv: ['sessions', 'delete', 's', '--yes'], op: 'session.delete', params: { sessionId: 's' }, json: { sessionId: 's', events: 4 } },
  ...scheduleCommands,
  ...memoryCommands,
  ...skillCommands,
  ...placeCommands,
  ...pluginCommands,
  ...mcpCommands,
  ...cautionCommands,
  { argv: ['audit', 'verify'], op: 'audit.verify', params: {}, json: expect.objectContaining({ ok: false, events: 3 }), code: 1 },
  { argv: ['replay', 't'], op: 'replay.run', params: { turnId: 't' }, json: { identical: true, decisions: 4, differences: [] } },
  { argv: ['doctor'], op: 'health.check', params: {}, json: { ok: true, checks: [{ id: 'store', ok: true, detail: 'fine' }] } },
  {
    argv: ['recover'],
    op: 'recovery.list',
    params: {},
    json: [{ kind: 'rebuild-index', title: 'Rebuild', when: 'Then.', target: null }],
  },
  {
    argv: ['recover', 'rebuild-index'],
    op: 'recovery.plan',
    params: { kind: 'rebuild-index' },
    json: expect.objectContaining({ planId: 'plan_1', will: ['Does it.'] }),
    code: 3,
  },
  {
    argv: ['recover', 'rebuild-index', '--yes'],
    op: 'recovery.run',
    params: { planId: 'plan_1' },
    json: { planId: 'plan_1', kind: 'rebuild-index', did: ['Did it.'] },
  },
  { argv: ['usage', '--by', 'model'], op: 'usage.get', params: { by: 'model' }, json: expect.objectContaining({ rows: [] }) },
  { argv: ['model', 'test', 'lab/x'], op: 'model.test', params: { model: 'lab/x' }, json: expect.objectContaining({ ok: true }) },
  {
    argv: ['models', 'route', 'sum', 'up', '--model', 'route/everyday'],
    op: 'model.route',
    params: { text: 'sum up', model: 'route/everyday' },
    json: expect.objectContaining({ chosen: 'lab/a' }),
  },
  { argv: ['model', 'presets'], op: 'model.presets', params: {}, json: [] },
  { argv: ['config', 'schema'], op: 'config.schema', params: {}, json: { type: 'object' } },
  { argv: ['models'], op: 'model.list', params: { look: true }, json: [] },
  {
    argv: ['secret', 'set', 'key'],
    stdin: 'a long value\n',
    op: 'secret.set',
    params: { name: 'key', value: 'a long value' },
    json: { name: 'key' },
  },
  {
    argv: ['config', 'set', 'models.default', 'demo/offline'],
    op: 'config.set',
    params: { key: 'models.default', value: 'demo/offline' },
    json: { key: 'models.default', path: '/h/config.yaml', warnings: [], holds: 'now' },
  },
  { argv: ['secret', 'status'], op: 'secret.status', params: {}, json: vaultStatus },
  {
    argv: ['secret', 'unlock'],
    stdin: 'a long passphrase\n',
    op: 'secret.unlock',
    params: { passphrase: 'a long passphrase' },
    json: { ...vaultStatus, locked: false },
  },
  { argv: ['secret', 'list'], op: 'secret.list', params: {}, json: ['a', 'b'] },
  { argv: ['secret', 'delete', 'x'], op: 'secret.delete', params: { name: 'x' }, json: { name: 'x', deleted: true } },
  { argv: ['artifacts', 'list', '--session', 's'], op: 'artifact.list', params: { sessionId: 's' }, json: [] },
  { argv: ['dlq', 'list'], op: 'dlq.list', params: {}, json: [] },
  { argv: ['dlq', 'retry', 'let_1'], op: 'dlq.retry', params: { letterId: 'let_1' }, json: expect.objectContaining({ status: 'done' }) },
  { argv: ['dlq', 'clear', 'let_1'], op: 'dlq.clear', params: { letterId: 'let_1' }, json: { cleared: 1 } },
  { argv: ['dlq', 'clear', '--all'], op: 'dlq.clear', params: {}, json: { cleared: 1 } },
  { argv: ['audit', 'accept'], op: 'audit.accept', params: {}, json: { accepted: 1 } },
  ...undoCommands,
];

test.each(rows)('$argv prints one JSON document, and text for people', async ({ argv, op, params, json, code, stdin }) => {
  const run = async (flags: readonly string[], hasColour = false): Promise<string> => {
    const claw = new FakeClaw();
    claw.answers = answersOf(claw);
    const parts = fakeParts(claw);
    const ran = await runCommand([...argv, ...flags], parts, { stdin: stdin ?? '', hasColour });
    expect([ran.code, ran.err]).toEqual([code ?? 0, '']);
    expect(claw.calls.find((call) => call.name === op)).toEqual({ name: op, params, caller: { channel: 'cli', actor: 'cli' } });
    expect([claw.isClosed, parts.doors.isDisposed]).toEqual([true, true]);
    return ran.out;
  };
  const lines = (await run(['--json'])).split('\n');
  expect([lines.length, JSON.parse(lines[0] ?? '')]).toEqual([2, json]);
  expect((await run([])).trim()).not.toBe('');
  expect(await run([], true)).not.toContain(String.raw`\u{1b}`);
});

test('every operation is reached by a command', () => {
  const reached = new Set<string>(rows.map((row) => row.op));
  // Operations of handwritten commands, which are not in the table.
  const byHand = `message.send turn.wait turn.value command.list command.run approval.decide workspace.look tool.run health.fix
    engine.install prices.check prices.use report.save skill.install provider.try provider.add channel.try`.split(/\s+/);
  const otherDoors = [
    'command.complete',
    'session.create',
    'checkpoint.diff',
    'approval.diff',
    'signal.hook',
    'turn.live',
    'project.files',
  ];
  const known = new Set([...reached, ...byHand, ...otherDoors]);
  const without = Object.entries(opForms).filter(([, { commands }]) => commands === undefined);
  expect(without.map(([name]) => name).filter((name) => !known.has(name))).toEqual([]);
});

test.each([
  [[], 2],
  [['nosuch'], 2],
  [['ask'], 2],
  [['activity', 'search', '--kind', 'weather'], 2],
  [['activity', 'export', 't', '--format', 'pdf'], 2],
  [['ask', ' '], 2],
  [['tool', 'x', '{'], 2],
  [['policy', 'explain', '{"args":1}'], 2],
  [['approvals', 'approve', 'a', '--choice', 'first'], 2],
  [['approvals', 'approve', 'a', '--scope', 'forever'], 2],
  [['secret', 'set', 'name', 'value-on-the-command-line'], 2],
  [['sessions', 'list', '--limit', 'x'], 2],
  [['serve', '--port', '99999'], 2],
  [['schedule', 'add', 'x'], 2],
  [['schedule', 'add', 'x', '--every', '5s'], 2],
  [['schedule', 'next', '--every', '1h', '--cron', '* * * * *'], 2],
  [['schedule', 'add', 'x', '--at', 'soon'], 2],
  [['signals', 'send', 'n', 't', '--attention', 'shout'], 2],
  [['usage', '--by', 'moon'], 2],
  [['dlq', 'clear'], 2],
  [['undo', 'trn_1', '--file', 'a', '--part', '1'], 2],
  [['undo', 'trn_1', '--part', '1', '--seen', 'v1'], 2],
  [['undo', 'trn_1', '--file', 'a', '--part', '0', '--seen', 'v1'], 2],
  [['undo', 'ses_1', '--preview'], 2],
  [['recover', 'everything'], 2],
  [['outbox', 'list', '--state', 'gone'], 2],
  [['outbox', 'settle', 'o', 'maybe'], 2],
  [['--home', '', 'usage'], 2],
  [['help', 'nosuch'], 2],
  [['--help'], 0],
])('%j exits with %i, and reports it in JSON on request', async (argv, code) => {
  const parts = fakeParts(new FakeClaw());
  expect((await runCommand(argv, parts)).code).toBe(code);
  if (code === 0) return;
  const ran = await runCommand([...argv, '--json'], parts);
  expect([ran.code, ran.err]).toEqual([2, '']);
  expect(JSON.parse(ran.out)).toMatchObject({ error: { code: 'invalid_params', message: expect.any(String) } });
  expect(ran.out).not.toContain('value-on-the-command-line');
});

test.each([
  [['help', 'memory', 'search'], 0, 'Usage: trayclaw memory recall|search [options] <query...>'],
  [['help', 'sessions'], 0, 'Usage: trayclaw sessions [options] [command]'],
  [['help', 'calc', '1+1'], 0, 'Usage: trayclaw calc [options] <expression...>'],
  [['help', 'sessions', 'lst'], 2, "Unknown command 'lst'\n(Did you mean list?)"],
])('%j shows the help of what it names', async (argv, code, text) => {
  const ran = await runCommand(argv, fakeParts(new FakeClaw()));
  expect([ran.code, ran.out + ran.err]).toEqual([code, expect.stringContaining(text)]);
});

test('prints an error as message and hint, or as one document with --json', async () => {
  const claw = new FakeClaw({
    'panic.release': () => {
      throw new AppError('store_full', 'The disk is full.');
    },
  });
  const hint = 'Free some disk space; everything recorded so far is intact.';
  expect(await runCommand(['panic', '--release'], fakeParts(claw))).toEqual({ code: 1, out: '', err: `The disk is full.\n${hint}\n` });
  const json = await runCommand(['panic', '--release', '--json'], fakeParts(claw));
  expect([json.code, JSON.parse(json.out)]).toEqual([1, { error: { code: 'store_full', message: 'The disk is full.', hint } }]);
});

test('uses colour only on a terminal that supports it', async () => {
  const run = (env: Record<string, string>, isTty: boolean): Promise<{ out: string }> => {
    const claw = new FakeClaw();
    claw.answers = answersOf(claw);
    return runCommand(['safety', 'url', 'http://10.0.0.1'], fakeParts(claw), { env, isTty });
  };
  expect((await run({ NO_COLOR: '' }, true)).out).toContain('\u001B[31m');
  expect((await run({ NO_COLOR: '1' }, true)).out).not.toContain('\u001B');
  expect((await run({ NO_COLOR: '' }, false)).out).not.toContain('\u001B');
});
