// For tests only: a real IRC server (Debian's ngircd), and people with a minimal client.

import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Plugin } from '../../../core/contracts/plugin.ts';
import type { BenchPerson, ChannelBench } from '../../channels/conformance-rig.ts';
import { freePort } from '../../free-port.ts';
import { until } from '../../until.ts';

export class IrcServer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'trayclaw-irc-'));
  #server: ChildProcess | null = null;
  port = 0;

  async start(): Promise<this> {
    this.port = this.port === 0 ? await freePort() : this.port;
    chmodSync(this.#folder, 0o755);
    const config = join(this.#folder, 'ngircd.conf');
    writeFileSync(
      config,
      `[Global]
Name = irc.tray.example
Listen = 127.0.0.1
Ports = ${this.port}
ServerUID = ${process.getuid?.() ?? 0}
ServerGID = ${process.getgid?.() ?? 0}
[Limits]
MaxConnectionsIP = 0
MaxJoins = 0
MaxPenaltyTime = 0
PingTimeout = 120
[Options]
DNS = no
Ident = no
PAM = no
SyslogFacility = local0
`,
    );
    chmodSync(config, 0o644);
    this.#server = spawn('/usr/sbin/ngircd', ['-n', '-f', config], { stdio: 'ignore' });
    await until(() => isListening(this.port), 'the IRC server listens');
    return this;
  }

  /** Stops the server and thereby every connection. */
  async stop(): Promise<void> {
    const server = this.#server;
    if (server === null || server.exitCode !== null) return;
    const gone = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGTERM');
    await gone;
  }

  async dispose(): Promise<void> {
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** An approval consists of several lines, which arrive one after the other. */
const NEW_WITHIN_MS = 5_000;

export class IrcPerson implements BenchPerson {
  id = '';
  readonly #port: number;
  readonly #nick: string;
  readonly #heard: string[] = [];
  #socket: Socket | null = null;
  #answered = '';

  constructor(port: number, nick: string) {
    this.#port = port;
    this.#nick = nick;
  }

  async connect(): Promise<this> {
    const socket = connect({ host: '127.0.0.1', port: this.#port });
    socket.on('error', () => undefined);
    this.#socket = socket;
    let isIn = false;
    const lines = createInterface({ input: socket });
    lines.on('error', () => undefined);
    lines.on('line', (line) => {
      if (line.startsWith('PING')) socket.write(`PONG ${line.slice(5)}\r\n`);
      if (/^\S+ 001 /.test(line)) isIn = true;
      // The mask as others see it: `nick ident host * :name`.
      const [, user = '', host = ''] = /^\S+ 311 \S+ \S+ (\S+) (\S+) /.exec(line) ?? [];
      if (user !== '') this.id = `${this.#nick}!${user}@${host}`.toLowerCase();
      const said = /^:agent_*!\S+ PRIVMSG \S+ :(.*)$/.exec(line.trimEnd())?.[1];
      if (said !== undefined) this.#heard.push(said);
    });
    socket.write(`NICK ${this.#nick}\r\nUSER person 0 * :${this.#nick}\r\n`);
    await until(() => isIn, `${this.#nick} is registered`);
    socket.write(`WHOIS ${this.#nick}\r\n`);
    await until(() => this.id !== '', `${this.#nick} knows the own mask`);
    return this;
  }

  end(): void {
    this.#socket?.destroy();
  }

  write(text: string): void {
    this.#socket?.write(`PRIVMSG agent :${text}\r\n`);
  }

  /** Takes messages of registered people only, and the agent is not registered; or of everyone again. */
  block(isBlocked: boolean): void {
    this.#socket?.write(`MODE ${this.#nick} ${isBlocked ? '+' : '-'}b\r\n`);
  }

  heard(): string[] {
    return this.#heard;
  }

  /** The code is in a line after those that describe the call. Without a new approval, the last answer is sent again. */
  async answer(choice: 'yes' | 'no', more = ''): Promise<void> {
    const codeIn = (line: string): string | undefined => /^ {4}yes (\w+)/.exec(line)?.[1];
    const codes = (): string[] => this.#heard.flatMap((line) => codeIn(line) ?? []);
    // A title in bold begins a question, whose code is still on its way.
    const isComing = (): boolean =>
      this.#heard.slice(this.#heard.findLastIndex((line) => codeIn(line) !== undefined) + 1).some((line) => line.startsWith('**'));
    const endMs = performance.now() + (this.#answered === '' ? Infinity : NEW_WITHIN_MS);
    const isNew = (): boolean => (codes().at(-1) ?? '') !== this.#answered;
    await until(() => !isComing() && (isNew() || performance.now() > endMs), 'there is a question with its code');
    this.#answered = codes().at(-1) ?? '';
    this.write(`${choice} ${this.#answered}${more}`);
  }

  choose(value: string): Promise<void> {
    return this.answer('yes', `: ${value}`);
  }
}

export async function startIrcBench(feature: Plugin, settings: object = {}): Promise<ChannelBench> {
  const server = await new IrcServer().start();
  const people: IrcPerson[] = [];
  return {
    channels: {},
    plugins: { settings: { irc: { host: '127.0.0.1', port: server.port, tls: false, nick: 'agent', ...settings } } },
    program: { features: [feature] },
    keepsMessages: false,
    isPlain: true,
    person: async (name) => {
      const person = await new IrcPerson(server.port, name).connect();
      people.push(person);
      return person;
    },
    cut: async () => {
      await server.stop();
      await server.start();
      for (const person of people) await person.connect();
    },
    stop: async () => {
      for (const person of people) person.end();
      await server.dispose();
    },
  };
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
