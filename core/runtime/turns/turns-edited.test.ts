import { afterEach, beforeEach, expect, test } from 'vitest';
import { BenchTools } from '../../../tests/rigs/bench-tools.ts';
import { TurnBench } from '../../../tests/rigs/turn-bench.ts';

let tools: BenchTools;
let bench: TurnBench;

function open(policy: NonNullable<ConstructorParameters<typeof TurnBench>[0]>['policy'] = {}): void {
  tools = new BenchTools();
  bench = new TurnBench({ tools: tools.list(), policy });
}

beforeEach(() => open());

afterEach(async () => {
  for (const replay of bench.replays()) expect(replay).toMatchObject({ identical: true, differences: [] });
  await bench.dispose();
});

async function ask(tool: 'put' | 'fire', arg: string): Promise<string> {
  bench.script.push({ calls: [[tool, { arg }]] }, { say: 'ok' });
  const { turnId } = bench.send(`${tool} ${arg}`);
  expect(await bench.rest(turnId)).toBe('waiting');
  return turnId;
}

test('a call that the person edited runs as edited, and log and model know both', async () => {
  const turnId = await ask('put', 'a');
  bench.decideEdited({ arg: 'b' });
  expect(await bench.rest(turnId)).toBe('done');
  expect(tools.ran).toEqual(['put b']);
  expect(bench.of(turnId, 'approval.requested')[0]?.approval.args).toBe('{"arg":"a"}');
  expect(bench.of(turnId, 'approval.decided')).toMatchObject([{ decision: 'approve', by: 'ada', edited: { args: '{"arg":"b"}' } }]);
  expect(bench.of(turnId, 'policy.decided').map(({ decision, ruleId }) => `${decision} ${ruleId}`)).toEqual([
    'ask ask.write',
    'allow grant.once',
  ]);
  expect(bench.of(turnId, 'tool.requested')).toMatchObject([{ args: '{"arg":"b"}', grantId: 'grt_1' }]);
  const told = { role: 'tool', text: 'The person changed this call. Its arguments were: {"arg":"b"}\nResult:\nput b done' };
  expect([bench.asked[1]?.messages.at(-1), bench.reloaded().at(-2)]).toMatchObject([told, told]);
});

test('an edited call that reveals more than was shown is asked about again', async () => {
  const turnId = await ask('fire', 'x');
  tools.folder.path = '/elsewhere';
  bench.decideEdited({ arg: 'y' });
  expect(await bench.rest(turnId)).toBe('waiting');
  expect([tools.ran, bench.pending()]).toMatchObject([[], { summary: 'Wants to fire y', args: '{"arg":"y"}' }]);
  bench.decide('approve');
  expect(await bench.rest(turnId)).toBe('done');
  expect(tools.ran).toEqual(['fire y']);
});

test('an edited call outside the workspace is asked about again', async () => {
  const turnId = await ask('put', 'a');
  bench.decideEdited({ arg: '../b' });
  expect(await bench.rest(turnId)).toBe('waiting');
  expect([tools.ran, bench.pending().args]).toEqual([[], '{"arg":"../b"}']);
});

test('the gate judges an edited call again: without a grant it asks', async () => {
  const turnId = await ask('put', 'a');
  bench.decideEdited({ arg: 'b' }, false);
  expect(await bench.rest(turnId)).toBe('waiting');
  expect([tools.ran, bench.policy.pendingApprovals().length, bench.pending().args]).toEqual([[], 1, '{"arg":"b"}']);
  bench.decide('deny');
  expect(await bench.rest(turnId)).toBe('done');
  expect([tools.ran, bench.asked[1]?.messages.at(-1)?.text]).toMatchObject([[], expect.stringContaining('The person said no')]);
});

test('an edited call that the policy refuses is rejected; the approval stays pending', async () => {
  await bench.dispose();
  open({ rules: [{ then: 'deny', when: { paths: ['/ws/secret/**'] } }] });
  const turnId = await ask('put', 'a');
  expect(() => bench.decideEdited({ arg: 'secret/b' })).toThrow('The changed call is not allowed');
  expect([bench.pending().args, bench.log.index.turn(turnId)?.status]).toEqual(['{"arg":"a"}', 'waiting']);
});

test('the grant of an edited call is for that one call', async () => {
  const turnId = await ask('put', 'a');
  bench.decideEdited({ arg: 'b' });
  await bench.rest(turnId);
  await ask('put', 'b');
  expect(tools.ran).toEqual(['put b']);
});
