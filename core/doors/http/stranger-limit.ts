// Connections that have not shown the right token yet: so many and no more, the oldest goes first. Whoever opens connections and says
// nothing can therefore not keep out who may come in.

import type { Socket } from 'node:net';

export const strangersMax = 128;

export class StrangerLimit {
  /** In the order they came. */
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

  /** It has shown the right token. */
  trust(socket: Socket): void {
    this.#strangers.delete(socket);
  }
}
