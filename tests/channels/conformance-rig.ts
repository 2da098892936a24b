// A program connected to one chat service or several, for tests of channels: starts the other side, the scripted model and the program,
// pairs people, and reads the messages a person received.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { RuntimeOptions } from '../../core/compose.ts';
import type { TrayClaw } from '../../core/index.ts';
import type { ConfigInput } from '../../core/contracts/config.ts';
import type { EventBodies } from '../../core/contracts/events.ts';
import { TestHome } from '../faults/test-home.ts';
import { ScriptedModel, type Rule } from '../doubles/scripted-model.ts';
import { until } from '../until.ts';

/** A person on the other side of the chat service. */
export interface BenchPerson {
  /** The person's id as the program stores it. */
  readonly id: string;
  write(text: string): Promise<void> | void;
  sendFile?(name: string, content: string, text: string): Promise<void> | void;
  /** The agent's texts in this person's chat as they are now, oldest first. */
  heard(): Promise<string[]> | string[];
  /** The contents of the received files. */
  files?(): Promise<string[]> | string[];
  /** Answers the newest approval of the chat, by button or by code. */
  answer(choice: 'yes' | 'no'): Promise<void>;
  /** Answers the newest question of an MCP server with one of its choices: by the button with that name, or by the code and the word. */
  choose(value: string): Promise<void>;
}

export interface ChannelBench {
  readonly channels: ConfigInput['channels'];
  readonly environment?: Record<string, string>;
  readonly program?: Partial<RuntimeOptions>;
  readonly plugins?: ConfigInput['plugins'];
  person(name: string): Promise<BenchPerson> | BenchPerson;
  /** Cuts the connection; the other side keeps running. */
  cut(): Promise<void> | void;
  stop(): Promise<void>;
  /** True if it answers unknown people. */
  readonly answersStrangers?: boolean;
  /** True if it shows texts without formatting. */
  readonly isPlain?: boolean;
  /** False if messages written while the program was away are lost. */
  readonly keepsMessages?: boolean;
  /** True if the service drops a repeated send. */
  readonly deduplicates?: boolean;
}

const rules: readonly Rule[] = [
  {
    user: 'write the file',
    results: 0,
    answer: { calls: [{ tool: 'write_file', args: { path: 'asked-for.md', content: 'from the chat' } }] },
  },
  { user: 'write the file', answer: { text: 'That is settled.' } },
  {
    user: 'send the file',
    results: 0,
    answer: { calls: [{ tool: 'write_file', args: { path: 'out.txt', content: 'file-content-out' } }] },
  },
  { user: 'a long answer', answer: { text: Array.from({ length: 120 }, (_, at) => `line ${at} ${'word '.repeat(6)}`).join('\n') } },
  { answer: ({ userText }) => ({ text: `You said: ${userText.slice(0, 60)}` }) },
];

export class ConformanceRig {
  readonly name: string;
  readonly #start: () => Promise<ChannelBench>;
  #home = new TestHome();
  #model: ScriptedModel | null = null;
  #bench: ChannelBench | null = null;
  #claw: TrayClaw | null = null;
  #crash: (() => void) | null = null;
  #ada: BenchPerson | null = null;

  constructor(name: string, start: () => Promise<ChannelBench>) {
    this.name = name;
    this.#start = start;
  }

