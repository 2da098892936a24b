// The op client over the desktop's preload bridge. Needs no token: the shell recognises its own window.

import type { DesktopBridge, StreamNotice } from '../../core/contracts/desktop-channels.ts';
import type { OpName, OpParams, OpResult } from '../../core/contracts/ops.ts';
import { OpFailure, type OpClient, type StreamHandlers } from './client.ts';

const AGAIN_AFTER_MS = 1_000;

export class BridgeClient implements OpClient {
  readonly #bridge: DesktopBridge;

  constructor(bridge: DesktopBridge) {
    this.#bridge = bridge;
  }

  async op<N extends OpName>(name: N, params: OpParams<N>, signal?: AbortSignal): Promise<OpResult<N>> {
    const asked = this.#bridge.op(name, params).catch((cause: unknown): never => {
      throw new OpFailure(
        'offline',
        `The app did not take the request (${describe(cause)}).`,
        'Reload the window; if that does not help, restart the app.',
      );
    });
    const reply = await (signal === undefined ? asked : unlessAborted(asked, signal));
    // The shell has validated both against the ops table.
    if (reply.ok) return reply.result as OpResult<N>;
    throw OpFailure.fromBody(reply.error);
  }

  events(after: number | 'latest', handlers: StreamHandlers): () => void {
    let isOver = false;
    let place = after;
    let wasOnline = false;
    let stop = (): void => undefined;
    let timer: ReturnType<typeof setTimeout> | null = null;
    const take = (notice: StreamNotice): void => {
      if (isOver) return;
      if (notice.kind === 'event') {
        place = notice.event.seq;
        handlers.onEvent(notice.event);
      } else if (notice.kind === 'delta') handlers.onDelta(notice.delta);
      else if (notice.kind === 'open') {
        handlers.onState('online', wasOnline && place === 'latest');
        wasOnline = true;
      } else {
        handlers.onState('reconnecting', false);
        timer = setTimeout(follow, AGAIN_AFTER_MS);
      }
    };
    const follow = (): void => {
      stop();
      stop = this.#bridge.follow(place, take);
    };
    follow();
    return () => {
      isOver = true;
      if (timer !== null) clearTimeout(timer);
      stop();
    };
  }
}

function unlessAborted<T>(asked: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = (): void => reject(new OpFailure('cancelled', 'The request was cancelled.'));
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    asked.then(resolve, reject).finally(() => signal.removeEventListener('abort', end));
  });
}

function describe(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
