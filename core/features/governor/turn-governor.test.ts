// The governor in turns: the effect of its directives, that it only tightens, that observing changes nothing, and that its state survives a
// restart.

import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import fc from 'fast-check';
import type { ConfigInput } from '../../contracts/config.ts';
import { governorConfigSchema, type GovernorConfig } from '../../contracts/features/governor.ts';
import { noTaint, toolClasses, type ToolClass, type ToolDefinition } from '../../contracts/tools.ts';
import { defineTool } from '../../hands/tools/tools.ts';
import type { VerifyPort } from '../../runtime/turns/turns.ts';
import { TurnBench } from '../../../tests/rigs/turn-bench.ts';
import { assessCall } from './assess.ts';
import { createGovernorOps } from './ops.ts';
import { rules } from './rules.ts';
import { applyToFollowed, follow } from './signals.ts';
import { TurnGovernor } from './turn-governor.ts';

const web = { kind: 'web' as const, where: 'news.example' };

const manySources = { ...noTaint, session: Array.from({ length: 5 }, (_, at) => ({ kind: 'web' as const, where: `site${at}.example` })) };

interface Bench {
  readonly bench: TurnBench;
  readonly ran: string[];
  readonly verified: string[];
  readonly config: GovernorConfig;
}

function createBench(given: { mode?: GovernorConfig['mode']; verifier?: boolean; stronger?: string } = {}): Bench {
  const { mode = 'on', verifier = false, stronger } = given;
  const config = governorConfigSchema.parse({ mode, ...(stronger === undefined ? {} : { stronger }) });
  const ran: string[] = [];
  const verified: string[] = [];
  const tool = (name: string, toolClass: ToolClass, fails = false): ToolDefinition =>
    defineTool({
      name,
      description: name,
      input: z.strictObject({ at: z.string().default('') }),
      class: toolClass,
      idempotency: () => (toolClass === 'read' ? 'pure' : 'unsafe'),
      facts: (args, { workspace }) => ({
        class: toolClass,
        paths: [],
        hosts: args.at === '' ? [] : [args.at],
        command:
          toolClass === 'exec'
            ? {
                line: name,
                cwd: workspace,
              }
            : null,
      }),
      summarize: () => name,
      run: (args) => {
        ran.push(name);
        if (fails) throw new Error('it failed');
        return Promise.resolve({ forModel: name === 'look' ? `${args.at} ${ran.length}` : 'done' });
      },
    });
  const port: VerifyPort = {
    covers: () => false,
    verify: ({ request }) => {
      verified.push(request.tool);
      return Promise.resolve({ by: 'lab/judge', verdict: 'INVALID', outcome: 'deny', reason: 'No.', tookMs: 1 });
    },
  };
  const policy: NonNullable<ConfigInput['policy']> = { rules: [{ when: { classes: [...toolClasses] }, then: 'allow' }] };
  const parts: { bench?: TurnBench } = {};
  const governor: { follow: TurnGovernor['follow'] } = {
    // The log exists only once the bench does. Each `follow` creates a governor, as a restart does.
    follow: (place) => {
      const { bench } = parts;
      if (bench === undefined) throw new Error('there is no bench yet');
      const deps = { config, clock: bench.clock, log: bench.log, policy: bench.policy, budget: { states: () => [] }, hasLimits: false };
      return new TurnGovernor(deps).follow(place);
    },
  };
  const bench = new TurnBench({
    tools: [tool('pay', 'spend'), tool('shell', 'exec'), tool('get', 'network'), tool('break', 'write', true), tool('look', 'read')],
    policy,
    ...(mode === 'off' ? {} : { governor }),
    ...(verifier ? { verifier: port } : {}),
  });
  parts.bench = bench;
  onTestFinished(async () => {
    expect(bench.replay('trn_1')).toMatchObject({ identical: true, differences: [] });
    await bench.dispose();
  });
  return { bench, ran, verified, config };
}

const decided = (bench: TurnBench) => bench.of('trn_1', 'policy.decided').map(({ tool, decision, ruleId }) => [tool, decision, ruleId]);

const explain = ({ bench, config }: Bench) => createGovernorOps({ log: bench.log, clock: bench.clock, config, perTurnUsd: null });

test('verifies a grave call that a rule allows, and asks if there is no verifier', async () => {
  const asked = createBench();
  asked.bench.script.push({ calls: [['pay', {}]] });
  expect(await asked.bench.ask('go')).toBe('waiting');
  expect(asked.bench.pending()).toMatchObject({
    ruleId: 'governor.risk.validate',
    reason: 'Its harm does not come back.',
    widerScope: null,
  });
  const checked = createBench({ verifier: true });
  checked.bench.script.push({ calls: [['pay', {}]] });
  expect(await checked.bench.ask('go')).toBe('done');
  expect([checked.verified, checked.ran, decided(checked.bench)]).toEqual([['pay'], [], [['pay', 'deny', 'verify.invalid']]]);
  expect(checked.bench.of('trn_1', 'call.verified')).toMatchObject([{ ruleId: 'risk.validate' }]);
});

