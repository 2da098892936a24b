import { expect, onTestFinished, test } from 'vitest';
import { wholeBounds, type TurnBounds } from '../../contracts/turn-bounds.ts';
import { BudgetBook } from '../../guard/budget/budget.ts';
import { offeredWithin } from './offered-tools.ts';
import { BenchTools } from '../../../tests/rigs/bench-tools.ts';
import { TurnBench, type BenchOptions } from '../../../tests/rigs/turn-bench.ts';

function open(options: BenchOptions = {}) {
  const tools = new BenchTools();
  const bench: TurnBench = new TurnBench({ tools: tools.list(), ...options });
  tools.folder.path = bench.workspace;
  onTestFinished(() => bench.dispose());
  return { bench, tools };
}
const bounds = (changes: Partial<TurnBounds>): TurnBounds => ({ ...wholeBounds, ...changes });
const call = (tool: string, arg = 'a') => ({ calls: [[tool, { arg }]] as const });
const unattended = bounds({ unattended: { approvalMs: 60_000 }, grants: false });

test('a bound refuses a call despite any grant, and the turn continues', async () => {
  const { bench, tools } = open({ policy: { mode: 'workspace-free' } });
  bench.script.push(call('put'), call('fire'), call('look'));
  const { turnId } = bench.send('go', { bounds: bounds({ tools: ['put', 'look'], folders: [] }) });
  expect(await bench.rest(turnId)).toBe('done');
  expect(bench.of(turnId, 'policy.decided').map(({ ruleId, decision }) => `${decision} ${ruleId}`)).toEqual([
    'deny bounds.folder',
    'deny bounds.tool',
    'allow read.workspace',
  ]);
  expect(tools.ran).toEqual(['look a']);
  expect(bench.replay(turnId).differences).toEqual([]);
});

test('the model is offered only the tools its turn may use, by name and by class', async () => {
  const { bench } = open();
  await bench.ask('one', { bounds: bounds({ tools: ['look', 'put'] }) });
  await bench.ask('two', { bounds: bounds({ classes: ['read'] }) });
  await bench.ask('three');
  expect(bench.offered).toEqual([
    ['look', 'put'],
    ['look', 'spy'],
    ['fire', 'look', 'put', 'spy'],
  ]);
});

test('a tool that config.yaml always refuses is not offered, and a call is refused', async () => {
  const rules = [
    { when: { tools: ['fire'], channels: ['telegram'] }, then: 'deny' as const },
    { when: { tools: ['sp*'] }, then: 'deny' as const },
    { when: { tools: ['put'], paths: ['secret'] }, then: 'deny' as const },
  ];
  const { bench, tools } = open({ policy: { denyTools: ['look'], rules } });
  bench.script.push(call('look'), call('spy'));
  const { turnId } = bench.send('go');
  expect(await bench.rest(turnId)).toBe('done');
  expect(bench.offered[0]).toEqual(['fire', 'forbidden', 'put']);
  expect(bench.of(turnId, 'policy.decided').map(({ ruleId, decision }) => `${decision} ${ruleId}`)).toEqual([
    'deny tool.denied',
    'deny rule.deny',
  ]);
  expect(tools.ran).toEqual([]);
});

test('under lockdown the model is offered only tools that read', async () => {
  const { bench } = open({ policy: { mode: 'locked-down' } });
  await bench.ask('go');
  expect(bench.offered).toEqual([['fire', 'look', 'spy']]);
});

test('the offered list stays the same object if no tool is left out', () => {
  const { bench } = open({ policy: { denyTools: [], rules: [{ when: { paths: ['secret'] }, then: 'deny' }] } });
  const all = bench.tools.schemas();
  expect(offeredWithin(bench, all, { bounds: wholeBounds, origin: { channel: 'cli', agentId: 'main' } })).toBe(all);
});

