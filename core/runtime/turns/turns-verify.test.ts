// Verification in a turn: between the gate's decision and the approval or the run, and only ever stricter.

import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import type { ConfigInput } from '../../contracts/config.ts';
import { AppError } from '../../contracts/errors.ts';
import type { ToolClass, ToolDefinition } from '../../contracts/tools.ts';
import { defineTool } from '../../hands/tools/tools.ts';
import type { VerifyPort } from './turns.ts';
import { TurnBench } from '../../../tests/rigs/turn-bench.ts';

type Verified = Awaited<ReturnType<VerifyPort['verify']>>;

const verified = (verdict: Verified['verdict'], outcome: Verified['outcome'], reason = ''): Verified => ({
  by: 'lab/judge',
  verdict,
  outcome,
  reason,
  tookMs: 1,
});
const valid = verified('VALID', 'pass');

/** A rule of config.yaml: only such a rule lets a grave call run without an approval. */
const allows = (tool: string) => ({ rules: [{ when: { tools: [tool] }, then: 'allow' as const }] });

function createBench(
  answer: (tool: string) => Verified | Promise<Verified>,
  policy: NonNullable<ConfigInput['policy']> = {},
): { bench: TurnBench; ran: string[]; seen: string[] } {
  const ran: string[] = [];
  const seen: string[] = [];
  const tool = (name: string, toolClass: ToolClass): ToolDefinition =>
    defineTool({
      name,
      description: name,
      input: z.strictObject({}),
      class: toolClass,
      idempotency: () => 'unsafe',
      facts: (_args, { workspace }) => ({ class: toolClass, paths: [], command: { line: name, cwd: workspace }, hosts: [] }),
      summarize: () => name,
      run: () => {
        ran.push(name);
        return Promise.resolve({ forModel: 'done' });
      },
    });
  const verifier: VerifyPort = {
    covers: (toolClass) => ['destructive', 'spend', 'credential'].includes(toolClass),
    verify: async ({ request, decision }) => {
      seen.push(`${request.tool} ${decision.decision}`);
      return answer(request.tool);
    },
  };
  const bench = new TurnBench({
    tools: [tool('wipe', 'destructive'), tool('pay', 'spend'), tool('sign', 'credential'), tool('shell', 'exec')],
    verifier,
    policy,
  });
  onTestFinished(async () => {
    expect(bench.replay('trn_1')).toMatchObject({ identical: true, differences: [] });
    await bench.dispose();
  });
  return { bench, ran, seen };
}

const decided = (bench: TurnBench, turnId = 'trn_1') =>
  bench.of(turnId, 'policy.decided').map(({ tool, decision, ruleId }) => [tool, decision, ruleId]);

test('a verdict that denies the call names its rule and needs no approval', async () => {
  const { bench, ran, seen } = createBench(() => verified('INVALID', 'deny', 'It would delete the only copy.'));
  bench.script.push({ calls: ['wipe', 'pay', 'sign'].map((tool) => [tool, {}] as const) });
  expect(await bench.ask('go')).toBe('done');
  expect(seen).toEqual(['wipe ask', 'pay ask', 'sign ask']);
  expect(decided(bench)).toEqual(['wipe', 'pay', 'sign'].map((tool) => [tool, 'deny', 'verify.invalid']));
  expect([ran, bench.policy.pendingApprovals()]).toEqual([[], []]);
  expect(bench.asked[1]?.messages.at(-1)).toMatchObject({ role: 'tool', text: 'Not allowed: It would delete the only copy.' });
});

test('control: a valid call waits for an approval and then runs', async () => {
  const { bench, ran } = createBench(() => valid);
  bench.script.push({ calls: [['wipe', {}]] });
  expect(await bench.ask('go')).toBe('waiting');
  bench.decide('approve');
  expect(await bench.rest('trn_1')).toBe('done');
  expect([ran, decided(bench)]).toEqual([['wipe'], [['wipe', 'ask', 'ask.destructive']]]);
});

test('a positive verdict loosens nothing', async () => {
  const { bench, ran } = createBench(() => valid);
  bench.script.push({ calls: [['pay', {}]] });
  expect([await bench.ask('go'), ran]).toEqual(['waiting', []]);
});

