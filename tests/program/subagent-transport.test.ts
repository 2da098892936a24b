// One contract for the two ways a subagent call travels: the queue of this machine, and a group of nodes over a real NATS server. What holds for the
// one holds for the other. Then what only a group has: another node does the work, the server is killed, a node is away.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect as dial } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { afterEach, expect, test, vi } from 'vitest';
import type { TrayClaw } from '../../core/index.ts';
import type { ConfigInput } from '../../core/contracts/config.ts';
import { needs } from '../needs.ts';
import { freePort } from '../free-port.ts';
import type { Rule } from '../doubles/scripted-model.ts';
import { bodies, call, eventsOf, Gate, help, HelperRig } from './helper-rig.ts';

vi.setConfig({ testTimeout: 60_000 });

class NatsServer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'tc-nats-'));
  readonly port: number;
  #process: ChildProcess | null = null;

  private constructor(port: number) {
    this.port = port;
  }

  static async start(): Promise<NatsServer> {
    const server = new NatsServer(await freePort());
    await server.run();
    return server;
  }

  async run(): Promise<void> {
    this.#process = spawn('nats-server', ['-js', '-sd', this.#folder, '-a', '127.0.0.1', '-p', String(this.port)], { stdio: 'ignore' });
    while (!(await answers(this.port)));
  }

  /** Resolves when each of `tasks` tasks was extended `times` times; a node extends three times in the time to acknowledge. */
  async holds(times: number, tasks: number): Promise<void> {
    const connection = await connect({ servers: `127.0.0.1:${this.port}` });
    const held = new Map<string, number>();
    try {
      for await (const message of connection.subscribe('$JS.ACK.>')) {
        // $JS.ACK, stream, consumer, deliveries, the task's place in the stream.
        const task = message.subject.split('.')[5] ?? '';
        if (message.string() === '+WPI') held.set(task, (held.get(task) ?? 0) + 1);
        if ([...held.values()].filter((count) => count >= times).length >= tasks) return;
      }
    } finally {
      await connection.close();
    }
  }

  async kill(): Promise<void> {
    const ended = this.#process;
    if (ended === null) return;
    this.#process = null;
    const closed = once(ended, 'close');
    ended.kill('SIGKILL');
    await closed;
  }

  async dispose(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = dial(port, '127.0.0.1');
    socket.once('data', () => resolve(true)).once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
    socket.once('data', () => socket.destroy());
  });
}

const closing: { dispose(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of closing.splice(0).reverse()) await one.dispose();
});

async function rigFor(): Promise<HelperRig> {
  const rig = await HelperRig.start();
  closing.push(rig);
  return rig;
}

async function groupConfig(): Promise<{ readonly server: NatsServer; readonly config: ConfigInput }> {
  const server = await NatsServer.start();
  closing.push(server);
  return { server, config: { a2a: { transport: 'nats', nats: { servers: `127.0.0.1:${server.port}`, ackSeconds: 1 } } } };
}

const rules: readonly Rule[] = [
  { user: /^Part/, results: 0, answer: ({ userText }) => ({ calls: [call('wait_here', { who: userText.slice(0, 6) })] }) },
  { user: /^Part/, answer: ({ userText }) => ({ text: `${userText.slice(0, 6)} done` }) },
  { user: /^go/, results: 0, answer: { calls: [help('Part 1'), help('Part 2')] } },
  { user: /^go/, answer: ({ toolResults }) => ({ text: toolResults.map(({ text }) => text).join(' and ') }) },
];

const transports = [
  { name: 'sqlite', needs: {}, config: () => Promise.resolve<ConfigInput>({}) },
  { name: 'nats', needs: needs('nats-server'), config: async () => (await groupConfig()).config },
] as const;