test('bounds are recorded with the limits they lower, and never raise one', async () => {
  const { bench } = open();
  const low = bounds({ steps: 2, turnMs: 5_000 });
  bench.script.push(call('look', '1'), call('look', '2'), call('look', '3'));
  const { turnId } = bench.send('go', { bounds: low });
  await bench.rest(turnId);
  const [started] = bench.of(turnId, 'turn.started');
  expect(started?.bounds).toEqual(low);
  expect(started?.limits).toMatchObject({ steps: 2, turnMs: 5_000 });
  expect(bench.of(turnId, 'turn.finished')[0]?.error?.code).toBe('step_limit');
  const wide = bench.send('wide', { bounds: bounds({ steps: 900, turnMs: 9_000_000 }) });
  await bench.rest(wide.turnId);
  expect(bench.of(wide.turnId, 'turn.started')[0]?.limits).toMatchObject({ steps: 50, turnMs: 3_600_000 });
});

test('queued, retried and continued turns keep their bounds', async () => {
  const { bench } = open();
  const mine = bounds({ tools: ['look'], steps: 1 });
  bench.script.push(call('fire'));
  const first = bench.send('first');
  const second = bench.send('second', { bounds: mine });
  await bench.rest(first.turnId);
  bench.decide('deny');
  expect(await bench.rest(second.turnId)).toBe('done');
  expect(bench.of(second.turnId, 'turn.started')[0]?.bounds).toEqual(mine);
  bench.script.push(call('look'));
  const again = bench.runtime.retry(second.turnId, { model: null, by: 'ada' });
  await bench.rest(again.turnId);
  expect(bench.of(again.turnId, 'turn.started')[0]).toMatchObject({ bounds: mine, retries: second.turnId });
  expect(bench.of(again.turnId, 'turn.finished')[0]?.error?.code).toBe('step_limit');
  const more = bench.runtime.takeUpEnded(again.turnId, 'ada');
  await bench.rest(more.turnId);
  expect(bench.of(more.turnId, 'turn.started')[0]).toMatchObject({ bounds: mine, continues: { turnIds: [again.turnId] } });
});

test('a queued message keeps its bounds through a restart, and so does a turn that ran', async () => {
  const { bench, tools } = open();
  const mine = bounds({ tools: ['look'] });
  bench.script.push({ hang: true });
  const first = bench.send('first', { bounds: mine });
  const second = bench.send('second', { bounds: mine });
  bench.script.push(call('fire'), { say: 'no' }, call('fire'));
  await bench.restart();
  await bench.rest(first.turnId);
  await bench.rest(second.turnId);
  for (const { turnId } of [first, second]) expect(bench.of(turnId, 'policy.decided').map(({ ruleId }) => ruleId)).toEqual(['bounds.tool']);
  expect(tools.ran).toEqual([]);
});

test('a standing grant does not cover a turn without grants, which offers none', async () => {
  const { bench, tools } = open();
  bench.script.push(call('put'));
  await bench.ask('write it');
  bench.decide('approve', { kind: 'session' });
  await bench.runtime.whenIdle();
  bench.script.push(call('put'));
  await bench.ask('again');
  expect(tools.ran).toEqual(['put a', 'put a']);
  bench.script.push(call('put'));
  expect(await bench.ask('bounded', { bounds: bounds({ grants: false }) })).toBe('waiting');
  expect(bench.pending()).toMatchObject({ ruleId: 'ask.write', widerScope: null });
  expect(bench.pending()).not.toHaveProperty('dueAtMs');
  // A grant that covers similar calls elsewhere leaves this approval pending.
  bench.script.push(call('put', 'b'));
  const other = bench.send('elsewhere', { sessionId: 's2' });
  await bench.rest(other.turnId);
  const [mine, theirs] = bench.policy.pendingApprovals();
  const grant = theirs === undefined ? null : bench.gate.grantFor(theirs, { kind: 'always' }, 'h');
  expect(grant === null || mine === undefined ? null : bench.gate.answers(grant, mine, 'h')).toBe(false);
  bench.decide('approve', { kind: 'once' }, mine);
  await bench.runtime.whenIdle();
  expect(tools.ran).toEqual(['put a', 'put a', 'put a']);
});

