// Messages with files, and parts of long texts. They are recorded first, then files are fetched one by one, then they are passed on in
// order, an album or a long text as one message. After a restart the work continues: passing a message on and removing its record are one transaction.

import { assert } from '../../base/assert.ts';
import type { Logger } from '../../base/logger.ts';
import type { Attachment } from '../../contracts/attachments.ts';
import type { ChannelInbound, ChatLine, SplitTexts } from '../../contracts/channels.ts';
import { AppError, isAppError } from '../../contracts/errors.ts';
import { systemSessionId, type AnyDraft } from '../../contracts/events.ts';
import { heldInboundSchema, type HeldInbound } from '../../contracts/features/channels.ts';
import { tooBig } from '../../runtime/chats/chats.ts';
import type { SessionLog } from '../../store/session/session.ts';
import { albumOf, asOne } from './album.ts';
import type { HeldMessage, ServiceRows } from './rows.ts';

export interface HeldMessagesDeps {
  readonly channel: string;
  readonly title: string;
  readonly log: Pick<SessionLog, 'transact' | 'append'>;
  readonly rows: Pick<ServiceRows, 'held'>;
  readonly logger: Logger;
  readonly fileBytesMax: number;
  readonly splitTexts: SplitTexts | undefined;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<boolean>;
  /** The fetchFile of the current connection. */
  readonly fetchFile: () => ChatLine['fetchFile'];
  /** Passes a message on. Returns the reply for its sender if it was not accepted. */
  readonly hand: (message: ChannelInbound) => string | null;
  readonly queueNotice: (key: string, to: HeldInbound, words: { readonly text: string }) => void;
}

const TRIES_MAX = 8;
const RETRY_MS = 2_000;
/** An album counts as complete if no part has arrived for this long. This is also the interval between checks. */
const ALBUM_REST_MS = 1_000;
const ALBUM_RESTS_MAX = 5;

export class HeldMessages {
  readonly #deps: HeldMessagesDeps;
  readonly #signal: AbortSignal;
  #running: Promise<void> | null = null;
  #again = false;

  constructor(deps: HeldMessagesDeps, signal: AbortSignal) {
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
    const done = new Set<string>();
    for (const held of this.#deps.rows.held()) {
      if (done.has(held.key)) continue;
      const together = await this.#gather(held);
      if (this.#signal.aborted) return;
      await this.#pass(together);
      for (const { key } of together) done.add(key);
    }
  }

  /** Returns the message, or all messages of its album. */
  async #gather(held: HeldMessage): Promise<readonly HeldMessage[]> {
    if (held.message.albumId === undefined) return [held];
    let album: readonly HeldMessage[] = albumOf(held.message, this.#deps.rows.held());
    for (let rests = 0; rests < ALBUM_RESTS_MAX; rests++) {
      await this.#deps.wait(ALBUM_REST_MS, this.#signal);
      const now = albumOf(held.message, this.#deps.rows.held());
      if (now.length === album.length) break;
      album = now;
    }
    return album;
  }

  async #pass(together: readonly HeldMessage[]): Promise<void> {
    const { log, channel, hand, queueNotice } = this.#deps;
    const { key, message } = asOne(together, this.#deps.splitTexts);
    const { files: _files, albumId: _albumId, ...plain } = message;
    const attachments = await this.#fetchAll(message);
    if (this.#signal.aborted) return;
    const passed = (problem: string | null): AnyDraft[] =>
      together.map((one) => ({ type: 'channel.message_passed', body: { channel, key: one.key, problem } }));
    let isPassed = false;
    const alongside = (): void => {
      isPassed = true;
      log.append(systemSessionId, passed(null));
    };
    const problem = typeof attachments === 'string' ? attachments : hand({ ...plain, channel, dedupeKey: key, attachments, alongside });
    if (isPassed) return;
    log.transact(() => {
      if (problem !== null) queueNotice(key, message, { text: problem });
      log.append(systemSessionId, passed(problem), true);
    }, true);
  }

  /** Returns the files, or the reason why one is missing. */
  async #fetchAll({ files }: HeldInbound): Promise<Attachment[] | string> {
    const attachments: Attachment[] = [];
    for (const file of files) {
      try {
        const bytes = await this.#fetchOne(file);
        const { name, mediaType } = file;
        attachments.push({ name, ...(mediaType === null ? {} : { mediaType }), base64: Buffer.from(bytes).toString('base64') });
      } catch (cause) {
        const words = `"${file.name}" could not be fetched from ${this.#deps.title}.`;
        return (isAppError(cause) ? cause : new AppError('fetch_failed', words)).told('\n');
      }
    }
    return attachments;
  }

  async #fetchOne(file: HeldInbound['files'][number]): Promise<Uint8Array> {
    const { fetchFile, fileBytesMax: sizeBytesMax, wait } = this.#deps;
    if ((file.sizeBytes ?? 0) > sizeBytesMax) throw tooBig(file.name, sizeBytesMax);
    for (let tried = 1; ; tried++) {
      try {
        const fetching = fetchFile();
        assert(fetching !== undefined, 'a service with files fetches them');
        return await fetching(file, { sizeBytesMax, signal: this.#signal });
      } catch (cause) {
        if (isAppError(cause) || this.#signal.aborted || tried >= TRIES_MAX) throw cause;
        await wait(RETRY_MS * tried, this.#signal);
      }
    }
  }
}

/** The message in the form in which it is recorded. */
export function heldOf(message: ChannelInbound): HeldInbound {
  return heldInboundSchema.parse({ ...message, files: message.files ?? [] });
}
