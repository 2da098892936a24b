// Negative controls: one check function for each safety gate, run twice. With the gate it reports nothing; without that gate it reports the
// violation. Removing a gate unnoticed would require breaking its control.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { systemClock } from '../../core/base/clock.ts';
import { silentLogger } from '../../core/base/logger.ts';
import type { FaultHooks } from '../../core/compose.ts';
import type { AskResult } from '../../core/contracts/op-results.ts';
import type { Idempotency, ToolClass, ToolDefinition } from '../../core/contracts/tools.ts';
import { createHttpDoor } from '../../core/doors/http/http.ts';
import type { PanicSwitch } from '../../core/guard/panic/panic.ts';
import type { PolicyGate, PolicyStore } from '../../core/guard/policy/policy.ts';
import { defineTool, type TrayClaw, type TrayClawOptions } from '../../core/index.ts';
import type { BudgetPort, TurnDeps } from '../../core/runtime/turns/turns.ts';
import { verifyLog } from '../../core/store/session/session.ts';
import type { Rule, ScriptedModel } from '../doubles/scripted-model.ts';
import { until } from '../until.ts';
import { eventsOf } from './replay-check.ts';
import { eachTest } from './home-and-model.ts';
import type { TestHome } from './test-home.ts';

let home: TestHome;
let model: ScriptedModel;

eachTest((made) => ({ home, model } = made));

interface EffectTool {
  readonly name: string;
  readonly class?: ToolClass;
  readonly idempotency?: Idempotency;
  /** The target of the call as the gate sees it. */
  target?(): string;
  run(signal: AbortSignal): void | Promise<void>;
}

function createEffect(tool: EffectTool): ToolDefinition {
  const toolClass = tool.class ?? 'exec';
  return defineTool({
    name: tool.name,
    description: 'An effect of a test.',
    input: z.strictObject({}),
    class: toolClass,
    idempotency: () => tool.idempotency ?? 'unsafe',
    facts: (_args, context) => ({
      class: toolClass,
      paths: [],
      command: toolClass === 'read' ? null : { line: tool.target?.() ?? tool.name, cwd: context.workspace },
      hosts: [],
    }),
    summarize: () => tool.name,
    run: async (_args, context) => {
      await tool.run(context.signal);
      return { forModel: 'done' };
    },
  });
}

function script(...steps: readonly string[][]): void {
  const rules: Rule[] = [];
  let results = 0;
  for (const names of steps) {
    rules.push({ results, answer: { calls: names.map((tool) => ({ tool, args: {} })) } });
    results += names.length;
  }
  model.script([...rules, { answer: { text: 'done' } }]);
}

function open(tools: readonly EffectTool[], faults: FaultHooks = {}, config: TrayClawOptions['config'] = {}): Promise<TrayClaw> {
  return home.open({ config: { ...config, ...model.config('openai') }, tools: tools.map(createEffect), faults });
}

async function approveAll(claw: TrayClaw, result: AskResult): Promise<AskResult> {
  for (const { approvalId } of result.pending ?? [])
    await claw.op('approval.decide', { approvalId, decision: 'approve', scope: { kind: 'once' } });
  return claw.op('turn.wait', { turnId: result.turnId });
}

async function sessionEvents(claw: TrayClaw, sessionId: string): Promise<{ type: string; body: Record<string, unknown> }[]> {
  const found: { type: string; body: Record<string, unknown> }[] = [];
  for await (const { type, body } of eventsOf(claw, sessionId)) found.push({ type, body: body as Record<string, unknown> });
  return found;
}

const replace =
  (parts: (real: TurnDeps) => Partial<TurnDeps>): FaultHooks['replaceParts'] =>
  (real) => ({ ...real, ...parts(real) });

test('the gate is asked before anything runs', async () => {
  const check = async (faults: FaultHooks): Promise<string[]> => {
    const ran: string[] = [];
    script(['touch']);
    const claw = await open([{ name: 'touch', run: () => void ran.push('touch ran and nobody was asked') }], faults);
    await claw.ask('touch');
    await home.close(claw);
    return ran;
  };
  expect(await check({})).toEqual([]);
  const allowAll = replace(({ gate }) => {
    const lenient = Object.create(gate) as PolicyGate;
    lenient.toolRefusal = (origin) => gate.toolRefusal(origin);
    lenient.authorize = (request) => ({ ...gate.authorize(request), decision: 'allow', ruleId: 'control' });
    return { gate: lenient };
  });
  expect(await check({ ...(allowAll && { replaceParts: allowAll }) })).toEqual(['touch ran and nobody was asked']);
});