test('an approval without an answer in time is denied, and nothing is done', async () => {
  const { bench, tools } = open();
  bench.script.push(call('fire'), { say: 'left undone' });
  const { turnId } = bench.send('go', { bounds: unattended });
  expect(await bench.rest(turnId)).toBe('waiting');
  const asked = bench.pending();
  expect(asked.dueAtMs).toBe(asked.createdAtMs + 60_000);
  bench.passTime(59_000);
  expect(bench.pending().state).toBe('pending');
  bench.passTime(1_000);
  expect(await bench.rest(turnId)).toBe('done');
  expect(bench.of(turnId, 'approval.decided')).toMatchObject([{ decision: 'deny', by: 'timeout', callId: asked.callId }]);
  expect(bench.asked.at(-1)?.messages.at(-1)).toMatchObject({ role: 'tool', isError: true });
  expect(JSON.stringify(bench.asked.at(-1)?.messages)).toContain('Nobody answered in time');
  expect(tools.ran).toEqual([]);
  expect(bench.replay(turnId).differences).toEqual([]);
  expect(bench.timers.size).toBe(0);
});

test('an answer in time counts, and the timer is cleared', async () => {
  const { bench, tools } = open();
  bench.script.push(call('fire'));
  const { turnId } = bench.send('go', { bounds: unattended });
  await bench.rest(turnId);
  bench.decide('approve');
  expect(await bench.rest(turnId)).toBe('done');
  bench.passTime(600_000);
  expect(bench.of(turnId, 'approval.decided')).toHaveLength(1);
  expect(tools.ran).toEqual(['fire a']);
  expect(bench.timers.size).toBe(0);
});

test('the deadline of an approval survives a restart, and passes while closed', async () => {
  const { bench, tools } = open();
  bench.script.push(call('fire'), call('fire', 'b'));
  const first = bench.send('go', { bounds: unattended });
  const second = bench.send('go', { bounds: { ...unattended, unattended: { approvalMs: 600_000 } }, sessionId: 's2' });
  await bench.rest(first.turnId);
  await bench.rest(second.turnId);
  bench.timers.clear();
  bench.clock.advance(120_000);
  await bench.restart();
  expect(await bench.rest(first.turnId)).toBe('done');
  expect(bench.log.index.turn(second.turnId)?.status).toBe('waiting');
  for (let halfMinute = 0; halfMinute < 16; halfMinute += 1) bench.passTime(30_000);
  expect(await bench.rest(second.turnId)).toBe('done');
  for (const { turnId } of [first, second]) expect(bench.of(turnId, 'approval.decided').map(({ by }) => by)).toEqual(['timeout']);
  expect(tools.ran).toEqual([]);
});

test('an approval asked for while the clock was ahead is denied once the clock is right', async () => {
  const { bench, tools } = open();
  bench.script.push(call('fire'));
  const { turnId } = bench.send('go', { bounds: unattended });
  expect(await bench.rest(turnId)).toBe('waiting');
  bench.clock.advance(-31_536_000_000);
  for (const { action } of Array.from(bench.timers)) action();
  await bench.runtime.whenIdle();
  expect(bench.of(turnId, 'approval.decided')).toMatchObject([{ decision: 'deny', by: 'timeout' }]);
  expect(tools.ran).toEqual([]);
});

test('a turn does not run longer than its own budget lasts without other limits', async () => {
  const none = { usd: 0, tokens: 0, unknownCostCalls: 0 };
  const history = { spentInTurn: () => none, spentInSession: () => none, spentSince: () => none, extensions: () => [] };
  const { bench } = open({ budget: new BudgetBook({}, history) });
  // Each answer costs half a dollar.
  for (let answer = 0; answer < 6; answer += 1) bench.script.push(call('look', String(answer)));
  const { turnId } = bench.send('go', { bounds: bounds({ usd: 1 }) });
  expect(await bench.rest(turnId)).toBe('over_budget');
  expect(bench.of(turnId, 'budget.exceeded')).toMatchObject([{ scope: 'turn', unit: 'usd', limit: 1 }]);
  expect(bench.of(turnId, 'model.finished')).toHaveLength(2);
  bench.script.splice(0);
  expect(await bench.ask('free')).toBe('done');
});
