// Delivery: chats in parallel, the items of one chat in order, one part after the other. Each attempt is committed to disk before it is
// sent and recorded afterwards. An unknown outcome is marked uncertain and left to a person. Queues nothing itself.

import type { Clock, Later } from '../../base/clock.ts';
import { sleep } from '../../base/waits.ts';
import { stillRedacted, type Redacted } from '../../base/redacted.ts';
import type { Logger } from '../../base/logger.ts';
import type { ChatAddress, ChannelPort, OutboundItem, OutboundPart, PartContent, SendOutcome } from '../../contracts/channels.ts';
import type { AnyDraft } from '../../contracts/events.ts';
import type { HookPort } from '../../contracts/features/hooks.ts';
import { hookMessage, tellMessageHooks } from './message-hooks.ts';
import type { SessionLog } from '../../store/session/session.ts';
import type { OutboundRow, OutboundRows } from './outbound-rows.ts';

type SafeRow = OutboundRow & { readonly item: Redacted<OutboundItem> };

export interface DispatchDeps {
  readonly log: SessionLog;
  readonly rows: OutboundRows;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly panic: { readonly engaged: boolean };
  readonly crashPoints: { reach(point: 'outbound-sending' | 'outbound-sent'): void };
  readonly after: Later;
  /** Redacts at the time of sending: the item may have waited, and more secrets may be known by now. */
  redactDeep<T>(value: T): Redacted<T>;
}

const CHATS_AT_ONCE = 8;
const TRIES_MAX = 12;
/** The maximum number of attempts for a channel that states the time of the next one. */
const TOLD_TRIES_MAX = 100;
const BACKOFF_FIRST_MS = 1_000;
const BACKOFF_MAX_MS = 600_000;
const SEND_MAX_MS = 120_000;
const CLOSE_WAIT_MS = 5_000;
/** Older items are no longer sent: they would look like news. */
const AGE_MAX_MS = 86_400_000;
/** Clocks jump and machines sleep, so the queue is checked this often regardless of the timers. */
const LOOK_AGAIN_MS = 60_000;
const STALE_AT_ONCE = 100;
/** The wait after the store itself failed. */
const STORE_WAIT_MS = 5_000;

export class Dispatch {
  readonly #deps: DispatchDeps;
  readonly #ports = new Map<string, ChannelPort>();
  readonly #busy = new Map<string, Promise<void>>();
  readonly #timers = new Map<string, () => void>();
  readonly #closing = new AbortController();
  #hooks: HookPort | null = null;
  #stopLooking: (() => void) | null = null;

  constructor(deps: DispatchDeps) {
    this.#deps = deps;
  }

  /** Marks parts that the last run was sending when it ended as uncertain, because they may have arrived. */
  start(hooks: HookPort | null): void {
    this.#hooks = hooks;
    for (const row of this.#deps.rows.interrupted()) {
      const reason = 'The program ended while this was being sent.';
      this.#note(row, [{ type: 'outbound.uncertain', body: { outboundId: row.outboundId, part: row.part, reason } }]);
    }
    this.#lookAgain();
  }