test('asks about allowed calls in a session with much untrusted content', async () => {
  const { bench, ran } = createBench();
  bench.taintOf = () => manySources;
  bench.script.push({ calls: [['shell', {}]] });
  expect(await bench.ask('go')).toBe('waiting');
  expect(bench.pending().ruleId).toBe('governor.taint.many');
  bench.decide('approve');
  expect([await bench.rest('trn_1'), ran]).toEqual(['done', ['shell']]);
});

test('an approval that the gate asks for names both reasons and covers only this call', async () => {
  const { bench } = createBench();
  bench.taintOf = () => ({ ...noTaint, session: [web], derived: [web] });
  bench.script.push({ calls: [['shell', {}]] });
  expect(await bench.ask('go')).toBe('waiting');
  const { ruleId, reason, widerScope } = bench.pending();
  expect([ruleId, reason.endsWith(' It may derive from untrusted content.'), widerScope]).toEqual(['taint.unseen', true, null]);
});

test('observing records the same findings and changes nothing', async () => {
  const made = createBench({ mode: 'observe', verifier: true, stronger: 'lab/big' });
  const { bench, ran, verified } = made;
  bench.taintOf = () => manySources;
  bench.script.push({ calls: [['shell', {}]] });
  expect(await bench.ask('go')).toBe('done');
  expect([ran, verified, decided(bench)]).toEqual([['shell'], [], [['shell', 'allow', 'rule.allow']]]);
  expect(bench.of('trn_1', 'governor.assessed')).toMatchObject([{ mode: 'observe', decision: 'allow', applied: [] }]);
});

test('when off, a turn has the same events as without a governor', async () => {
  const { bench } = createBench({ mode: 'off' });
  bench.taintOf = () => manySources;
  bench.script.push({ calls: [['shell', {}]] });
  await bench.ask('go');
  const types = bench.events('trn_1').map(({ type }) => type);
  expect(types.filter((type) => type.startsWith('governor.'))).toEqual([]);
  const watched = createBench({ mode: 'observe' });
  watched.bench.taintOf = () => manySources;
  watched.bench.script.push({ calls: [['shell', {}]] });
  await watched.bench.ask('go');
  expect(watched.bench.events('trn_1').flatMap(({ type }) => (type === 'governor.assessed' ? [] : [type]))).toEqual(types);
});

test('stops a class that keeps failing for the turn, even after a restart', async () => {
  const { bench, ran } = createBench();
  for (let round = 0; round < 5; round++) bench.script.push({ calls: [['break', { at: `host${round}` }]] });
  bench.script.push({ calls: [['break', { at: 'again' }]] }, { hang: true });
  const { turnId } = bench.send('go');
  await restOrApprove(bench, turnId, 12);
  expect(ran).toHaveLength(5);
  expect(decided(bench).at(-1)).toEqual(['break', 'deny', 'governor.failures.stop-class']);
  bench.script.length = 0;
  bench.script.push({ calls: [['break', { at: 'later' }]] });
  await bench.restart();
  expect(await bench.rest(turnId)).toBe('done');
  expect([decided(bench).at(-1)?.slice(0, 2), ran.length]).toEqual([['break', 'deny'], 5]);
});

test('a stopped class stays stopped if a call in flight succeeds', () => {
  const turn = follow();
  const facts = { class: 'exec' as const, paths: [], command: null, hosts: [] };
  const finding = { signal: 'classFailures' as const, value: 5, ruleId: 'failures.stop-class', directive: 'stop_class' as const };
  const body = { callId: 'c', mode: 'on' as const, class: 'exec', findings: [finding], applied: ['stop_class' as const] };
  applyToFollowed(turn, { type: 'governor.assessed', atMs: 0, body });
  const moment = { facts, taint: { session: 0, derived: 0 }, budget: 0, grantAgeDays: 0, callId: 'd', decision: 'allow' as const };
  expect(assessCall(turn, moment, { mode: 'on' })?.tightening).toMatchObject({ decision: 'deny', ruleId: 'governor.class.stopped' });
  const others = { ...moment, facts: { ...facts, class: 'read' as const } };
  expect(assessCall(turn, others, { mode: 'on' })).toBe(null);
});

/** Approves every request until the turn is idle; waits at most 500 ms per round. */
async function restOrApprove(bench: TurnBench, turnId: string, times: number): Promise<void> {
  for (let round = 0; round < times; round++) {
    const status = await Promise.race([bench.rest(turnId), new Promise((resolve) => setTimeout(resolve, 500, 'hangs'))]);
    if (status !== 'waiting') return;
    bench.decide('approve');
  }
}

test('a different result of the same call is a contradiction and gets a second opinion', async () => {
  const made = createBench();
  made.bench.script.push({ calls: [['look', { at: '' }]] }, { calls: [['look', { at: '' }]] }, { say: 'done' });
  expect(await made.bench.ask('go')).toBe('done');
  const answer = { signal: 'contradictions', value: 1, ruleId: 'contradictions.opinion', directive: 'second_opinion' };
  expect(made.bench.of('trn_1', 'governor.assessed')).toMatchObject([{ callId: null, findings: [answer], applied: ['second_opinion'] }]);
});