test('the stop is checked again when a call is dispatched', async () => {
  const check = async (parts: (real: TurnDeps) => Partial<TurnDeps>): Promise<string[]> => {
    const ran: string[] = [];
    let stop: (() => void) | null = null;
    script(['touch'], ['look', 'touch']);
    const tools: EffectTool[] = [
      { name: 'look', class: 'read', idempotency: 'pure', run: () => stop?.() },
      { name: 'touch', run: () => void ran.push('touch') },
    ];
    const claw = await open(tools, {
      replaceParts: (real) => {
        // Engaged in memory only: the turn itself is not cancelled, so that only this gate can stop the call.
        stop = () => (real.panic as PanicSwitch).engage(1, 'control');
        return { ...real, ...parts(real) };
      },
    });
    const asked = await claw.ask('touch, look and touch again');
    for (const { approvalId } of asked.pending ?? [])
      await claw.op('approval.decide', { approvalId, decision: 'approve', scope: { kind: 'always' } });
    await claw.op('turn.wait', { turnId: asked.turnId });
    await home.close(claw);
    return ran.slice(1).map((name) => `${name} ran after the stop`);
  };
  expect(await check(() => ({}))).toEqual([]);
  // The gate checks the stop as well, and again for calls that a grant covers; both checks are removed.
  const heedless = ({ gate }: TurnDeps): Partial<TurnDeps> => {
    const lenient = Object.create(gate) as PolicyGate;
    lenient.toolRefusal = (origin) => gate.toolRefusal(origin);
    lenient.createApproval = (request, decision) => gate.createApproval(request, decision);
    lenient.authorize = (request) => {
      const decided = gate.authorize(request);
      return decided.ruleId === 'panic.engaged' ? { ...decided, decision: 'allow' } : decided;
    };
    return { gate: lenient, panic: { engaged: false } };
  };
  expect(await check(heedless)).toEqual(['touch ran after the stop']);
});

test('a grant for one call is used up by that call', async () => {
  const check = async (faults: FaultHooks): Promise<string[]> => {
    const ran: string[] = [];
    script(['touch'], ['touch']);
    const claw = await open([{ name: 'touch', run: () => void ran.push('touch') }], faults);
    const end = await approveAll(claw, await claw.ask('touch twice'));
    await home.close(claw);
    return ran.length > 1 ? [`one yes for once ran ${ran.length} calls and the turn is ${end.status}`] : [];
  };
  expect(await check({})).toEqual([]);
  const neverSpent = replace(({ gate, policy }) => {
    const store = Object.create(policy) as PolicyStore;
    store.approval = (id) => policy.approval(id);
    store.pendingApprovals = () => policy.pendingApprovals();
    store.grant = (id) => {
      const grant = policy.grant(id);
      return grant === null ? null : { ...grant, spentAtMs: null };
    };
    const forgetful = Object.create(gate) as PolicyGate;
    forgetful.toolRefusal = (origin) => gate.toolRefusal(origin);
    forgetful.createApproval = (request, decision) => gate.createApproval(request, decision);
    forgetful.authorize = (request) => {
      const [given] = policy.grants(true, 0);
      const decided = gate.authorize(request);
      return given === undefined ? decided : { ...decided, decision: 'allow', ruleId: 'grant.once', grantId: given.grantId };
    };
    return { gate: forgetful, policy: store };
  });
  expect(await check({ ...(neverSpent && { replaceParts: neverSpent }) })).toEqual(['one yes for once ran 2 calls and the turn is done']);
});

test('the approved call is what runs: a change in between needs another approval', async () => {
  const check = async (parts: (real: TurnDeps, facts: () => string) => Partial<TurnDeps>): Promise<string[]> => {
    let target = 'shown';
    const ran: string[] = [];
    script(['touch']);
    const tools: EffectTool[] = [{ name: 'touch', target: () => target, run: () => void ran.push(target) }];
    const claw = await open(tools, { replaceParts: (real) => ({ ...real, ...parts(real, () => target) }) });
    const asked = await claw.ask('touch');
    target = 'another';
    const end = await approveAll(claw, asked);
    await home.close(claw);
    return ran.filter((what) => what !== 'shown').map((what) => `ran on ${what}, shown was another thing; ${end.status}`);
  };
  expect(await check(() => ({}))).toEqual([]);
  const blind = ({ policy, workspaces }: TurnDeps, target: () => string): Partial<TurnDeps> => {
    const store = Object.create(policy) as PolicyStore;
    store.pendingApprovals = () => policy.pendingApprovals();
    store.grant = (id) => policy.grant(id);
    store.approval = (id) => {
      const approval = policy.approval(id);
      return approval === null
        ? null
        : { ...approval, facts: { ...approval.facts, command: { line: target(), cwd: workspaces.contextOf(null).workspace } } };
    };
    return { policy: store };
  };
  expect(await check(blind)).toEqual(['ran on another, shown was another thing; done']);
});

test('the budget is checked before a model is called', async () => {
  const check = async (parts: (real: TurnDeps) => Partial<TurnDeps>): Promise<string[]> => {
    model.requests.length = 0;
    script();
    const claw = await open([], { replaceParts: (real) => ({ ...real, ...parts(real) }) }, { budget: { perTurnUsd: 0 } });
    const { status } = await claw.ask('spend');
    await home.close(claw);
    return model.requests.map(() => `a model was asked on a budget of nothing; ${status}`);
  };
  expect(await check(() => ({}))).toEqual([]);
  const heedless: BudgetPort = {
    reserve: () => ({ ok: true, reservation: { settle: () => undefined }, unpriced: [], room: { usd: null, tokens: null } }),
    finishTurn: () => undefined,
  };
  expect(await check(() => ({ budget: heedless }))).toEqual(['a model was asked on a budget of nothing; done']);
});

