// The life cycle of one chat service as a channel: it runs while it has joined and is not paused, and records its state changes.

import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { systemSessionId, type EventBodies } from '../../contracts/events.ts';
import type { SessionLog } from '../../store/session/session.ts';

type ChannelState = EventBodies['channel.state_changed']['state'];

/** off: the service has no account. conflict: another program receives its messages. */
export type ServiceState = ChannelState | 'off' | 'conflict';

/** The form of a state in events and results. */
export function toldState(state: ServiceState): { readonly state: ChannelState; readonly conflict?: true } {
  return state === 'conflict' ? { state: 'offline', conflict: true } : { state: state === 'off' ? 'paused' : state };
}

export interface ChannelRunDeps {
  readonly log: Pick<SessionLog, 'append'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly channel: string;
  /** A service that is `off` never starts. */
  readonly first: 'starting' | 'off';
  isPaused(): boolean;
}

export class ChannelRun<Joined> {
  readonly #deps: ChannelRunDeps;
  readonly #work: (joined: Joined, signal: AbortSignal) => Promise<void>;
  #state: ServiceState;
  #problem: string | null = null;
  #sinceMs: number;
  #joined: Joined | null = null;
  #running: { readonly ending: AbortController; readonly ended: Promise<void> } | null = null;

  /** `work` runs until its signal aborts. */
  constructor(deps: ChannelRunDeps, work: (joined: Joined, signal: AbortSignal) => Promise<void>) {
    this.#deps = deps;
    this.#work = work;
    this.#state = deps.first;
    this.#sinceMs = deps.clock.nowMs();
  }

  get status() {
    return { state: this.#state, sinceMs: this.#sinceMs, problem: this.#problem };
  }

  /** Null before it has joined and after it has left. */
  get joined(): Joined | null {
    return this.#joined;
  }

  /** Starts, unless it is paused or off. The returned function stops it. */
  join(joined: Joined): () => Promise<void> {
    this.#joined = joined;
    this.#start();
    return () => {
      this.#joined = null;
      return this.#stop();
    };
  }

  setPaused(isPaused: boolean, by: string): void {
    const { log, channel } = this.#deps;
    if (this.#deps.isPaused() !== isPaused)
      log.append(systemSessionId, [{ type: isPaused ? 'channel.paused' : 'channel.resumed', body: { channel, by } }], true);
    if (isPaused) void this.#stop();
    else this.#start();
  }

  /** Records each change once; a normal start is not recorded. */
  set(state: ServiceState, problem: string | null): void {
    if (state === this.#state && problem === this.#problem) return;
    const wasWell = this.#problem === null;
    this.#state = state;
    this.#problem = problem;
    this.#sinceMs = this.#deps.clock.nowMs();
    if (wasWell && problem === null) return;
    try {
      const body = { channel: this.#deps.channel, ...toldState(state), problem };
      this.#deps.log.append(systemSessionId, [{ type: 'channel.state_changed', body }]);
    } catch (cause) {
      this.#tell('the state of a chat service could not be noted', cause);
    }
  }

  #start(): void {
    if (this.#joined === null || this.#running !== null || this.#deps.first === 'off') return;
    if (this.#deps.isPaused()) {
      this.set('paused', null);
      return;
    }
    this.set('starting', null);
    const ending = new AbortController();
    const ended = this.#work(this.#joined, ending.signal).catch((cause: unknown) => this.#tell('a chat service ended by a fault', cause));
    this.#running = { ending, ended };
  }

  async #stop(): Promise<void> {
    const running = this.#running;
    if (this.#deps.isPaused()) this.set('paused', null);
    running?.ending.abort();
    await running?.ended;
    // It was resumed while it was stopping.
    if (this.#running === running) this.#running = null;
    if (this.#joined !== null && !this.#deps.isPaused()) this.#start();
  }

  #tell(message: string, cause: unknown): void {
    const { logger, channel } = this.#deps;
    logger.log('error', message, { channel, cause: String(cause) });
  }
}