  get bench(): ChannelBench {
    if (this.#bench === null) throw new Error('the bench is not started');
    return this.#bench;
  }

  get claw(): TrayClaw {
    if (this.#claw === null) throw new Error('the program does not run');
    return this.#claw;
  }

  /** Resolves once the service has the given state. */
  async start(wanted = 'running'): Promise<void> {
    this.#bench = await this.#start();
    this.#model = await ScriptedModel.start(rules);
    Object.assign(this.#home.env, this.bench.environment);
    await this.open(wanted);
  }

  async open(wanted = 'running'): Promise<void> {
    const { channels, plugins, program } = this.bench;
    const mcp = { servers: { s: scriptedServer(this.#home.path) } };
    const config = { ...this.#model?.config('openai'), mcp, channels, ...(plugins === undefined ? {} : { plugins }) };
    const faults = { crashPoints: { reach: (point: string) => this.#reach(point) } };
    this.#claw = await this.#home.open({ config, wait: waitBriefly, faults, ...program });
    await this.running(wanted);
  }

  /** The next send reaches the other side but is not recorded. */
  crashAfterSend(): Promise<void> {
    return new Promise((resolve) => {
      this.#crash = resolve;
    });
  }

  #reach(point: string): void {
    const crash = this.#crash;
    if (point !== 'outbound-sent' || crash === null) return;
    this.#crash = null;
    crash();
    throw new Error('the program ends here');
  }

  /** Calls a tool whose server asks for a color; resolves to the id of the call once it waits for the answer. */
  async callAsking(): Promise<string> {
    const { claw } = this;
    const { server } = await claw.op('mcp.test', { name: 's' });
    await claw.op('mcp.approve', { name: 's', sha256: server.sha256 ?? '' });
    const { callId, pending = [] } = await claw.op('tool.run', { tool: 's__ask', args: {}, wait: false });
    for (const { approvalId } of pending) await claw.op('approval.decide', { approvalId, decision: 'approve' });
    await until(async () => (await claw.op('mcp.list', {})).questions.length === 1, 'the server asks');
    return callId;
  }

  /** The recorded ends of questions or calls. */
  async recorded<T extends 'mcp.answered' | 'tool.finished'>(type: T): Promise<EventBodies[T][]> {
    const { sessions } = await this.claw.op('session.list', { limit: 100 });
    const found = await Promise.all(sessions.map(({ sessionId }) => this.claw.op('session.get', { sessionId, types: [type] })));
    return found.flatMap(({ events }) => events).map(({ body }) => body as EventBodies[T]);
  }

  /** Settles an uncertain delivery: the person sees that the text may have arrived, and confirms that it did. */
  async settleUncertain(text: string): Promise<void> {
    const uncertain = async () => (await this.claw.op('outbox.list', { state: 'uncertain' })).items;
    await expect.poll(async () => (await uncertain()).map((item) => item.text)).toEqual([text]);
    for (const { outboundId } of await uncertain()) await this.claw.op('outbox.settle', { outboundId, answer: 'sent' });
  }

  async close(): Promise<void> {
    await this.#claw?.close();
    this.#claw = null;
  }

  async dispose(): Promise<void> {
    await this.#claw?.close();
    await this.#home.dispose();
    await this.#model?.close();
    await this.#bench?.stop();
  }

  async running(wanted = 'running'): Promise<void> {
    try {
      await until(async () => (await this.state()) === wanted, `${this.name} is ${wanted}`);
    } catch (cause) {
      throw new Error(`${this.name} is not ${wanted}: ${JSON.stringify(await this.claw.op('channel.list', {}))}`, { cause });
    }
  }

  async state(): Promise<string> {
    const { channels } = await this.claw.op('channel.list', {});
    return channels.find(({ channel }) => channel === this.name)?.state ?? 'missing';
  }

  offer(): Promise<{ code: string; pairingId: string }> {
    return this.claw.op('channel.pair', { channel: this.name });
  }

  async claimedBy(pairingId: string): Promise<string | null> {
    const { people } = await this.claw.op('channel.people', {});
    return people.find((one) => one.pairingId === pairingId)?.userId ?? null;
  }

  async confirm(pairingId: string): Promise<void> {
    await this.claw.op('channel.confirm', { pairingId });
  }

  async revoke(userId: string): Promise<void> {
    await this.claw.op('channel.revoke', { channel: this.name, userId });
  }

  async pause(isPaused: boolean): Promise<void> {
    const op = isPaused ? 'channel.pause' : 'channel.resume';
    await this.claw.op(op, { channel: this.name });
  }

  /** The owner, paired on first use. */
  async ada(): Promise<BenchPerson> {
    if (this.#ada !== null) return this.#ada;
    const ada = await this.bench.person('ada');
    const { code, pairingId } = await this.offer();
    await ada.write(code);
    await until(async () => (await this.claimedBy(pairingId)) === ada.id, 'the code has arrived');
    await this.confirm(pairingId);
    await this.hears(ada, /You are paired/);
    this.#ada = ada;
    return ada;
  }

  /** A person may have read a text before the service confirms it; resolves once the outbox is empty and nothing is uncertain. */
  async delivered(): Promise<void> {
    const left = async () => (await this.claw.op('outbox.list', {})).items.map(({ state, text, reason }) => ({ state, text, reason }));
    await expect.poll(left).toEqual([]);
  }

  /** Sends a message and waits for its answer: everything written before it has then been handled. */
  async settleWith(text: string): Promise<void> {
    const ada = await this.ada();
    await ada.write(text);
    await this.hears(ada, `You said: ${text}`);
  }

  async hears(person: BenchPerson, words: RegExp | string): Promise<void> {
    const fits = (text: string): boolean => (typeof words === 'string' ? text === words : words.test(text));
    let heard: string[] = [];
    try {
      await until(
        async () => {
          heard = await person.heard();
          return heard.some(fits);
        },
        `the chat shows ${String(words)}`,
      );
    } catch (cause) {
      const said = (await this.userMessages()).map((body) => (body as { text: string }).text).slice(-3);
      const { channels } = await this.claw.op('channel.list', {});
      const state = JSON.stringify({ heard: heard.slice(-3), said, channels });
      throw new Error(`the chat does not show ${String(words)}: ${state}`, { cause });
    }
  }

  async turns(): Promise<number> {
    return (await this.userMessages()).length;
  }

  async userMessages(): Promise<unknown[]> {
    const { sessions } = await this.claw.op('session.list', { limit: 100 });
    const all: { seq: number; body: unknown }[] = [];
    for (const { sessionId } of sessions) {
      const { events } = await this.claw.op('session.get', { sessionId, types: ['user.message'] });
      all.push(...events.map(({ atMs, body }) => ({ seq: atMs, body })));
    }
    return all.toSorted((a, b) => a.seq - b.seq).map(({ body }) => body);
  }
}

const askForm = {
  type: 'object',
  properties: { color: { type: 'string', enum: ['red', 'blue'] } },
  required: ['color'],
};

function scriptedServer(home: string) {
  const script = {
    tools: [{ name: 'ask', description: 'Asks for a color.', inputSchema: { type: 'object' } }],
    results: { ask: { does: 'elicit', params: { mode: 'form', message: 'Which color shall it be?', requestedSchema: askForm } } },
  };
  // A server may not read the data folder, so the script is outside it.
  const path = join(home, '..', 'server.json');
  writeFileSync(path, JSON.stringify(script));
  return { command: process.execPath, args: [fileURLToPath(new URL('../doubles/mcp/stdio-server.mjs', import.meta.url)), path] };
}

/** Shortens the channel's retry delays, which are meant for real networks. */
function waitBriefly(ms: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), Math.min(ms, 20));
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve(false);
    });
  });
}
