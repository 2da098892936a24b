// The connection to the page that draws one diagram: a port into a frame without an origin, and a time limit for its answer.

import { readDiagramReply, type DiagramReply, type DiagramRequest } from '../../diagram/diagram-messages.ts';

const replyWithinMs = 10_000;

export class DiagramLink {
  readonly #port: MessagePort;
  readonly #onReply: (reply: DiagramReply) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** To be made when the frame has loaded: the first port it is given is the only one it takes. */
  constructor(page: Window, onReply: (reply: DiagramReply) => void) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#onReply = onReply;
    port1.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
      const reply = readDiagramReply(data);
      if (reply !== null) this.#settle(reply);
    });
    port1.start();
    // It has no origin that could be named.
    page.postMessage(null, '*', [port2]);
  }

  ask(request: DiagramRequest): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#settle({ kind: 'failed', why: 'late' }), replyWithinMs);
    this.#port.postMessage(request);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#port.close();
  }

  /** Ignores replies to other requests. */
  #settle(reply: DiagramReply): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#onReply(reply);
  }
}
