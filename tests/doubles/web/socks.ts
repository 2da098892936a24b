// A SOCKS5 proxy with a user and password that sends its answers byte by byte, for tests only.

import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Web } from './web.ts';

export class TestSocks {
  /** The `host:port` of every tunnel that was asked for. */
  readonly seen: string[] = [];
  readonly #web: Web;
  readonly #names: Readonly<Record<string, string>>;
  readonly #server: Server;
  readonly #open = new Set<Socket>();

  private constructor(web: Web, names: Readonly<Record<string, string>>) {
    this.#web = web;
    this.#names = names;
    this.#server = createServer((socket) => {
      this.#open.add(socket.on('error', () => undefined).setNoDelay());
      void this.#serve(socket).catch(() => socket.destroy());
    });
  }

  static async start(web: Web, names: Readonly<Record<string, string>>): Promise<TestSocks> {
    const proxy = new TestSocks(web, names);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async dispose(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(socket: Socket): Promise<void> {
    const [, , ...methods] = await piece(socket);
    await say(socket, [5, methods.includes(2) ? 2 : 255]);
    const login = (await piece(socket)).toString('latin1', 1);
    const isRight = login === '\x02me\x03a@b';
    await say(socket, [1, isRight ? 0 : 1]);
    if (!isRight) return void socket.end();
    const asked = await piece(socket);
    const host = asked.toString('latin1', 5, asked.length - 2);
    const port = asked.readUInt16BE(asked.length - 2);
    this.seen.push(`${host}:${port}`);
    const address = this.#names[host];
    if (address === undefined) return say(socket, [5, 4, 0, 3, 2, 104, 105, 0, 0]);
    const far = await this.#web.dialer.dial({ address, port }, new AbortController().signal);
    this.#open.add(far.on('error', () => undefined));
    await say(socket, [5, 0, 0, 3, 2, 104, 105, 0, 0]);
    far.pipe(socket).pipe(far);
  }
}

async function piece(socket: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => socket.once('data', resolve).once('close', () => reject(new Error('closed'))));
}

async function say(socket: Socket, bytes: readonly number[]): Promise<void> {
  for (const byte of bytes) {
    socket.write(Buffer.of(byte));
    await nextTurn();
  }
}
