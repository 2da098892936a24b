// Shows a turn's text while it is written, in the chat it came from: as a draft if the server supports them, else as a message that is
// edited and becomes the answer. A failure loses nothing, because the outbox sends the answer itself.

import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { systemSessionId, type AnyEvent, type DeltaNotice } from '../../contracts/events.ts';
import type { SessionLog } from '../../store/session/session.ts';
import type { LiveScreen } from '../../contracts/channels.ts';

export interface LiveDeps {
  readonly screen: LiveScreen;
  readonly channel: string;
  readonly log: SessionLog;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Calls `run` repeatedly until the returned function is called. */
  readonly every: (ms: number, run: () => void) => () => void;
}

interface Live {
  readonly turnId: string;
  readonly chatId: string;
  readonly threadId?: string;
  readonly isPrivate: boolean;
  readonly draftId: number;
  text: string;
  shown: string;
  shownAtMs: number;
  typedAtMs: number;
  messageId: string | null;
  sending: Promise<void> | null;
  readonly ending: AbortController;
}

const TICK_MS = 100;
const DRAFT_MS = 400;
const EDIT_MS = 1_200;
const GROUP_EDIT_MS = 3_500;
const TYPING_MS = 4_000;
const LIVE_MAX = 50;

export class LiveReplies {
  readonly #deps: LiveDeps;
  readonly #live = new Map<string, Live>();
  #stopTicking: (() => void) | null = null;
  #hasDrafts: boolean;
  /** The server asked not to be called before this time. */
  #quietUntilMs = 0;

  constructor(deps: LiveDeps) {
    this.#deps = deps;
    this.#hasDrafts = deps.screen.draft !== undefined;
  }

  /** A message has started this turn: from now on the chat shows that the agent is working. */
  begin(turnId: string, chat: Pick<Live, 'chatId' | 'threadId' | 'isPrivate'>): void {
    if (this.#live.has(turnId) || this.#live.size >= LIVE_MAX) return;
    this.#live.set(turnId, {
      turnId,
      ...chat,
      draftId: draftIdOf(turnId),
      text: '',
      shown: '',
      shownAtMs: -Infinity,
      typedAtMs: -Infinity,
      messageId: null,
      sending: null,
      ending: new AbortController(),
    });
    this.#stopTicking ??= this.#deps.every(TICK_MS, () => this.#tick());
  }

  hear({ kind, turnId, text }: DeltaNotice): void {
    const live = this.#live.get(turnId);
    if (live !== undefined && kind === 'text') live.text += text;
  }

  follow(event: AnyEvent): void {
    if (event.type === 'channel.revoked' && event.body.channel === this.#deps.channel) this.#leave(event.body.chatId);
    const live = event.turnId === null ? undefined : this.#live.get(event.turnId);
    if (live === undefined) return;
    // The next request starts a new text.
    if (event.type === 'model.requested') live.text = '';
    if (event.type === 'turn.finished' || event.type === 'turn.waiting') void this.end(live.turnId);
  }

  /** No more text of the turn is shown once this resolves. */
  async end(turnId: string): Promise<void> {
    const live = this.#live.get(turnId);
    if (live === undefined) return;
    this.#live.delete(turnId);
    live.ending.abort();
    if (this.#live.size === 0) {
      this.#stopTicking?.();
      this.#stopTicking = null;
    }
    await live.sending;
  }

  #leave(chatId: string | undefined): void {
    for (const live of [...this.#live.values()].filter((one) => one.chatId === chatId)) void this.end(live.turnId);
  }

  async dispose(): Promise<void> {
    await Promise.all([...this.#live.keys()].map((turnId) => this.end(turnId)));
  }

  #tick(): void {
    const nowMs = this.#deps.clock.monotonicMs();
    if (nowMs < this.#quietUntilMs) return;
    for (const live of this.#live.values()) {
      if (live.sending !== null) continue;
      const work = this.#next(live, nowMs);
      if (work === null) continue;
      live.sending = work
        .catch((cause: unknown) => this.#note(cause, live))
        .finally(() => {
          live.sending = null;
        });
    }
  }

  #next(live: Live, nowMs: number): Promise<void> | null {
    const { shownMax } = this.#deps.screen;
    const text = live.text.length > shownMax ? `…${live.text.slice(-shownMax + 1).replace(/^[\uDC00-\uDFFF]/, '')}` : live.text;
    const isDraft = live.isPrivate && this.#hasDrafts && live.messageId === null;
    const restMs = isDraft ? DRAFT_MS : live.isPrivate ? EDIT_MS : GROUP_EDIT_MS;
    if (text.trim() !== '' && text !== live.shown && nowMs - live.shownAtMs >= restMs) {
      live.shownAtMs = nowMs;
      return isDraft ? this.#draft(live, text) : this.#write(live, text);
    }
    if (nowMs - live.typedAtMs < TYPING_MS) return null;
    live.typedAtMs = nowMs;
    return this.#deps.screen.typing(live.chatId, live.ending.signal, live.threadId);
  }

  async #draft(live: Live, text: string): Promise<void> {
    try {
      const { chatId, threadId, draftId } = live;
      const place = { chatId, ...(threadId === undefined ? {} : { threadId }) };
      await this.#deps.screen.draft?.({ ...place, draftId, text }, live.ending.signal);
      live.shown = text;
    } catch (cause) {
      // From now on messages are edited.
      if (this.#deps.screen.failureOf(cause, live.ending.signal).kind === 'unsupported') this.#hasDrafts = false;
      else throw cause;
    }
  }

  /** Not aborted halfway, because a message with an unknown id would remain next to the answer. */
  async #write(live: Live, text: string): Promise<void> {
    const { screen, log, channel } = this.#deps;
    const { turnId, chatId, threadId, messageId } = live;
    if (messageId === null) {
      live.messageId = await screen.send(chatId, text, threadId);
      const body = { channel, turnId, chatId, messageId: live.messageId };
      log.append(systemSessionId, [{ type: 'channel.preview_sent', body }]);
    } else await screen.edit({ chatId, messageId, text });
    live.shown = text;
  }

  #note(cause: unknown, live: Live): void {
    const failure = this.#deps.screen.failureOf(cause, live.ending.signal);
    if (failure.kind === 'aborted') return;
    if (failure.kind === 'flood') this.#quietUntilMs = this.#deps.clock.monotonicMs() + failure.retryAfterMs;
    else this.#deps.logger.log('debug', 'an answer could not be shown while it was written', { kind: failure.kind });
  }
}

/** Never zero, and stable for one turn. */
function draftIdOf(turnId: string): number {
  let hash = 7;
  for (const character of turnId) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 2_147_483_647;
  return hash + 1;
}
