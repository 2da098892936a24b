// Every entry point × every way to an effect: nothing runs unless the gate was asked before about the same call with the same facts. A spy
// watches the gate and the tool host of a real runtime; its records survive restarts, as they would survive a crash.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import { canonicalJson } from '../../core/base/json.ts';
import { systemClock } from '../../core/base/clock.ts';
import { silentLogger } from '../../core/base/logger.ts';
import type { Claw } from '../../core/contracts/claw.ts';
import type { OpName, OpParams, OpResult } from '../../core/contracts/ops.ts';
import type { ToolContext, ToolDefinition } from '../../core/contracts/tools.ts';
import { createHttpDoor, findInstance, HttpClaw, InstanceDoor, type HttpDoor } from '../../core/doors/http/http.ts';
import type { PolicyGate } from '../../core/guard/policy/policy.ts';
import { defineTool, type TrayClaw } from '../../core/index.ts';
import type { TurnDeps } from '../../core/runtime/turns/turns.ts';
import { OpFailure } from '../../renderer/lib/client.ts';
import { HttpClient } from '../../renderer/lib/http-client.ts';
import { FakeClaw } from '../doubles/fake-claw.ts';
import { FakeTerminal, fakeParts } from '../doubles/fake-terminal.ts';
import { runCli } from '../../core/doors/cli/cli.ts';
import { ScriptedModel, type Rule } from '../doubles/scripted-model.ts';
import { until } from '../until.ts';
import { TestHome } from './test-home.ts';

const token = 'the-right-token-of-this-door';

/** Calls operations through a door, in its form. */
type Door = <N extends OpName>(name: N, params: OpParams<N>) => Promise<OpResult<N>>;

class GateSpy {
  readonly asked = new Set<string>();
  readonly runs: string[] = [];
  readonly violations: string[] = [];
  /** Disables the spy's record of the gate, as a control. */
  isBlind = false;

  replace(real: TurnDeps): TurnDeps {
    const gate = Object.create(real.gate) as PolicyGate;
    gate.createApproval = (request, decision) => real.gate.createApproval(request, decision);
    gate.toolRefusal = (origin) => real.gate.toolRefusal(origin);
    gate.authorize = (request) => {
      const { callId } = request as { callId?: string };
      if (this.isBlind) return { ...real.gate.authorize(request), decision: 'allow', ruleId: 'control', grantId: null };
      if (callId !== undefined) this.asked.add(`${callId} ${request.tool} ${request.argsHash} ${canonicalJson(request.facts)}`);
      return real.gate.authorize(request);
    };
    const run: TurnDeps['tools']['run'] = (parsed, context) => {
      const facts = canonicalJson(parsed.tool.facts(parsed.args, real.workspaces.contextOf(null)));
      this.runs.push(`${parsed.name} ${context.callId}`);
      if (!this.asked.has(`${context.callId} ${parsed.name} ${parsed.argsHash} ${facts}`)) this.violations.push(parsed.name);
      return real.tools.run(parsed, context);
    };
    const host = real.tools;
    return {
      ...real,
      gate,
      tools: {
        schemas: () => host.schemas(),
        planSchemas: () => host.planSchemas(),
        get: (name) => host.get(name),
        parse: (name, args) => host.parse(name, args),
        run,
      },
    };
  }
}

let home: TestHome;
let model: ScriptedModel;
let spy: GateSpy;
let claw: TrayClaw;
let http: HttpDoor;
let socket: InstanceDoor;
let doors: Record<string, Door>;
let closers: (() => Promise<unknown>)[];
let seenContext: ToolContext | null;