for (const { name, needs: lacking, config } of transports) {
  test(`${name}: calls run side by side, each once, and their answers come back`, lacking, async () => {
    const rig = await rigFor();
    const gate = new Gate();
    gate.open();
    const claw = await rig.open(rules, await config(), [gate.tool()]);
    const { status, text } = await claw.ask('go', { sessionId: 'work' });
    expect([status, text]).toEqual(['done', 'Part 1 done and Part 2 done']);
    expect(gate.entered.sort()).toEqual(['Part 1', 'Part 2']);
    const events = await eventsOf(claw);
    expect(bodies(events, 'a2a.finished').map((one) => one.status)).toEqual(['done', 'done']);
  });

  test(`${name}: a cancelled call stops its subagent`, lacking, async () => {
    const rig = await rigFor();
    const gate = new Gate();
    const claw = await rig.open(rules, await config(), [gate.tool()]);
    const { turnId } = await claw.op('message.send', { text: 'go', sessionId: 'work' });
    await vi.waitFor(() => expect(gate.entered).toHaveLength(2), { timeout: 40_000 });
    await claw.op('turn.cancel', { turnId });
    await vi.waitFor(() => expect(gate.left).toHaveLength(2), { timeout: 40_000 });
    const events = await eventsOf(claw);
    expect(bodies(events, 'a2a.finished').map((one) => one.status)).toEqual(['cancelled', 'cancelled']);
  });
}

test('nats: a task is held while it takes longer than the time to acknowledge, over a killed server', needs('nats-server'), async () => {
  const { server, config } = await groupConfig();
  const rig = await rigFor();
  const gate = new Gate();
  const claw = await rig.open(rules, config, [gate.tool()]);
  const { turnId } = await claw.op('message.send', { text: 'go', sessionId: 'work' });
  await vi.waitFor(() => expect(gate.entered).toHaveLength(2), { timeout: 40_000 });
  await server.kill();
  await server.run();
  // Longer than it may be unacknowledged: it is not given out again while it is held.
  await server.holds(8, 2);
  gate.open();
  const { status, text } = await claw.op('turn.wait', { turnId });
  expect([status, text]).toEqual(['done', 'Part 1 done and Part 2 done']);
  expect(gate.entered).toHaveLength(2);
});

const scout: ConfigInput = { agents: { scout: { description: 'looks' } } };
const asking: readonly Rule[] = [
  { user: /^go/, results: 0, answer: { calls: [help('Part 1', { agent_id: 'scout' })] } },
  { user: /^go/, answer: ({ toolResults }) => ({ text: toolResults.map(({ text }) => text).join(' and ') }) },
];

/** A node that asks and takes no work. */
async function askingNode(config: ConfigInput): Promise<TrayClaw> {
  const rig = await rigFor();
  rig.model.script(asking);
  return rig.home.open({ config: { ...config, ...scout, ...rig.model.config('openai') }, resume: false });
}

test('nats: another node of the group does the work of one that takes none', needs('nats-server'), async () => {
  const { config } = await groupConfig();
  const gate = new Gate();
  gate.open();
  const there = await (await rigFor()).open(rules, { ...config, ...scout }, [gate.tool()]);
  const here = await askingNode(config);
  expect([(await here.ask('go', { sessionId: 'a' })).text, (await here.ask('go', { sessionId: 'b' })).text]).toEqual([
    'Part 1 done',
    'Part 1 done',
  ]);
  const marks = bodies(await eventsOf(there), 'taint.marked').flatMap(({ sources }) => sources);
  expect(marks).toContainEqual({ kind: 'message', where: 'a2a:group trayclaw' });
  expect(gate.entered).toHaveLength(2);
});

test('nats: a task of a node that is away is not done by another; it becomes a dead letter', needs('nats-server'), async () => {
  const { server } = await groupConfig();
  const config: ConfigInput = { a2a: { transport: 'nats', nats: { servers: `127.0.0.1:${server.port}`, ackSeconds: 1, deliveries: 3 } } };
  const [first, second] = [new Gate(), new Gate()];
  second.open();
  const gone = await rigFor();
  const away = await gone.open(rules, { ...config, ...scout }, [first.tool()]);
  const here = await askingNode(config);
  const { turnId } = await here.op('message.send', { text: 'go', sessionId: 'work' });
  await vi.waitFor(() => expect(first.entered).toHaveLength(1), { timeout: 40_000 });
  await away.close();
  await (await rigFor()).open(rules, { ...config, ...scout }, [second.tool()]);
  const { status, text } = await here.op('turn.wait', { turnId });
  expect([status, text]).toEqual(['done', expect.stringContaining('the node that began it is away')]);
  expect(second.entered).toEqual([]);
});
