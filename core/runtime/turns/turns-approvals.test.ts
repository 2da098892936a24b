import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { BenchTools } from '../../../tests/rigs/bench-tools.ts';
import { TurnBench } from '../../../tests/rigs/turn-bench.ts';

let tools: BenchTools;
let bench: TurnBench;

beforeEach(() => {
  tools = new BenchTools();
  bench = new TurnBench({ tools: tools.list() });
});

afterEach(async () => {
  for (const replay of bench.replays()) expect(replay).toMatchObject({ identical: true, differences: [] });
  await bench.dispose();
});

const put = (arg: string) => ({ calls: [['put', { arg }]] }) as const;

test('asks, waits, continues after the approval, and spends the grant', async () => {
  bench.script.push(put('a'), { say: 'written' });
  const { turnId } = bench.send('write a');
  expect(await bench.rest(turnId)).toBe('waiting');
  expect(tools.ran).toEqual([]);
  expect(bench.pending()).toMatchObject({ summary: 'Wants to put a', ruleId: 'ask.write', state: 'pending' });
  bench.decide('approve');
  expect(await bench.rest(turnId)).toBe('done');
  expect(tools.ran).toEqual(['put a']);
  expect(bench.of(turnId, 'grant.spent')).toEqual([{ grantId: 'grt_1', callId: 'call_1' }]);
  expect(bench.policy.grant('grt_1')?.spentAtMs).toBe(bench.clock.nowMs());
});

test('the model learns of a denial, and nothing runs', async () => {
  bench.script.push(put('a'), { say: 'I leave it.' });
  const { turnId } = bench.send('write a');
  await bench.rest(turnId);
  bench.decide('deny');
  expect(await bench.rest(turnId)).toBe('done');
  expect([tools.ran, bench.asked[1]?.messages.at(-1)]).toMatchObject([
    [],
    { role: 'tool', isError: true, text: expect.stringContaining('said no') as string },
  ]);
});

test('an answer given in the moment the approval is recorded is not lost', async () => {
  bench.script.push(put('a'), { say: 'written' });
  bench.log.onCommitted((events) => {
    if (events.some((event) => event.type === 'turn.waiting')) bench.decide('approve');
  });
  const { turnId } = bench.send('write a');
  expect(await bench.rest(turnId)).toBe('done');
  expect(tools.ran).toEqual(['put a']);
});

test('a wider grant covers the next call within its scope, and no other', async () => {
  bench.script.push(put('a'), { say: 'ok' });
  const first = bench.send('write a');
  await bench.rest(first.turnId);
  bench.decide('approve', { kind: 'session' });
  await bench.rest(first.turnId);
  bench.script.push(put('b'), { say: 'ok' });
  expect(await bench.ask('write b')).toBe('done');
  bench.script.push(put('c'));
  expect(await bench.ask('write c', { sessionId: 's2' })).toBe('waiting');
  expect(tools.ran).toEqual(['put a', 'put b']);
});

test('facts that change between approval and run require a new approval', async () => {
  bench.script.push(put('a'), { say: 'ok' });
  const { turnId } = bench.send('write a');
  await bench.rest(turnId);
  tools.folder.path = '/elsewhere';
  bench.decide('approve');
  expect(await bench.rest(turnId)).toBe('waiting');
  expect([tools.ran, bench.pending().facts.paths[0]?.real]).toEqual([[], '/elsewhere/a']);
  bench.decide('approve');
  expect(await bench.rest(turnId)).toBe('done');
  expect(tools.ran).toEqual(['put a']);
});

test('a call whose facts change at each check does not run, and the turn continues', async () => {
  const free = new TurnBench({ tools: tools.list(), policy: { mode: 'workspace-free' } });
  onTestFinished(() => free.dispose());
  let looks = 0;
  const isProtected = (): boolean => {
    if (looks > 100) throw new Error('it is judged without end');
    return looks++ % 2 === 1;
  };
  Object.defineProperty(tools.folder, 'isProtected', { get: isProtected });
  tools.folder.path = free.workspace;
  free.script.push(put('a'), { say: 'ok' });
  const { turnId } = free.send('write a');
  expect(await free.rest(turnId)).toBe('done');
  expect(tools.ran).toEqual([]);
  expect(free.of(turnId, 'tool.rejected')).toMatchObject([{ error: { code: 'conflict' } }]);
  expect(free.replay(turnId).differences).toEqual([]);
});

test('an approved read is also bound to the facts that were shown', async () => {
  bench.script.push({ calls: [['spy', { arg: 'a' }]] }, { say: 'ok' });
  const { turnId } = bench.send('read outside');
  expect(await bench.rest(turnId)).toBe('waiting');
  tools.folder.path = '/secrets';
  bench.decide('approve');
  expect(await bench.rest(turnId)).toBe('waiting');
  expect(tools.ran).toEqual([]);
});

test('a call whose grant no longer covers it when it is about to run asks again', async () => {
  bench.script.push(put('a'), { say: 'ok' });
  const first = bench.send('write a');
  await bench.rest(first.turnId);
  bench.decide('approve', { kind: 'always' });
  await bench.rest(first.turnId);
  bench.script.push(
    {
      calls: [
        ['fire', { arg: 'x' }],
        ['put', { arg: 'b' }],
      ],
    },
    { say: 'ok' },
  );
  const second = bench.send('run x, write b');
  expect(await bench.rest(second.turnId)).toBe('waiting');
  // While the command waits for its answer, the folder becomes another one.
  tools.folder.path = '/elsewhere';
  bench.decide('deny');
  expect(await bench.rest(second.turnId)).toBe('waiting');
  expect([tools.ran, bench.pending().tool]).toEqual([['put a'], 'put']);
});

