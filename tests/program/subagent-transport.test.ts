// One contract for the two transports of a subagent call: the queue of this machine, and a group of nodes over a real NATS server. Both
// must behave the same. Then the group's own cases: another node does the work, the server is killed, a node is away.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import type { TrayClaw } from '../../core/index.ts';
import type { ConfigInput } from '../../core/contracts/config.ts';
import { silentLogger } from '../../core/base/logger.ts';
import { loadGroup } from '../../core/features/a2a/a2a.ts';
import { NatsIdentities, testCertificates } from '../doubles/nats/nats-identities.ts';
import { NatsServer } from '../doubles/nats/nats-server.ts';
import { needs } from '../needs.ts';
import { until } from '../until.ts';
import type { Rule } from '../doubles/scripted-model.ts';
import { bodies, call, eventsOf, Gate, help, HelperRig } from './helper-rig.ts';

vi.setConfig({ testTimeout: 60_000 });

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
  test(`${name}: calls run in parallel, each once, and their answers come back`, lacking, async () => {
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

test('nats: a long task is extended beyond its acknowledgement time', needs('nats-server'), async () => {
  const { server, config } = await groupConfig();
  const rig = await rigFor();
  const gate = new Gate();
  const claw = await rig.open(rules, config, [gate.tool()]);
  const { turnId } = await claw.op('message.send', { text: 'go', sessionId: 'work' });
  await vi.waitFor(() => expect(gate.entered).toHaveLength(2), { timeout: 40_000 });
  await server.kill();
  await server.run();
  // Longer than the acknowledgement time: it is not redelivered while it is extended.
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

/** A node that submits tasks and takes none. */
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

test('nats: a task for an absent node is not done by another; it becomes a dead letter', needs('nats-server'), async () => {
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

test('nats: repeated deliveries after kills and restarts are not dead letters', needs('nats-server'), async () => {
  const { server } = await groupConfig();
  const config: ConfigInput = { a2a: { transport: 'nats', nats: { servers: `127.0.0.1:${server.port}`, ackSeconds: 1, deliveries: 1 } } };
  const gate = new Gate();
  const there = await (await rigFor()).open(rules, { ...config, ...scout }, [gate.tool()]);
  const here = await askingNode(config);
  await there.op('panic.engage', {});
  const { turnId } = await here.op('message.send', { text: 'go', sessionId: 'work' });
  await vi.waitFor(async () => expect(await server.givenOut('agent-scout')).toBeGreaterThan(2), { timeout: 40_000, interval: 200 });
  await there.op('panic.release', {});
  await vi.waitFor(() => expect(gate.entered).toHaveLength(1), { timeout: 40_000 });
  for (let kills = 0; kills < 2; kills += 1) {
    await server.kill();
    // Longer than the acknowledgement time.
    await sleep(1_100);
    await server.run();
    await server.holds(2, 1);
  }
  gate.open();
  const { status, text } = await here.op('turn.wait', { turnId });
  expect([status, text]).toEqual(['done', 'Part 1 done']);
  expect(gate.entered).toHaveLength(1);
});

/** Only the connection of a node; `look` returns how many tasks wait, or the error. */
async function openGroup(config: {
  readonly servers: string;
  readonly user?: string;
  readonly password?: string;
}): Promise<{ look(): Promise<string>; close(): Promise<void> }> {
  const { NatsGroup } = await loadGroup();
  const closed = new AbortController();
  const group = new NatsGroup({
    config: { group: 'trayclaw', ackSeconds: 1, deliveries: 3, ...config },
    nodeId: 'node',
    logger: silentLogger,
    resolve: (ref) => Promise.resolve(ref),
    closing: closed.signal,
    isStopped: () => false,
  });
  return {
    look: async () => {
      try {
        return `${(await group.look()).waiting} wait`;
      } catch (cause) {
        return cause instanceof Error ? cause.message : String(cause);
      }
    },
    close: async () => {
      closed.abort();
      await group.close();
    },
  };
}

const timersAndSockets = (): number => process.getActiveResourcesInfo().filter((name) => /^(?:Timeout|TCPSocketWrap)$/.test(name)).length;

test('nats: a server without task storage leaves no connections behind', needs('nats-server'), async () => {
  const server = await NatsServer.start('accounts { PLAIN { users = [{ user: node, password: word }] } }');
  closing.push(server);
  const group = await openGroup({ servers: `127.0.0.1:${server.port}`, user: 'node', password: 'word' });
  const before = timersAndSockets();
  for (let asked = 0; asked < 3; asked += 1) expect(await group.look()).toMatch(/cannot be reached/);
  // Handles of other tests may close meanwhile.
  await until(() => timersAndSockets() <= before, 'no connection is left');
  await group.close();
});

test('nats: a node needs certificate and credentials for TLS, and errors say which', needs('nats-server'), async () => {
  const [certificates, members, others] = [testCertificates(), new NatsIdentities(), new NatsIdentities()];
  const server = await NatsServer.start(`${certificates.config}\n${members.config}`);
  closing.push(server);
  const { ca, client } = certificates;
  const tls = { ca, cert: client.cert, key: client.key };
  const look = async (tried: object): Promise<string> => {
    const group = await openGroup({ servers: `127.0.0.1:${server.port}`, ...tried });
    const said = await group.look();
    await group.close();
    return said;
  };
  const credentials = members.credentials();
  expect(await look({ credentials, tls })).toBe('0 wait');
  expect(await look({ credentials: others.credentials(), tls })).toMatch(/refused the credentials/);
  expect(await look({ tls })).toMatch(/refused the credentials/);
  // The server closes the connection to a node without a certificate.
  expect(await look({ credentials, tls: { ca } })).toMatch(/cannot be reached|TLS/);
  expect(await look({ credentials, tls: { ...tls, ca: testCertificates().ca } })).toMatch(/TLS/);

  const rig = await rigFor();
  const file = (name: string, text: string): string => {
    writeFileSync(join(rig.home.path, name), text, { mode: 0o600 });
    return `file:${name}`;
  };
  const given = { credentials: file('node.creds', credentials), tls: { ...tls, key: file('node.key', client.key) } };
  const gate = new Gate();
  gate.open();
  const nats = { servers: `127.0.0.1:${server.port}`, ackSeconds: 1, ...given };
  const claw = await rig.open(rules, { a2a: { transport: 'nats', nats } }, [gate.tool()]);
  expect((await claw.ask('go', { sessionId: 'work' })).text).toBe('Part 1 done and Part 2 done');
});