function tools(): ToolDefinition[] {
  const effect = (name: string, toolClass: 'exec' | 'read', stuckFirst = false): ToolDefinition =>
    defineTool({
      name,
      description: name,
      input: z.strictObject({ n: z.number().optional() }),
      class: toolClass,
      idempotency: () => (name === 'again' ? 'idempotent' : toolClass === 'read' ? 'pure' : 'unsafe'),
      facts: (_args, { workspace }) => ({
        class: toolClass,
        paths: [],
        command: toolClass === 'exec' ? { line: name, cwd: workspace } : null,
        hosts: [],
      }),
      summarize: () => name,
      run: (_args, context) => {
        seenContext = context;
        const isStuck = stuckFirst && spy.runs.filter((one) => one.startsWith(name)).length === 1;
        if (!isStuck) return Promise.resolve({ forModel: 'done' });
        return new Promise((_, reject) => context.signal.addEventListener('abort', () => reject(new Error('cut off'))));
      },
    });
  return [effect('touch', 'exec'), effect('look', 'read'), effect('stuck', 'exec', true), effect('again', 'exec', true)];
}

async function openAll(): Promise<void> {
  claw = await home.open({ config: model.config('openai'), tools: tools(), faults: { replaceParts: (real) => spy.replace(real) } });
  const options = { claw, logger: silentLogger, clock: systemClock, assetsFolder: null, version: 'test' };
  http = createHttpDoor({ ...options, token });
  const { port, url } = await http.listen({});
  socket = new InstanceDoor({ ...options, home: home.path, pid: process.pid, platform: process.platform, temporaryFolder: home.path });
  await socket.open();
  const overHttp = new HttpClaw({ address: { port }, token });
  const overSocket = (await findInstance(home.path))?.claw;
  if (overSocket === undefined) throw new Error('no instance was found');
  const windowClient = new HttpClient({ origin: url, token });
  closers = [() => overHttp.close(), () => overSocket.close(), () => socket.dispose(), () => http.close()];
  doors = {
    library: (name, params) => claw.op(name, params),
    http: (name, params) => overHttp.op(name, params),
    'local socket': (name, params) => overSocket.op(name, params),
    window: (name, params) => windowClient.op(name, params),
    cli: (name, params) => throughCommandLine(overSocket, name, params),
  };
}

async function closeAll(): Promise<void> {
  for (const close of closers) await close();
  await home.close(claw);
}

/** Runs the operations that have a command through the command line; calls the others directly. */
async function throughCommandLine<N extends OpName>(running: Claw, name: N, params: OpParams<N>): Promise<OpResult<N>> {
  const given = params as Record<string, string>;
  const commands: Partial<Record<OpName, readonly string[]>> = {
    'tool.run': ['tool', given['tool'] ?? '', JSON.stringify(given['args'] ?? {})],
    'approval.decide': ['approvals', `${given['decision']}`, given['approvalId'] ?? '', '--no-wait'],
    'outcome.settle': ['outcomes', 'settle', given['callId'] ?? '', given['answer'] ?? ''],
    'policy.explain': ['policy', 'explain', JSON.stringify(params)],
    'replay.run': ['replay', given['turnId'] ?? ''],
    'session.fork': ['sessions', 'fork', given['sessionId'] ?? ''],
  };
  const command = commands[name];
  if (command === undefined) return running.op(name, params);
  const terminal = new FakeTerminal();
  const borrowed: Claw = {
    op: (op, p, c) => running.op(op, p, c),
    events: (q) => running.events(q),
    onDelta: (l) => running.onDelta(l),
    close: () => Promise.resolve(),
  };
  const parts = {
    ...fakeParts(new FakeClaw()),
    findInstance: () => Promise.resolve({ record: { pid: 1, token, version: 'test' }, claw: borrowed }),
  };
  await runCli([...command, '--json', '--quiet'], terminal.io, parts);
  return JSON.parse(terminal.out) as OpResult<N>;
}

beforeEach(async () => {
  home = new TestHome();
  model = await ScriptedModel.start();
  spy = new GateSpy();
  seenContext = null;
  await openAll();
});

afterEach(async () => {
  for (const close of closers) await close();
  await home.dispose();
  await model.close();
});

const calls = (...names: string[]): Rule['answer'] => ({ calls: names.map((tool) => ({ tool, args: {} })) });

async function approveAll(door: Door, turnId: string): Promise<string> {
  let result = await door('turn.wait', { turnId });
  for (let round = 0; round < 10 && result.status === 'waiting'; round++) {
    for (const { approvalId } of result.pending ?? []) await door('approval.decide', { approvalId, decision: 'approve' });
    result = await claw.op('turn.wait', { turnId });
  }
  return result.status;
}