test('an interrupted unsafe call is never run again by a start', async () => {
  const check = async (idempotency: Idempotency): Promise<string[]> => {
    const ran: string[] = [];
    script(['touch']);
    const stuck: EffectTool = {
      name: 'touch',
      idempotency,
      run: (signal) => {
        ran.push('touch');
        return ran.length > 1
          ? undefined
          : new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('cut off'))));
      },
    };
    const first = await open([stuck]);
    const asked = await first.ask('touch');
    for (const { approvalId } of asked.pending ?? []) await first.op('approval.decide', { approvalId, decision: 'approve' });
    await until(() => ran.length === 1, 'the call is under way');
    await home.close(first);
    const second = await open([stuck]);
    await second.op('turn.wait', { turnId: asked.turnId, timeoutMs: 5_000 });
    const { outcomes } = await second.op('outcome.list', {});
    await home.close(second);
    const asks = outcomes.filter(({ turnId }) => turnId === asked.turnId).length;
    return ran.length > 1 ? [`ran ${ran.length} times, ${asks} questions asked`] : [];
  };
  expect(await check('unsafe')).toEqual([]);
  // A runtime that takes the call for an idempotent one.
  expect(await check('idempotent')).toEqual(['ran 2 times, 0 questions asked']);
});

test('a call has one result, whatever tries to write a second one', async () => {
  const check = async (spoil: (log: TurnDeps['log']) => void): Promise<string[]> => {
    let log: TurnDeps['log'] | null = null;
    script(['touch']);
    const claw = await open([{ name: 'touch', run: () => undefined }], { replaceParts: (real) => ({ ...real, log: (log = real.log) }) });
    const { sessionId } = await approveAll(claw, await claw.ask('touch'));
    const finished = (await sessionEvents(claw, sessionId)).find(({ type }) => type === 'tool.finished');
    const found = log as TurnDeps['log'] | null;
    if (found === null || finished === undefined) throw new Error('nothing was recorded');
    spoil(found);
    let refused = 'accepted';
    try {
      found.append(sessionId, [{ type: 'tool.finished', body: finished.body as never }]);
    } catch (cause) {
      refused = (cause as { code?: string }).code ?? String(cause);
    }
    const results = (await sessionEvents(claw, sessionId)).filter(({ type }) => type === 'tool.finished').length;
    await claw.close();
    return results > 1 ? [`${results} results of one call, the second ${refused}`] : [];
  };
  expect(await check(() => undefined)).toEqual([]);
  // Without the row that reserves the place of the first result.
  expect(await check((log) => log.storage.db.exec('DELETE FROM tool_calls'))).toEqual(['2 results of one call, the second accepted']);
});

test('a changed log is detected by its hash chain, and by nothing less', async () => {
  script();
  const claw = await open([]);
  await claw.ask('remember this');
  await home.close(claw);
  const db = new Database(join(home.path, 'trayclaw.db'));
  try {
    db.exec(`UPDATE events SET body = replace(body, 'remember', 'dismember') WHERE type = 'user.message'`);
    const check = (isSound: boolean): string[] => (isSound ? ['a changed log was taken for sound'] : []);
    expect(check((await verifyLog(db, () => Promise.resolve())).ok)).toEqual([]);
    expect(check((db.pragma('integrity_check', { simple: true }) as string) === 'ok')).toEqual(['a changed log was taken for sound']);
  } finally {
    db.close();
  }
});

test('a stranger on this machine cannot do anything without the token', async () => {
  script();
  const claw = await open([]);
  const check = async (url: string): Promise<string[]> => {
    const tries: [string, Record<string, string>][] = [
      ['no token', {}],
      ['a wrong token', { authorization: 'Bearer wrong' }],
      ['a token in the wrong place', { cookie: 'token=right-token' }],
    ];
    const reports: string[] = [];
    for (const [how, headers] of tries) {
      const response = await fetch(`${url}/api/ops/panic.status`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: '{}',
      });
      await response.text();
      if (response.ok) reports.push(`let in with ${how}`);
    }
    return reports;
  };
  const door = createHttpDoor({
    claw,
    token: 'right-token',
    logger: silentLogger,
    clock: systemClock,
    assetsFolder: null,
    version: 'test',
  });
  const listening = await door.listen({ port: 0 });
  expect(await check(listening.url)).toEqual([]);
  await listening.close();
  const ungated = createServer((request, response) => {
    request.resume();
    void claw.op('panic.status', {}).then((result) => response.end(JSON.stringify({ ok: true, result })));
  });
  await new Promise<void>((resolve) => ungated.listen(0, '127.0.0.1', resolve));
  expect(await check(`http://127.0.0.1:${(ungated.address() as AddressInfo).port}`)).toHaveLength(3);
  ungated.closeAllConnections();
  await new Promise<void>((resolve) => ungated.close(() => resolve()));
  await home.close(claw);
});