  get channels(): readonly string[] {
    return [...this.#ports.keys()];
  }

  open(port: ChannelPort): () => void {
    this.#ports.set(port.name, port);
    this.wake();
    return () => {
      if (this.#ports.get(port.name) === port) this.#ports.delete(port.name);
    };
  }

  /** Starts everything that can be sent now. */
  wake(): void {
    if (this.#closing.signal.aborted) return;
    try {
      const { rows } = this.#deps;
      if (rows.openChats().length === 0) return;
      this.#dropStale();
      for (const chat of rows.openChats()) this.#begin(chat);
    } catch (cause) {
      this.#deps.logger.log('error', 'the outbox could not continue', { cause: String(cause) });
    }
  }

  /** Gives running sends a moment to finish; unfinished ones are uncertain at the next start. */
  async dispose(): Promise<void> {
    this.#stopLooking?.();
    for (const stop of this.#timers.values()) stop();
    this.#timers.clear();
    const running = Promise.all(this.#busy.values());
    this.#closing.abort();
    const over = new AbortController();
    await Promise.race([running, sleep(CLOSE_WAIT_MS, over.signal)]);
    over.abort();
  }

  #lookAgain(): void {
    this.wake();
    this.#stopLooking = this.#deps.after(LOOK_AGAIN_MS, () => this.#lookAgain());
  }

  /** `isDue` means that its wait is over, whatever the current clock says. */
  #begin(chat: ChatAddress, isDue = false): void {
    const key = keyOf(chat);
    if (this.#busy.has(key) || this.#busy.size >= CHATS_AT_ONCE || !this.#ports.has(chat.channel)) return;
    // A notice about the panic stop does not wait.
    if (this.#timers.has(key) && !this.#deps.panic.engaged) return;
    // During a panic stop most chats have nothing to send.
    if (this.#head(chat) === null) return;
    const running = this.#run(chat, isDue)
      .catch((cause: unknown) => {
        // The store probably failed. Nothing is lost; a later check tries again.
        this.#deps.logger.log('error', 'a chat could not be served', { channel: chat.channel, cause: String(cause) });
        if (!this.#closing.signal.aborted) this.#wakeIn(chat, STORE_WAIT_MS);
      })
      .then(() => {
        this.#busy.delete(key);
        this.wake();
      });
    this.#busy.set(key, running);
  }

  #head(chat: ChatAddress): OutboundRow | null {
    return this.#deps.rows.head(chat, this.#deps.panic.engaged);
  }

  /** Redacts before splitting, because half a secret is not recognised. */
  #safe(row: OutboundRow | null): SafeRow | null {
    return row === null ? null : { ...row, item: this.#deps.redactDeep(row.item) };
  }

  async #run(chat: ChatAddress, isDue: boolean): Promise<void> {
    let waitsNoMore = isDue;
    while (!this.#closing.signal.aborted) {
      const port = this.#ports.get(chat.channel);
      const row = this.#safe(this.#head(chat));
      if (port === undefined || row === null) return;
      const waitMs = waitsNoMore ? 0 : this.#waitOf(row);
      waitsNoMore = false;
      if (waitMs > 0) {
        this.#wakeIn(chat, waitMs);
        return;
      }
      if (await this.#mayLeave(row)) await this.#sendPart(row, port);
    }
  }

  /** Runs the hooks once for each item, before any part is sent. Skips them if a person wants the item sent. */
  async #mayLeave(row: SafeRow): Promise<boolean> {
    if (this.#hooks === null || row.part > 0 || row.attempt > 0 || row.wanted) return true;
    const refusal = await hookMessage(this.#hooks, this.#placeOf(row), this.#closing.signal, (ran) => {
      this.#note(row, [{ type: 'hook.ran', body: ran }]);
    });
    if (refusal === null) return true;
    this.#note(row, [{ type: 'outbound.failed', body: { outboundId: row.outboundId, part: 0, error: refusal, retryAtMs: null } }]);
    return false;
  }

  #placeOf({ item, sessionId }: OutboundRow): { item: OutboundItem; agentId: string } {
    return { item, agentId: this.#deps.log.index.session(sessionId)?.agentId ?? 'main' };
  }

  async #sendPart(row: SafeRow, port: ChannelPort): Promise<void> {
    const { outboundId, item, part } = row;
    const parts = partsOf(item, port);
    const content = parts[part];
    if (content === undefined) {
      this.#note(row, [{ type: 'outbound.sent', body: { outboundId } }]);
      return;
    }
    if (isForgotten(row, port, this.#deps.clock.nowMs())) {
      const reason = 'The program ended while this was being sent, too long ago to send it again safely.';
      this.#note(row, [{ type: 'outbound.uncertain', body: { outboundId, part, reason } }]);
      return;
    }
    // It may have been dropped while its hooks ran.
    if (this.#deps.rows.row(outboundId)?.state === 'dropped') return;
    const attempt = row.attempt + 1;
    const repeatable = port.deduplicates === true;
    const about = { outboundId, part, parts: parts.length, attempt, repeatable };
    if (!this.#note(row, [{ type: 'outbound.sending', body: about }], true)) return;
    this.#deps.crashPoints.reach('outbound-sending');
    const idempotencyKey = `${item.idempotencyKey}/${part}`;
    const outcome = await this.#send(port, { ...content, item, part, parts: parts.length, attempt, idempotencyKey });
    this.#deps.crashPoints.reach('outbound-sent');
    this.#note(
      row,
      this.#outcomeDrafts({ ...row, attempt, repeatable: repeatable && port.deduplicatesMs === undefined }, parts.length, outcome),
    );
    const now = this.#deps.rows.row(outboundId)?.state;
    if (now !== undefined && now !== 'queued') tellMessageHooks(this.#hooks, this.#placeOf(row), now);
  }

  /** Maps every result to an outcome. A send that takes too long is not awaited. */
  async #send(port: ChannelPort, part: OutboundPart): Promise<SendOutcome> {
    const limit = new AbortController();
    const tooLate: SendOutcome = { kind: 'unknown', reason: `No answer within ${SEND_MAX_MS / 1000} seconds.` };
    const late = Promise.withResolvers<SendOutcome>();
    const stopLimit = this.#deps.after(SEND_MAX_MS, () => {
      limit.abort();
      late.resolve(tooLate);
    });
    try {
      return await Promise.race([port.send(part, limit.signal), late.promise]);
    } catch (cause) {
      this.#deps.logger.log('error', 'a channel failed to send', { channel: port.name, cause: String(cause) });
      return { kind: 'unknown', reason: 'The channel failed while sending.' };
    } finally {
      stopLimit();
      late.resolve(tooLate);
    }
  }

  #outcomeDrafts(row: OutboundRow, parts: number, outcome: SendOutcome): AnyDraft[] {
    const about = { outboundId: row.outboundId, part: row.part };
    switch (outcome.kind) {
      case 'sent': {
        const sent: AnyDraft = { type: 'outbound.part_sent', body: { ...about, messageId: outcome.messageId } };
        return row.part + 1 < parts ? [sent] : [sent, { type: 'outbound.sent', body: { outboundId: row.outboundId } }];
      }
      case 'refused':
        return [{ type: 'outbound.failed', body: { ...about, error: outcome.error, retryAtMs: this.#retryAt(row, outcome) } }];
      case 'unknown': {
        const { reason } = outcome;
        if (!row.repeatable) return [{ type: 'outbound.uncertain', body: { ...about, reason } }];
        const retryAtMs = this.#retryAt(row, { retryAfterMs: null, isRetryable: true });
        return [{ type: 'outbound.failed', body: { ...about, error: reason, retryAtMs } }];
      }
    }
  }

  #retryAt(row: OutboundRow, { retryAfterMs, isRetryable }: { retryAfterMs: number | null; isRetryable: boolean }): number | null {
    const nowMs = this.#deps.clock.nowMs();
    if (retryAfterMs !== null) return row.attempt >= TOLD_TRIES_MAX ? null : nowMs + Math.min(retryAfterMs, AGE_MAX_MS);
    if (!isRetryable || row.attempt >= TRIES_MAX) return null;
    return nowMs + Math.min(BACKOFF_FIRST_MS * 2 ** (row.attempt - 1), BACKOFF_MAX_MS);
  }

  /** At most a day, in case the clock was changed. */
  #waitOf({ retryAtMs }: OutboundRow): number {
    return retryAtMs === null ? 0 : Math.min(retryAtMs - this.#deps.clock.nowMs(), AGE_MAX_MS);
  }

  #wakeIn(chat: ChatAddress, ms: number): void {
    const key = keyOf(chat);
    this.#timers.get(key)?.();
    const stop = this.#deps.after(ms, () => {
      this.#timers.delete(key);
      this.#begin(chat, true);
    });
    this.#timers.set(key, stop);
  }

  #dropStale(): void {
    const { rows, clock } = this.#deps;
    for (const row of rows.waitingSince(clock.nowMs() - AGE_MAX_MS, STALE_AT_ONCE)) {
      if (this.#busy.has(keyOf(row.item.to))) continue;
      const error = `It waited for ${AGE_MAX_MS / 3_600_000} hours and could not be sent.`;
      this.#note(row, [{ type: 'outbound.failed', body: { outboundId: row.outboundId, part: row.part, error, retryAtMs: null } }]);
    }
  }

  /** Returns false if the item no longer exists because its session was deleted. */
  #note({ outboundId, sessionId }: OutboundRow, drafts: readonly AnyDraft[], barrier = false): boolean {
    const { log, rows } = this.#deps;
    return log.transact(() => {
      if (rows.row(outboundId) === null) return false;
      log.append(sessionId, drafts);
      return true;
    }, barrier);
  }
}

/**
 * Returns whether the other side may have forgotten the key of an interrupted part. If the clock was set back, the age is unknown and the
 * key counts as forgotten.
 */
function isForgotten({ state, updatedAtMs }: OutboundRow, { deduplicatesMs = Infinity }: ChannelPort, nowMs: number): boolean {
  return state === 'sending' && (nowMs < updatedAtMs || nowMs - updatedAtMs > deduplicatesMs);
}

function keyOf({ channel, chatId }: ChatAddress): string {
  return `${channel}\0${chatId}`;
}

/** A file that the channel would refuse is named in the text instead, so that the text is not delayed. */
function partsOf(item: Redacted<OutboundItem>, port: ChannelPort): readonly PartContent[] {
  const tooLarge = item.files.filter(({ sizeBytes }) => sizeBytes > port.maxFileBytes);
  if (tooLarge.length === 0) return port.split(item);
  const names = tooLarge.map(({ name, sizeBytes }) => `${name} (${sizeBytes} bytes)`).join(', ');
  const note = `Not sent, because ${port.name} takes files of at most ${port.maxFileBytes} bytes: ${names}`;
  const text = item.text === '' ? note : `${item.text}\n\n${note}`;
  return port.split(stillRedacted({ ...item, text, files: item.files.filter((file) => !tooLarge.includes(file)) }));
}