test('an escalated turn continues with the stronger model, unless the person chose one', async () => {
  const { bench } = createBench({ stronger: 'lab/big', verifier: true });
  bench.script.push({ calls: [['pay', {}]] }, { say: 'done' });
  await bench.ask('go');
  expect(bench.of('trn_1', 'model.requested').map(({ model }) => model)).toEqual(['lab/m', 'lab/big']);
});

test('a host that the session has used before is not new', async () => {
  const { bench } = createBench();
  bench.taintOf = () => ({ ...noTaint, session: [web] });
  bench.script.push({ calls: [['get', { at: 'a.example' }]] });
  expect(await bench.ask('go')).toBe('waiting');
  expect(bench.pending().ruleId).toBe('governor.novelty.tainted');
  bench.decide('approve');
  expect(await bench.rest('trn_1')).toBe('done');
  bench.script.push({ calls: [['get', { at: 'a.example' }]] });
  expect(await bench.ask('again')).toBe('done');
});

test('explains recorded findings, or applies the rules to the log if it was off', async () => {
  const made = createBench({ mode: 'off' });
  made.bench.script.push({ calls: [['pay', {}]] });
  await made.bench.ask('go');
  const explained = await explain(made)['governor.explain']({ turnId: 'trn_1' }, caller);
  const finding = { signal: 'risk', value: 85, callId: 'call_1', tool: 'pay', applied: false };
  expect(explained).toEqual({
    turnId: 'trn_1',
    recorded: false,
    findings: [
      {
        ...finding,
        ruleId: 'risk.validate',
        directive: 'validate',
      },
      {
        ...finding,
        ruleId: 'risk.escalate',
        directive: 'escalate',
      },
    ],
  });
  const observed = createBench({ mode: 'observe' });
  observed.bench.script.push({ calls: [['pay', {}]] });
  await observed.bench.ask('go');
  expect(await explain(observed)['governor.explain']({ turnId: 'trn_1' }, caller)).toEqual({ ...explained, recorded: true });
});

test('simulates past turns without writing anything', async () => {
  const made = createBench({ mode: 'off' });
  const { bench } = made;
  bench.script.push({ calls: [['pay', {}]] }, { say: 'paid' }, { calls: [['look', { at: '' }]] });
  await bench.ask('go');
  await bench.ask('look');
  const before = bench.log.lastSeq;
  expect(await explain(made)['governor.try']({ days: 30 }, caller)).toEqual({
    turns: 2,
    calls: 2,
    tightened: 1,
    lookedBackToMs: null,
    rules: [
      {
        ruleId: 'risk.validate',
        directive: 'validate',
        findings: 1,
        turns: 1,
        lastTurnId: 'trn_1',
      },
      {
        ruleId: 'risk.escalate',
        directive: 'escalate',
        findings: 1,
        turns: 1,
        lastTurnId: 'trn_1',
      },
    ],
  });
  expect(bench.log.lastSeq).toBe(before);
  bench.clock.advance(3 * 86_400_000);
  expect(await explain(made)['governor.try']({ days: 2 }, caller)).toMatchObject({ turns: 0, calls: 0 });
});

test('a decision only becomes stricter, for any turn', () => {
  const strictness = { allow: 0, ask: 1, deny: 2 } as const;
  const count = fc.integer({ min: 0, max: 8 });
  const situations = fc.record({
    failures: count,
    classFailures: count,
    denials: count,
    contradictions: count,
    hedging: count,
    taint: count,
    derived: count,
    budget: fc.integer({ min: 0, max: 120 }),
    days: fc.integer({ min: 0, max: 90 }),
  });
  const decisions = fc.constantFrom('allow' as const, 'ask' as const);
  fc.assert(
    fc.property(
      fc.constantFrom(...toolClasses),
      decisions,
      situations,
      fc.constantFrom('on' as const, 'observe' as const),
      (toolClass, decision, at, mode) => {
        const turn = follow();
        Object.assign(turn, { failures: at.failures, denials: at.denials, contradictions: at.contradictions, hedging: at.hedging });
        turn.classFailures.set(toolClass, at.classFailures);
        const facts = { class: toolClass, paths: [], command: null, hosts: [] };
        const moment = { facts, taint: { session: at.taint, derived: at.derived }, budget: at.budget, grantAgeDays: at.days };
        const assessed = assessCall(turn, { ...moment, callId: 'c', decision }, { mode });
        if (mode === 'observe')
          expect([assessed?.tightening ?? null, assessed?.verify ?? null, assessed?.event.applied ?? []]).toEqual([null, null, []]);
        for (const to of [assessed?.tightening, assessed?.verify?.otherwise]) if (to) expect(strictness[to.decision]).toBeGreaterThan(0);
      },
    ),
  );
  expect(rules.every(({ directive }) => (directive as string) !== 'allow')).toBe(true);
});

const caller = { channel: 'cli', actor: 'ada', gone: new AbortController().signal } as const;