test('a verdict that asks overrides an allow rule, and takes no wider grant', async () => {
  let answer: Verified = valid;
  const { bench, ran, seen } = createBench(() => answer, allows('pay'));
  bench.script.push({ calls: [['pay', {}]] });
  expect(await bench.ask('go')).toBe('done');
  answer = verified('NEEDS_SPEC', 'ask', 'The amount is unusual.');
  bench.script.push({ calls: [['pay', {}]] });
  expect(await bench.ask('again')).toBe('waiting');
  expect(bench.pending()).toMatchObject({ ruleId: 'verify.needs_spec', reason: 'The amount is unusual.', widerScope: null });
  expect([seen, ran]).toEqual([['pay allow', 'pay allow'], ['pay']]);
});

test('other classes are not verified', async () => {
  const { bench, seen } = createBench(() => verified('INVALID', 'deny'));
  bench.script.push({ calls: [['shell', {}]] });
  expect([await bench.ask('go'), seen]).toEqual(['waiting', []]);
});

test('a verifier that breaks denies, whatever a rule allows', async () => {
  let fails = false;
  const { bench, ran } = createBench(() => {
    if (fails) throw new AppError('model_unavailable', 'gone');
    return valid;
  }, allows('wipe'));
  bench.script.push({ calls: [['wipe', {}]] }, { say: 'ok' }, { calls: [['wipe', {}]] });
  expect(await bench.ask('go')).toBe('done');
  fails = true;
  expect(await bench.ask('again')).toBe('done');
  expect([decided(bench, 'trn_2'), ran]).toEqual([[['wipe', 'deny', 'verify.unavailable']], ['wipe']]);
});

test('the verdict is recorded before the decision, and its cost is part of the turn', async () => {
  const usage = { inputTokens: 100, outputTokens: 20, cachedInputTokens: 0 };
  const { bench } = createBench(() => ({ ...valid, usage, costUsd: 0.25 }), allows('wipe'));
  bench.script.push({ calls: [['wipe', {}]] });
  expect(await bench.ask('go')).toBe('done');
  const types = bench.events('trn_1').map(({ type }) => type);
  expect(types.indexOf('call.verified')).toBe(types.indexOf('policy.decided') - 1);
  expect(bench.of('trn_1', 'call.verified')).toEqual([{ callId: 'call_1', ...valid, usage, costUsd: 0.25 }]);
  expect(bench.of('trn_1', 'turn.finished')).toMatchObject([{ usage: { inputTokens: 120, outputTokens: 30 }, costUsd: 1.25 }]);
});

test('stopping a turn does not wait for its verifier', async () => {
  const hangs = Promise.withResolvers<Verified>();
  const { bench } = createBench(() => hangs.promise);
  bench.script.push({ calls: [['wipe', {}]] });
  const { turnId } = bench.send('go');
  await new Promise((resolve) => setImmediate(resolve));
  bench.runtime.cancel(turnId, 'enough', 'person');
  expect(await bench.rest(turnId)).toBe('cancelled');
  hangs.resolve(valid);
});

test('a tool replaced during the check is read and run as its new version', async () => {
  const instead: string[] = [];
  const other = defineTool({
    name: 'wipe',
    description: 'wipe',
    input: z.strictObject({ gently: z.boolean().default(true) }),
    class: 'destructive',
    idempotency: () => 'unsafe',
    facts: (_args, { workspace }) => ({ class: 'destructive', paths: [], command: { line: 'wipe', cwd: workspace }, hosts: [] }),
    summarize: () => 'wipe',
    run: ({ gently }) => {
      instead.push(`gently: ${gently}`);
      return Promise.resolve({ forModel: 'done' });
    },
  });
  const { bench, ran } = createBench(() => {
    bench.tools.register(other);
    return valid;
  }, allows('wipe'));
  bench.script.push({ calls: [['wipe', {}]] });
  expect(await bench.ask('go')).toBe('done');
  expect([ran, instead]).toEqual([[], ['gently: true']]);
});
