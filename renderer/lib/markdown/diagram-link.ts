// The connection to the page that draws one diagram: a port into a frame without an origin, and a timeout for its answer.

import { readDiagramReply, type DiagramReply, type DiagramRequest } from '../../diagram/diagram-messages.ts';

const replyWithinMs = 10_000;

export class DiagramLink {
  readonly #port: MessagePort;
  readonly #onReply: (reply: DiagramReply) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Must be created after the frame has loaded. The page accepts only the first port it receives. */
  constructor(page: Window, onReply: (reply: DiagramReply) => void) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#onReply = onReply;
    port1.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
      const reply = readDiagramReply(data);
      if (reply !== null) this.#settle(reply);
    });
    port1.start();
    // The frame has no origin to name as the target.
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