async function send(door: Door, text: string, sessionId?: string): Promise<{ sessionId: string; turnId: string }> {
  return door('message.send', { text, ...(sessionId === undefined ? {} : { sessionId }) });
}

/** Each way to an effect, through one door. Returns the number of runs that must result. */
const paths: Readonly<Record<string, (door: Door) => Promise<number>>> = {
  'a message leads a model to a tool': async (door) => {
    model.script([{ results: 0, answer: calls('look', 'touch') }, { answer: { text: 'done' } }]);
    expect(await approveAll(door, (await send(door, 'go')).turnId)).toBe('done');
    return 2;
  },
  'a direct call': async (door) => {
    await door('tool.run', { tool: 'touch', args: {}, wait: false });
    // The command line prints the result of the call without its turn.
    for (const { turnId } of (await claw.op('approval.list', {})).approvals) if (turnId !== undefined) await approveAll(door, turnId);
    return 1;
  },
  'a grant for longer': async (door) => {
    model.script([{ results: 0, answer: calls('touch') }, { results: 1, answer: calls('touch') }, { answer: { text: 'done' } }]);
    const { turnId } = await send(door, 'go');
    const { pending = [] } = await door('turn.wait', { turnId });
    for (const { approvalId } of pending) await claw.op('approval.decide', { approvalId, decision: 'approve', scope: { kind: 'session' } });
    await claw.op('turn.wait', { turnId });
    for (const { grantId } of (await door('grant.list', {})).grants) await door('grant.revoke', { grantId });
    return 2;
  },
  'words for a turn under way': async (door) => {
    model.script([
      { user: 'also', answer: { text: 'done' } },
      { results: 0, answer: calls('touch') },
    ]);
    const { turnId } = await send(door, 'go');
    await door('turn.wait', { turnId });
    await door('turn.steer', { turnId, text: 'also' });
    expect(await approveAll(door, turnId)).toBe('done');
    return 1;
  },
  'a fork that goes on': async (door) => {
    model.script([{ results: 0, answer: calls('touch') }, { answer: { text: 'done' } }]);
    const first = await send(door, 'go');
    await approveAll(door, first.turnId);
    const fork = await door('session.fork', { sessionId: first.sessionId });
    model.script([{ user: 'more', results: 0, answer: calls('touch') }, { answer: { text: 'done' } }]);
    expect(await approveAll(door, (await send(door, 'more', fork.sessionId)).turnId)).toBe('done');
    return 2;
  },
  'a turn that takes up another': async (door) => {
    model.script([{ results: 0, answer: calls('look') }, { answer: { text: 'done' } }]);
    const { turnId } = await send(door, 'go');
    await claw.op('turn.wait', { turnId });
    await expect(door('turn.continue', { turnId })).rejects.toMatchObject({ code: 'conflict' });
    return 1;
  },
  'replay and explanation run nothing': async (door) => {
    model.script([{ results: 0, answer: calls('look') }, { answer: { text: 'done' } }]);
    const { turnId } = await send(door, 'go');
    await claw.op('turn.wait', { turnId });
    expect((await door('replay.run', { turnId })).identical).toBe(true);
    expect((await door('policy.explain', { tool: 'touch', args: {} })).decision).toBe('ask');
    await door('approval.list', { all: true });
    return 1;
  },
};

test.each(Object.keys(paths))('%s: every door goes through the gate', async (what) => {
  const perform = paths[what];
  if (perform === undefined) throw new Error(`there is no path ${what}`);
  const runs: Record<string, unknown> = {};
  for (const [name, door] of Object.entries(doors)) {
    spy.runs.length = 0;
    const expected = await perform(door);
    runs[name] = [spy.runs.length === expected, spy.violations];
  }
  expect(runs).toEqual({ library: [true, []], http: [true, []], 'local socket': [true, []], window: [true, []], cli: [true, []] });
});

