// IRC as a chat service in one file: people write to the agent in private, or name it in a channel. Written from docs/guide/plugins.md alone.
//
// IRC proves little about who writes, so approvals are answered by one-time codes, and a person is their whole mask (nick, user and host).
// Use TLS, and a server whose masks you trust. IRC keeps no messages: what is written while TrayClaw is away is lost.

import { createHash } from 'node:crypto';
import { connect as connectPlain } from 'node:net';
import { createInterface } from 'node:readline';
import { connect as connectTls } from 'node:tls';
import * as z from 'zod';

/** A message has 512 bytes with everything that the server puts before it. */
const LINE_BYTES_MAX = 400;
/** Lines of one part. Some servers close a connection with more than 2,560 bytes of messages that they have not processed. */
const PART_LINES = 4;
const ANSWER_MS = 20_000;
const COLOUR = new RegExp(`${String.fromCharCode(3)}\\d{0,2}(?:,\\d{1,2})?`, 'g');

const settings = z.strictObject({
  host: z.string().min(1),
  port: z.number().int().min(1).max(65_535).default(6697),
  tls: z.boolean().default(true),
  nick: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_-]{0,8}$/)
    .default('trayclaw'),
  /** Channels to join, where the agent answers those who name it. */
  join: z
    .array(z.string().regex(/^[#&][^\s,]{1,49}$/))
    .max(20)
    .default([]),
  groups: z.enum(['off', 'mention']).default('off'),
  /** A server that says nothing for so long is asked, and left when it does not answer. */
  silenceSeconds: z.number().int().min(1).max(3_600).default(120),
});

export const feature = {
  name: 'irc',
  settings,
  create: ({ settings: given, clock, logger }) => ({
    service: {
      name: 'irc',
      title: 'IRC',
      rules: { groups: given.groups, allowFrom: [] },
      answers: 'codes',
      answersStrangers: true,
      isPlain: true,
      // Clients send a long text as several lines, which they cut near the limit of the server.
      splitTexts: { least: 300, full: 512 },
      run: (desk, signal) => new IrcRun({ given, clock, logger, desk }).serve(signal),
    },
  }),
};

class IrcRun {
  #parts;
  #socket = null;
  #nick;
  /** Waiting for the server's word that it took everything written so far, by token. */
  #pings = new Map();
  #tokens = 0;
  #messages = 0;
  #begunMs;
  #taking = Promise.resolve();

  constructor(parts) {
    this.#parts = parts;
    this.#nick = parts.given.nick;
    this.#begunMs = parts.clock.nowMs();
  }

  /** Until the connection or the signal ends; a rejection is tried again by TrayClaw. */
  async serve(signal) {
    const { host, port, tls, silenceSeconds } = this.#parts.given;
    const socket = tls ? connectTls({ host, port, servername: host }) : connectPlain({ host, port });
    this.#socket = socket;
    const close = () => socket.destroy();
    signal.addEventListener('abort', close, { once: true });
    let readBytes = -1;
    socket.setTimeout(silenceSeconds * 1000, () => {
      if (socket.bytesRead === readBytes) return close();
      readBytes = socket.bytesRead;
      this.#write('PING :still-there');
    });
    try {
      await new Promise((resolve, reject) => {
        socket.once(tls ? 'secureConnect' : 'connect', () => {
          this.#write(`NICK ${this.#nick}`);
          this.#write(`USER trayclaw 0 * :TrayClaw`);
        });
        socket.once('error', reject);
        socket.once('close', () => (signal.aborted ? resolve() : reject(new Error(`The IRC server ${host} closed the connection.`))));
        const lines = createInterface({ input: socket, crlfDelay: Infinity });
        lines.on('error', reject);
        lines.on('line', (line) => this.#hear(readLine(line), reject));
      });
    } finally {
      signal.removeEventListener('abort', close);
      socket.destroy();
      for (const lost of this.#pings.values()) lost.reject(new Error('the connection was lost'));
      await this.#taking;
    }
  }

  #write(line) {
    // A line break in a message would be a command of its own.
    if (/[\r\n\0]/.test(line)) throw new Error('a line of IRC is one line');
    this.#socket.write(`${line}\r\n`);
  }

  #hear({ from, command, params }, fail) {
    const last = params.at(-1) ?? '';
    switch (command) {
      case 'PING':
        this.#write(`PONG :${last}`);
        break;
      case 'PONG':
        this.#pings.get(last)?.resolve();
        break;
      case '001':
        this.#nick = params[0];
        for (const channel of this.#parts.given.join) this.#write(`JOIN ${channel}`);
        this.#parts.desk.online({ port: this.#port(), me: this.#nick });
        break;
      // The nick is taken: until the old connection is forgotten, another one is used.
      case '433':
        this.#nick = `${this.#nick.slice(0, 8)}_`;
        this.#write(`NICK ${this.#nick}`);
        break;
      case 'ERROR':
        fail(new Error(`The IRC server said: ${last}`));
        break;
      case 'PRIVMSG':
        this.#take(from, params[0], last);
        break;
      // Servers refuse with many numbers: no such nick, the person takes messages of registered people only, the channel takes nothing.
      default:
        if (/^(?:[45]\d\d|716)$/.test(command)) this.#refuse(params);
    }
  }

  /** The name is a parameter of its own, or ngircd says it in its words alone. */
  #refuse([, ...said]) {
    const names = said.length > 1 ? said.slice(0, 1) : (said[0] ?? '').split(' ');
    for (const { refuse, target } of this.#pings.values()) if (names.some((name) => lower(name) === lower(target))) refuse(said.at(-1));
  }

  /** One after the other, in the order they came. */
  #take(from, target, text) {
    const { desk, clock, logger } = this.#parts;
    const nick = from.split('!')[0] ?? '';
    if (nick === '' || lower(nick) === lower(this.#nick) || text.startsWith('\x01')) return;
    const isGroup = /^[#&]/.test(target);
    const named = new RegExp(`^${this.#nick.replaceAll(/[^\w]/g, '\\$&')}[:,]?\\s+`, 'i');
    const message = {
      channel: 'irc',
      chatId: isGroup ? lower(target) : lower(nick),
      kind: isGroup ? 'group' : 'private',
      senderId: lower(from),
      senderName: nick,
      // IRC repeats nothing and numbers nothing: the count of this connection is enough.
      dedupeKey: `irc:${this.#begunMs}:${++this.#messages}`,
      text: plain(isGroup ? text.replace(named, '') : text),
      attachments: [],
      mentioned: isGroup && named.test(text),
      atMs: clock.nowMs(),
    };
    this.#taking = this.#taking
      .then(() => desk.take(message))
      .catch((cause) => logger.log('error', 'a message of IRC could not be kept', { cause: String(cause) }));
  }

  #port() {
    return { name: 'irc', maxFileBytes: 0, split: ({ text }) => partsOf(text), send: (part, signal) => this.#send(part, signal) };
  }

  /** A server answers no message, but it answers a PING after all that came before it. */
  async #send({ item, text }, signal) {
    const target = item.to.chatId;
    if (/[\s,]/.test(target)) return { kind: 'refused', error: 'That is no name on IRC.', retryAfterMs: null, isRetryable: false };
    this.#tokens += 1;
    const token = `sent-${this.#begunMs}-${this.#tokens}`;
    const { promise, resolve, reject } = Promise.withResolvers();
    let refusal = null;
    this.#pings.set(token, { target, resolve, reject, refuse: (words) => (refusal = words) });
    const timer = setTimeout(() => reject(new Error('no answer')), ANSWER_MS);
    const stop = () => reject(new Error('given up'));
    signal.addEventListener('abort', stop, { once: true });
    try {
      for (const line of text.split('\n')) this.#write(`PRIVMSG ${target} :${line === '' ? ' ' : line}`);
      this.#write(`PING :${token}`);
      await promise;
      return refusal === null
        ? { kind: 'sent', messageId: createHash('sha256').update(token).digest('hex').slice(0, 16) }
        : { kind: 'refused', error: `The IRC server refused it: ${String(refusal)}`, retryAfterMs: null, isRetryable: true };
    } catch (cause) {
      return { kind: 'unknown', reason: `The IRC server did not say that it has it: ${cause.message}.` };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      this.#pings.delete(token);
    }
  }
}

/** `:nick!user@host COMMAND first second :the rest`. */
function readLine(line) {
  const [, from = '', command = '', rest = ''] = /^(?:@\S+ )?(?::(\S+) +)?(\S+) *(.*)$/.exec(line) ?? [];
  const at = rest.startsWith(':') ? 0 : rest.indexOf(' :') + 1;
  const hasTail = rest.startsWith(':') || rest.includes(' :');
  const words = (hasTail ? rest.slice(0, at) : rest).split(' ').filter((word) => word !== '');
  return { from, command: command.toUpperCase(), params: hasTail ? [...words, rest.slice(at + 1)] : words };
}

/** Names of IRC are the same in both cases. On some servers `a[b]` is `a{b}` as well, on others that is another person. */
function lower(name) {
  return name.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Without colours and other marks. */
function plain(text) {
  return text
    .replaceAll(COLOUR, '')
    .replaceAll(/\p{Cc}/gu, '')
    .trim();
}

export function partsOf(text) {
  const lines = text
    .split('\n')
    .map((line) => line.replaceAll(/\p{Cc}/gu, ' ').trimEnd())
    .filter((line) => line.trim() !== '')
    .flatMap(cut);
  const parts = [];
  for (let at = 0; at < lines.length; at += PART_LINES) parts.push({ text: lines.slice(at, at + PART_LINES).join('\n'), files: [] });
  return parts.length === 0 ? [{ text: '…', files: [] }] : parts;
}

/** Bytes count, and no character is cut. */
function cut(line) {
  const pieces = [''];
  for (const word of line.split(/(?<= )/)) {
    for (const character of Buffer.byteLength(pieces.at(-1) + word) <= LINE_BYTES_MAX ? [word] : word) {
      if (Buffer.byteLength(pieces.at(-1) + character) > LINE_BYTES_MAX) pieces.push('');
      pieces[pieces.length - 1] += character;
    }
  }
  return pieces;
}
