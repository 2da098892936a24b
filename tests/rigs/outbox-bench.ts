// For tests only: the outbox over a real log in a temporary folder, with a scripted channel and a manual clock. A restart closes everything
// and reopens it with the same folder.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from '../doubles/manual-clock.ts';
import { stillRedacted } from '../../core/base/redacted.ts';
import { CountingIds } from '../doubles/counting-ids.ts';
import type { Logger } from '../../core/base/logger.ts';
import type { ChannelPort, ChatAddress, NewOutbound, OutboundPart, SendOutcome } from '../../core/contracts/channels.ts';
import type { AnyDraft, AnyEvent } from '../../core/contracts/events.ts';
import { noUsage } from '../../core/contracts/llm.ts';
import { SessionLog, sessionMigrations } from '../../core/store/session/session.ts';
import { Storage } from '../../core/store/storage/storage.ts';
import { ChatRows, Outbox, OutboundRows, outboxMigrations } from '../../core/runtime/outbox/outbox.ts';

export const home: ChatAddress = { channel: 'loop', chatId: 'home' };

/** Delivers everything unless scripted otherwise; each line of the text is a part. */
export class ScriptedPort implements ChannelPort {
  readonly name: string;
  readonly maxFileBytes = 100;
  readonly deduplicates: boolean;
  readonly delivered: string[] = [];
  readonly tried: OutboundPart[] = [];
  /** Outcomes of the next attempts, in order; a promise is awaited, an error thrown. */
  readonly script: (SendOutcome | Promise<SendOutcome> | Error)[] = [];

  constructor(name = 'loop', deduplicates = false) {
    this.name = name;
    this.deduplicates = deduplicates;
  }

  split({ text, files }: { text: string; files: OutboundPart['files'] }): { text: string; files: OutboundPart['files'] }[] {
    return text.split('\n').map((line, index) => ({ text: line, files: index === 0 ? files : [] }));
  }

  async send(part: OutboundPart): Promise<SendOutcome> {
    this.tried.push(part);
    const next = this.script.shift() ?? { kind: 'sent', messageId: `m${this.tried.length}` };
    if (next instanceof Error) throw next;
    const outcome = await next;
    if (outcome.kind === 'sent') this.delivered.push(`${part.item.to.chatId}: ${part.text}`);
    return outcome;
  }
}

export class OutboxBench {
  readonly clock = new ManualClock();
  readonly ids = new CountingIds();
  readonly folder = mkdtempSync(join(tmpdir(), 'trayclaw-outbox-'));
  readonly notes: string[] = [];
  readonly logger: Logger = { log: (level, message) => void this.notes.push(`${level}: ${message}`) };
  readonly panic = { engaged: false };
  #timers: { atMs: number; run: () => void }[] = [];
  #keys = 0;
  readonly #gone: Promise<void>[] = [];
  storage!: Storage;
  log!: SessionLog;
  rows!: OutboundRows;
  chats!: ChatRows;
  outbox!: Outbox;

  constructor() {
    this.open();
    for (const sessionId of ['system', 'ses_1', 'ses_2']) {
      this.append(sessionId, { type: 'session.created', body: { title: 'T', agentId: 'main', channel: 'loop', forkedFrom: null } });
    }
  }

  open(): void {
    this.storage = Storage.open({ home: this.folder, migrations: [...sessionMigrations, ...outboxMigrations] });
    this.rows = new OutboundRows(this.storage.db);
    this.chats = new ChatRows(this.storage.db);
    this.log = new SessionLog({ storage: this.storage, clock: this.clock, logger: this.logger, projections: [this.rows, this.chats] });
    this.#timers = [];
    const { log, rows, chats, clock, ids, logger, panic } = this;
    const parts = { log, rows, chats, clock, ids, logger, panic, redactDeep: stillRedacted };
    this.outbox = new Outbox({ ...parts, crashPoints: { reach: () => undefined }, after: (ms, run) => this.#after(ms, run) });
  }

  /** Simulates the end of the process: deliveries in flight are interrupted. */
  restart(): void {
    this.#gone.push(this.outbox.dispose());
    this.storage.dispose();
    this.open();
    this.outbox.start();
  }

  append(sessionId: string, ...drafts: AnyDraft[]): readonly AnyEvent[] {
    return this.log.append(sessionId, drafts);
  }

  queue(text: string, more: Partial<NewOutbound> = {}): string {
    this.#keys += 1;
    const base = { to: home, kind: 'notice' as const, text, files: [], sessionId: 'ses_1', turnId: null };
    return this.outbox.queue({ ...base, idempotencyKey: `key-${this.#keys}`, ...more });
  }

  /** Records a message of a chat and the turn it started. */
  heard(turnId: string, chat: ChatAddress & { messageId?: string } = home, sessionId = 'ses_1'): void {
    const body = { text: 'hi', channel: chat.channel, sender: 'loop:1', dedupeKey: turnId, chat };
    this.append(sessionId, { type: 'user.message', turnId, body });
  }

  ended(turnId: string, text: string, status: 'done' | 'failed' | 'over_budget' = 'done', sessionId = 'ses_1'): void {
    const body = { status, text, error: null, usage: noUsage, costUsd: 0, modelCalls: 0, toolCalls: 0 };
    this.append(sessionId, { type: 'turn.finished', turnId, body });
  }

  bound(sessionId: string | null, chat: ChatAddress = home): void {
    this.append('system', { type: 'chat.bound', body: { chat, kind: 'private', title: 'Ada', sessionId, by: 'loop:1' } });
  }

  /** Advances the clock and lets due work run. */
  async pass(ms: number): Promise<void> {
    this.clock.advance(ms);
    await this.rest();
  }

  /** Waits until nothing more happens at this point in time. */
  async rest(): Promise<void> {
    for (let quiet = 0; quiet < 3; quiet += 1) {
      const due = this.#timers.filter(({ atMs }) => atMs <= this.clock.nowMs());
      this.#timers = this.#timers.filter((timer) => !due.includes(timer));
      for (const { run } of due) run();
      if (due.length > 0) quiet = 0;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  types(sessionId = 'ses_1'): string[] {
    return this.log.reads.slice(sessionId, { limit: 1000 }).flatMap(({ type }) => (type.startsWith('outbound.') ? [type.slice(9)] : []));
  }

  async dispose(): Promise<void> {
    await Promise.all([...this.#gone, this.outbox.dispose()]);
    this.storage.dispose();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #after(ms: number, run: () => void): () => void {
    const timer = { atMs: this.clock.nowMs() + ms, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }
}