test.each(['library', 'http', 'local socket', 'window', 'cli'])('work resumed at a start went through the gate: %s', async (name) => {
  for (const [tool, retries] of [
    ['stuck', true],
    ['again', false],
  ] as const) {
    spy.runs.length = 0;
    model.script([{ results: 0, answer: calls(tool) }, { answer: { text: 'done' } }]);
    const { turnId } = await send(doors[name] as Door, `use ${tool}`);
    const { pending = [] } = await claw.op('turn.wait', { turnId });
    for (const { approvalId } of pending) await (doors[name] as Door)('approval.decide', { approvalId, decision: 'approve' });
    await until(() => spy.runs.length === 1, 'the call is under way');
    await closeAll();
    await openAll();
    if (retries) {
      await claw.op('turn.wait', { turnId });
      const { outcomes } = await claw.op('outcome.list', {});
      for (const { callId } of outcomes) await (doors[name] as Door)('outcome.settle', { callId, answer: 'retry' });
    }
    expect((await claw.op('turn.wait', { turnId })).status).toBe('done');
    expect([spy.runs.length, spy.violations]).toEqual([2, []]);
  }
});

test('control: without the gate the spy reports every run', async () => {
  spy.isBlind = true;
  model.script([{ results: 0, answer: calls('look', 'touch') }, { answer: { text: 'done' } }]);
  await claw.op('turn.wait', { turnId: (await send(doors['library'] as Door, 'go')).turnId });
  await claw.op('tool.run', { tool: 'touch', args: {} });
  expect(spy.violations).toEqual(['look', 'touch', 'touch']);
});

test('a tool receives nothing with which it could answer for a person', async () => {
  await claw.op('tool.run', { tool: 'look', args: {} });
  // Review each of these manually before adding it here.
  const known = [
    'artifacts',
    'attended',
    'callId',
    'extraFolders',
    'home',
    'idempotencyKey',
    'onOutput',
    'onSpawn',
    'processMarker',
    'programFiles',
    'redaction',
    'searchSessions',
  ];
  expect(Object.keys(seenContext ?? {}).sort()).toEqual([...known, 'sessionId', 'signal', 'turnId', 'workspace']);
  expect(Object.keys(seenContext?.artifacts ?? {}).filter((key) => /op|claw|approve|decide/i.test(key))).toEqual([]);
});

test('a command line started by a tool may read, but not answer for a person', async () => {
  writeFileSync(join(home.path, 'config.yaml'), '{}');
  const inTool = async (...argv: string[]): Promise<[number, string]> => {
    const terminal = new FakeTerminal({ env: { TRAYCLAW_CALL: 'call_1' } });
    const code = await runCli([...argv, '--json'], terminal.io, fakeParts({ ...claw, close: () => Promise.resolve() }));
    return [code, terminal.out];
  };
  const before = (await claw.op('audit.verify', {})).events;
  const forbidden = [
    ['approvals', 'approve', 'apr_1'],
    ['approvals', 'deny', 'apr_1'],
    ['grants', 'revoke', 'grt_1'],
    ['outcomes', 'settle', 'call_1', 'done'],
    ['panic', '--release'],
    ['budget', 'allow', '5'],
    ['config', 'set', 'limits.steps', '1000'],
    ['secret', 'delete', 'name'],
    ['folders', 'trust', '/'],
    ['folders', 'forget', '/'],
    ['ask', 'x', '--cwd', '/'],
    ['ask', 'x', '--model', 'lab/other'],
    ['ask', 'x', '--file', '/etc/hostname'],
    ['serve'],
    ['start'],
  ];
  for (const argv of forbidden) {
    const [code, out] = await inTool(...argv);
    expect([argv[0], code, out]).toEqual([argv[0], 1, expect.stringContaining('"forbidden"')]);
  }
  expect((await claw.op('audit.verify', {})).events).toBe(before);
  expect((await inTool('approvals', 'list'))[0]).toBe(0);
  expect((await inTool('panic'))[0]).toBe(0);
});

test('the window shows a refusal as a refusal', async () => {
  await expect(doors['window']?.('turn.get', { turnId: 'none' })).rejects.toBeInstanceOf(OpFailure);
});
