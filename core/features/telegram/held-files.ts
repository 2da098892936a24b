// Messages with files: they are recorded first, then their files are fetched one after the other, then they are passed on in order; those
// of an album as one. A restart continues where the last run ended: passing on and removing the record are one transaction. The address of
// a file contains the token: it is used only here and never shown.

import { assert } from '../../base/assert.ts';
import type { Logger } from '../../base/logger.ts';
import type { Attachment } from '../../contracts/attachments.ts';
import { AppError, isAppError } from '../../contracts/errors.ts';
import { systemSessionId, type AnyDraft } from '../../contracts/events.ts';
import type { OutboundItem } from '../../contracts/channels.ts';
import type { HeldMessage } from '../../contracts/features/telegram.ts';
import type { SessionLog } from '../../store/session/session.ts';
import { readFailure } from './api-failure.ts';
import type { BotApi } from './bot-api.ts';
import { type Intake, albumOf, tooBig } from './intake.ts';
import type { TelegramStore } from './rows.ts';

export interface HeldFilesDeps {
  readonly api: Pick<BotApi, 'fileAddress'>;
  readonly log: SessionLog;
  readonly store: TelegramStore;
  readonly logger: Logger;
  readonly intake: Pick<Intake, 'hand'>;
  readonly fetch: typeof fetch;
  /** Most of one file; never more than the 20 MB the server gives out. */
  readonly fileBytesMax: number;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<boolean>;
  readonly queue: (item: Omit<OutboundItem, 'outboundId'>) => string;
}

const DOWNLOAD_MAX = 20 * 1024 * 1024;
const FETCH_MS = 120_000;
const TRIES_MAX = 8;
const RETRY_MS = 2_000;
/** An album is complete when no part has arrived for this long; it is checked no more often than this. */
const ALBUM_REST_MS = 1_000;
const ALBUM_RESTS_MAX = 5;

export class HeldFiles {
  readonly #deps: HeldFilesDeps;
  readonly #signal: AbortSignal;
  #running: Promise<void> | null = null;
  #again = false;

  constructor(deps: HeldFilesDeps, signal: AbortSignal) {
    this.#deps = deps;
    this.#signal = signal;
  }

  wake(): void {
    if (this.#running !== null) {
      this.#again = true;
      return;
    }
    this.#running = this.#run()
      .catch((cause: unknown) => this.#deps.logger.log('error', 'files of a message could not be taken', { cause: String(cause) }))
      .then(() => {
        this.#running = null;
        if (!this.#again || this.#signal.aborted) return;
        this.#again = false;
        this.wake();
      });
  }

  async idle(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    const done = new Set<number>();
    for (const message of this.#deps.store.held()) {
      if (message.command === true || done.has(message.updateId)) continue;
      const together = await this.#gather(message);
      if (this.#signal.aborted) return;
      await this.#pass(asOne(together), together);
      for (const { updateId } of together) done.add(updateId);
    }
  }

  /** The message, or all of its album. */
  async #gather(message: HeldMessage): Promise<readonly HeldMessage[]> {
    if (message.albumId === undefined) return [message];
    let album: readonly HeldMessage[] = [];
    for (let rests = 0; rests < ALBUM_RESTS_MAX; rests++) {
      await this.#deps.wait(ALBUM_REST_MS, this.#signal);
      const now = albumOf(message, this.#deps.store.held());
      if (now.length === album.length) break;
      album = now;
    }
    return album;
  }

  async #pass(message: HeldMessage, together: readonly HeldMessage[]): Promise<void> {
    const { log, intake, queue } = this.#deps;
    const fetched = await this.#fetchAll(message);
    if (this.#signal.aborted) return;
    const { botId, updateId, chatId, messageId } = message;
    const passed = (problem: string | null): AnyDraft[] =>
      together.map((one) => ({ type: 'telegram.message_passed', body: { botId: one.botId, updateId: one.updateId, problem } }));
    let isPassed = false;
    const pass = (): void => {
      isPassed = true;
      log.append(systemSessionId, passed(null));
    };
    const problem = typeof fetched === 'string' ? fetched : intake.hand(message, fetched, pass);
    if (isPassed) return;
    log.transact(() => {
      if (problem !== null) {
        queue({
          to: { channel: 'telegram', chatId },
          kind: 'notice',
          text: problem,
          files: [],
          replyToMessageId: messageId,
          idempotencyKey: `telegram-answer:${botId}:${updateId}`,
          sessionId: systemSessionId,
          turnId: null,
        });
      }
      log.append(systemSessionId, passed(problem), true);
    }, true);
  }

  /** The files, or the reasons why they are missing. */
  async #fetchAll(message: HeldMessage): Promise<Attachment[] | string> {
    const attachments: Attachment[] = [];
    for (const file of message.files) {
      try {
        const bytes = await this.#fetchOne(file);
        attachments.push({
          name: file.name,
          ...(file.mediaType === null ? {} : { mediaType: file.mediaType }),
          base64: bytes.toString('base64'),
        });
      } catch (cause) {
        const failure = isAppError(cause) ? cause : new AppError('fetch_failed', `"${file.name}" could not be fetched from Telegram.`);
        return failure.told('\n');
      }
    }
    return attachments;
  }

  async #fetchOne(file: HeldMessage['files'][number]): Promise<Buffer> {
    const sizeMax = Math.min(this.#deps.fileBytesMax, DOWNLOAD_MAX);
    if ((file.sizeBytes ?? 0) > sizeMax) throw tooBig(file.name, sizeMax);
    for (let tried = 1; ; tried++) {
      try {
        const address = await this.#deps.api.fileAddress(file.fileId, this.#signal);
        return await this.#download(address, file.name, sizeMax);
      } catch (cause) {
        if (isAppError(cause)) throw cause;
        const failure = readFailure(cause, this.#signal);
        if (failure.kind === 'refused' && failure.why === 'too_big') throw tooBig(file.name, DOWNLOAD_MAX);
        if (failure.kind === 'refused' || failure.kind === 'aborted' || tried >= TRIES_MAX) throw cause;
        await this.#deps.wait(failure.kind === 'flood' ? failure.retryAfterMs : RETRY_MS * tried, this.#signal);
      }
    }
  }

  /** The size the server states is not trusted: the bytes are counted. */
  async #download(address: string, name: string, sizeMax: number): Promise<Buffer> {
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(FETCH_MS)]);
    const response = await this.#deps.fetch(address, { signal, redirect: 'error' });
    if (!response.ok || response.body === null) throw new Error(`the file server answered ${response.status}`);
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body) {
      size += chunk.length;
      if (size > sizeMax) throw tooBig(name, sizeMax);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }
}

/** Identified by its first message. If any part was forwarded, the whole album is untrusted. */
function asOne(together: readonly HeldMessage[]): HeldMessage {
  const [first, ...rest] = together;
  assert(first !== undefined, 'there is at least the message itself');
  if (rest.length === 0) return first;
  return {
    ...first,
    text: together.flatMap(({ text }) => (text.trim() === '' ? [] : [text])).join('\n\n'),
    files: together.flatMap(({ files }) => files),
    replyTo: together.find(({ replyTo }) => replyTo !== null)?.replyTo ?? null,
    forwardedFrom: together.find(({ forwardedFrom }) => forwardedFrom !== null)?.forwardedFrom ?? null,
    mentioned: together.some(({ mentioned }) => mentioned),
  };
}
