// The window's connection to the runtime over IPC. Checks the sender and the content of every message before anything else. Knows the
// operations table but not what the operations do.

import type { IpcMain, IpcMainInvokeEvent, WebContents } from 'electron';
import type * as z from 'zod';
import { silentLogger, type Logger } from '../../core/base/logger.ts';
import { AppError, toAppError } from '../../core/contracts/errors.ts';
import type { Claw } from '../../core/contracts/claw.ts';
import {
  followMessageSchema,
  loginStartMessageSchema,
  openLinkMessageSchema,
  opMessageSchema,
  readyMessageSchema,
  unfollowMessageSchema,
} from '../../core/contracts/desktop.ts';
import {
  askChannels,
  tellChannels,
  type ShellCommand,
  type ShellFacts,
  type StreamMessage,
  type StreamNotice,
} from '../../core/contracts/desktop-channels.ts';
import { isOpName, type Caller, type OpReply } from '../../core/contracts/ops.ts';

export interface IpcRouterOptions {
  readonly ipcMain: Pick<IpcMain, 'handle' | 'removeHandler'>;
  readonly claw: Claw;
  readonly logger?: Logger;
  /** The web contents of the only window; null if there is no window. */
  windowContents(): WebContents | null;
  /** True for the address of the window's own page. */
  isOwnPage(url: string): boolean;
  shellFacts(): ShellFacts;
  setLoginStart(isOn: boolean): void;
  /** Returns true if the link was passed to the system. */
  openLink(url: string): boolean;
}

const caller: Caller = { channel: 'window', actor: 'window' };
/** A reloaded page closes its streams, so more than this many at once indicate a bug. */
const STREAMS_MAX = 16;
const BACKLOG_MAX = 100;

export class IpcRouter {
  readonly #options: IpcRouterOptions;
  readonly #logger: Logger;
  readonly #streams = new Map<number, AbortController>();
  #backlog: ShellCommand[] = [];
  #isReady = false;

  constructor(options: IpcRouterOptions) {
    this.#options = options;
    this.#logger = options.logger ?? silentLogger;
    this.#answer(askChannels.op, opMessageSchema, ({ name, params }) => this.#op(name, params));
    this.#answer(askChannels.follow, followMessageSchema, (message, contents) => this.#follow(message, contents));
    this.#answer(askChannels.unfollow, unfollowMessageSchema, ({ followId }) => this.#unfollow(followId));
    this.#answer(askChannels.ready, readyMessageSchema, (_message, contents) => this.#ready(contents));
    this.#answer(askChannels.loginStart, loginStartMessageSchema, ({ isOn }) => {
      options.setLoginStart(isOn);
      return options.shellFacts();
    });
    this.#answer(askChannels.openLink, openLinkMessageSchema, ({ url }) => options.openLink(url));
  }

  /** Sends a command to the window, or queues it until the window listens. */
  command(command: ShellCommand): void {
    const contents = this.#options.windowContents();
    if (this.#isReady && contents !== null) contents.send(tellChannels.command, command);
    // A page that is not listening yet reads the stop state when it loads.
    else if (command.kind === 'stopping') return;
    else if (this.#backlog.length < BACKLOG_MAX) this.#backlog.push(command);
  }

  /** The page was closed or reloaded: ends all its streams. */
  forgetPage(): void {
    this.#isReady = false;
    for (const stream of this.#streams.values()) stream.abort();
    this.#streams.clear();
  }

  dispose(): void {
    this.forgetPage();
    for (const channel of Object.values(askChannels)) this.#options.ipcMain.removeHandler(channel);
  }

  #answer<S extends z.ZodType>(channel: string, schema: S, work: (message: z.infer<S>, contents: WebContents) => unknown): void {
    this.#options.ipcMain.handle(channel, (event, message: unknown) => {
      this.#assertOwn(event, channel);
      const parsed = schema.safeParse(message);
      // Only a modified page sends an invalid message, so details would not help.
      if (!parsed.success) throw new AppError('invalid_params', `The message on ${channel} is not valid.`);
      return work(parsed.data, event.sender);
    });
  }

  /** Accepts only the top frame of our window while it shows our page; rejects inner frames, other windows and pages we did not serve. */
  #assertOwn(event: IpcMainInvokeEvent, channel: string): void {
    const frame = event.senderFrame;
    const isOwn =
      event.sender === this.#options.windowContents() &&
      frame !== null &&
      frame === event.sender.mainFrame &&
      this.#options.isOwnPage(frame.url);
    if (isOwn) return;
    this.#logger.log('warn', 'a message from a foreign frame was refused', { channel, url: frame?.url ?? null });
    throw new AppError('forbidden', 'This page may not talk to TrayClaw.');
  }

  async #op(name: string, params: unknown): Promise<OpReply> {
    try {
      if (!isOpName(name)) throw new AppError('unknown_op', `There is no operation ${JSON.stringify(name)}.`);
      // The operations table checks the parameters, as for every door.
      return { ok: true, result: await this.#options.claw.op(name, params as never, caller) };
    } catch (cause) {
      const error = toAppError(cause);
      if (error.code === 'internal') this.#logger.log('error', 'an operation failed', { name, cause: String(cause) });
      return { ok: false, error: error.toBody() };
    }
  }

  #ready(contents: WebContents): ShellFacts {
    this.#isReady = true;
    const waiting = this.#backlog;
    this.#backlog = [];
    for (const command of waiting) contents.send(tellChannels.command, command);
    return this.#options.shellFacts();
  }

  #follow({ followId, after }: z.infer<typeof followMessageSchema>, contents: WebContents): void {
    if (this.#streams.size >= STREAMS_MAX || this.#streams.has(followId)) {
      throw new AppError('conflict', 'This window follows too many streams already.');
    }
    const stream = new AbortController();
    this.#streams.set(followId, stream);
    // A failure ends the stream; the window opens another one.
    void this.#stream(followId, after, contents, stream.signal).catch((cause: unknown) => {
      this.#logger.log('warn', 'a stream to the window failed', { cause: String(cause) });
    });
  }

  #unfollow(followId: number): void {
    this.#streams.get(followId)?.abort();
    this.#streams.delete(followId);
  }

  async #stream(followId: number, after: number | 'latest', contents: WebContents, signal: AbortSignal): Promise<void> {
    const tell = (notice: StreamNotice): void => {
      if (!signal.aborted && !contents.isDestroyed()) contents.send(tellChannels.notice, { followId, notice } satisfies StreamMessage);
    };
    const { claw } = this.#options;
    // Subscribe before the window learns that the stream is open, so that it misses nothing after that.
    const events = claw.events({ after, signal });
    const stopDeltas = claw.onDelta((delta) => tell({ kind: 'delta', delta }));
    tell({ kind: 'open' });
    try {
      for await (const event of events) tell({ kind: 'event', event });
    } finally {
      stopDeltas();
      tell({ kind: 'closed' });
      if (this.#streams.get(followId)?.signal === signal) this.#streams.delete(followId);
    }
  }
}