test.each([
  ['revoked', { kind: 'session' }],
  ['expired', { kind: 'minutes', minutes: 1 }],
] as const)('a call asks again if its grant is %s before it runs', async (how, scope) => {
  bench.script.push(
    {
      calls: [
        ['put', { arg: 'a' }],
        ['fire', { arg: 'x' }],
      ],
    },
    { say: 'ok' },
  );
  const { turnId } = bench.send('write a, run x');
  await bench.rest(turnId);
  const [write, run] = bench.policy.pendingApprovals();
  if (write === undefined || run === undefined) throw new Error('two questions are expected');
  // The later call is approved first: it is allowed and waits for its turn.
  bench.decide('approve', scope, run);
  expect(await bench.rest(turnId)).toBe('waiting');
  if (how === 'revoked') bench.log.append('system', [{ type: 'grant.revoked', body: { grantId: 'grt_1', by: 'ada' } }], true);
  else bench.clock.advance(60_000);
  bench.decide('approve', { kind: 'once' }, write);
  expect(await bench.rest(turnId)).toBe('waiting');
  expect([tools.ran, bench.pending().tool]).toEqual([['put a'], 'fire']);
});

test('an approved call does not begin after the panic stop', async () => {
  bench.script.push({ calls: [put('a').calls[0], put('b').calls[0]] }, { say: 'ok' });
  const { turnId } = bench.send('write a and b');
  await bench.rest(turnId);
  const [first, second] = bench.policy.pendingApprovals();
  bench.decide('approve', { kind: 'once' }, second);
  await bench.rest(turnId);
  // Engaged in memory only, in the middle of the first call: nothing else stops the second.
  tools.result = () => {
    bench.panic.engage(1, 'test');
    return 'done';
  };
  bench.decide('approve', { kind: 'once' }, first);
  await bench.rest(turnId);
  expect(tools.ran).toEqual(['put a']);
  expect(bench.of(turnId, 'policy.decided').at(-1)).toMatchObject({ decision: 'deny', ruleId: 'panic.engaged' });
});

test('an approval of other arguments than those of the call asks again', async () => {
  bench.script.push(put('a'), { say: 'ok' });
  const { turnId } = bench.send('write a');
  await bench.rest(turnId);
  const shows = bench.storage.db.prepare("UPDATE approvals SET body = json_set(body, '$.args', ?)");
  shows.run(JSON.stringify({ arg: 'other' }));
  bench.decide('approve');
  expect(await bench.rest(turnId)).toBe('waiting');
  expect([tools.ran, bench.pending().args]).toEqual([[], JSON.stringify({ arg: 'a' })]);
});

test('a once-only approval that another call has already spent requires a new one', async () => {
  bench.script.push({ calls: [['fire', { arg: 'x' }], put('a').calls[0]] }, { say: 'ok' });
  const { turnId } = bench.send('run x, write a');
  await bench.rest(turnId);
  const [fire, write] = bench.policy.pendingApprovals();
  bench.decide('approve', { kind: 'once' }, write);
  await bench.rest(turnId);
  // The person meanwhile makes the same call, which that approval covers and which spends it.
  expect(await bench.rest(bench.direct('put', { arg: 'a' }).turnId)).toBe('done');
  bench.decide('approve', { kind: 'once' }, fire);
  expect(await bench.rest(turnId)).toBe('waiting');
  expect([tools.ran, bench.pending().tool]).toEqual([['put a', 'fire x'], 'put']);
});

test('of two equal calls with one once-only approval, the second asks again', async () => {
  bench.script.push({ calls: [['put', { arg: 'a' }]] }, { calls: [['put', { arg: 'a' }]] });
  const { turnId } = bench.send('write a twice');
  await bench.rest(turnId);
  bench.decide('approve');
  expect(await bench.rest(turnId)).toBe('waiting');
  expect([tools.ran, bench.policy.pendingApprovals().length]).toEqual([['put a'], 1]);
});

test('cancelling a waiting turn withdraws its approval request', async () => {
  bench.script.push(put('a'));
  const { turnId } = bench.send('write a');
  await bench.rest(turnId);
  const { approvalId } = bench.pending();
  bench.runtime.cancel(turnId, 'ada stopped it.', 'person');
  expect(await bench.rest(turnId)).toBe('cancelled');
  expect(bench.policy.approval(approvalId)).toMatchObject({ state: 'withdrawn' });
  expect(bench.policy.pendingApprovals()).toEqual([]);
  expect(await bench.ask('something else')).toBe('done');
});

test('a message behind a waiting turn waits with it', async () => {
  bench.script.push(put('a'), { say: 'first' }, { say: 'second' });
  const first = bench.send('write a');
  await bench.rest(first.turnId);
  const second = bench.send('and then?');
  expect(bench.log.index.turn(second.turnId)?.status).toBe('queued');
  bench.decide('approve');
  expect([await bench.rest(first.turnId), await bench.rest(second.turnId)]).toEqual(['done', 'done']);
});
