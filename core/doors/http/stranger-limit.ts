// Limits connections that have not shown the right token yet; the oldest is closed first. Silent connections therefore cannot keep out
// authorised ones.

import type { Socket } from 'node:net';

export const strangersMax = 128;

export class StrangerLimit {
  /** In order of connection. */
  readonly #strangers = new Set<Socket>();

  get size(): number {
    return this.#strangers.size;
  }

  admit(socket: Socket): void {
    this.#strangers.add(socket);
    socket.once('close', () => this.#strangers.delete(socket));
    if (this.#strangers.size <= strangersMax) return;
    for (const oldest of this.#strangers) {
      this.#strangers.delete(oldest);
      oldest.destroy();
      break;
    }
  }

  /** Closes connections that have sent nothing. Browsers open some in advance, and Node counts them as active. */
  closeSilent(): void {
    for (const socket of this.#strangers) if (socket.bytesRead === 0) socket.destroy();
  }

  /** Removes a connection that has shown the right token. */
  trust(socket: Socket): void {
    this.#strangers.delete(socket);
  }
}
