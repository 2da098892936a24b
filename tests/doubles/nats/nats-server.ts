// For tests only: a real nats-server with JetStream, on a free port and with its own folder.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect as dial } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { freePort } from '../../free-port.ts';

export class NatsServer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'tc-nats-'));
  readonly port: number;
  #process: ChildProcess | null = null;

  private constructor(port: number) {
    this.port = port;
  }

  /** `config` contains further configuration lines, for TLS and accounts for example. */
  static async start(config = ''): Promise<NatsServer> {
    const server = new NatsServer(await freePort());
    writeFileSync(join(server.#folder, 'server.conf'), config);
    await server.run();
    return server;
  }

  async run(): Promise<void> {
    const args = ['-js', '-c', join(this.#folder, 'server.conf'), '-sd', this.#folder, '-a', '127.0.0.1'];
    this.#process = spawn('nats-server', [...args, '-p', String(this.port)], { stdio: 'ignore' });
    while (!(await answers(this.port)));
  }

  /** Resolves once each of `tasks` tasks was extended `times` times; a node extends a task three times within its acknowledgement time. */
  async holds(times: number, tasks: number): Promise<void> {
    const connection = await connect({ servers: `127.0.0.1:${this.port}` });
    const held = new Map<string, number>();
    try {
      for await (const message of connection.subscribe('$JS.ACK.>')) {
        // The subject is $JS.ACK, stream, consumer, deliveries, stream sequence of the task, and so on.
        const task = message.subject.split('.')[5] ?? '';
        if (message.string() === '+WPI') held.set(task, (held.get(task) ?? 0) + 1);
        if ([...held.values()].filter((count) => count >= times).length >= tasks) return;
      }
    } finally {
      await connection.close();
    }
  }

  /** How often tasks were delivered to a consumer of the group since the consumer was created. */
  async givenOut(consumer: string): Promise<number> {
    const connection = await connect({ servers: `127.0.0.1:${this.port}` });
    try {
      const manager = await jetstreamManager(connection);
      return (await manager.consumers.info('TRAYCLAW_trayclaw_JOBS', consumer)).delivered.consumer_seq;
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
