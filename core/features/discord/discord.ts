// Discord: the person's own bot. Direct messages, and mentions if the settings allow them; approvals with buttons; sends that Discord
// deduplicates. Fetches and handles messages that arrived while the program was not connected.

import type { Clock } from '../../base/clock.ts';
import { sleep, untilAborted } from '../../base/waits.ts';
import type { Logger } from '../../base/logger.ts';
import type { REST } from '@discordjs/rest';
import type { SessionInfo, SimpleShardingStrategy, WebSocketManager } from '@discordjs/ws';
import type { APIInteraction, APIMessageComponentInteraction } from 'discord-api-types/v10';
import { channelRulesSchema, type ChatDesk, type ChatLine, type ChatService, type ResolveSecret } from '../../contracts/channels.ts';
import { AppError, isAppError } from '../../contracts/errors.ts';
import { discordSchema, type DiscordConfig } from '../../contracts/features/discord.ts';
import { download, trialOf } from '../../runtime/chats/chats.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { closeQuestion, createDiscordPort, createLiveScreen, NO_PREVIEWS } from './discord-port.ts';
import { readFailure } from './failure.ts';
import { readMessage, type DiscordMessage } from './read-discord.ts';

type Taken = Pick<Spine, 'config' | 'secrets' | 'logger' | 'clock' | 'fetch' | 'options'>;

const PAGE = 100;
/** High, because a busy group has many messages that are not meant for the bot. */
const PAGES_MAX = 20;
const TRIES_MAX = 4;
const RETRY_MS = 1_000;
const CHATS_MAX = 100;
const CALL_MS = 15_000;
/** Longer than the library's pause of half a second before it reconnects. */
const RECONNECT_MS = 2_000;
const IDLE = 0;
/** The interaction type of a pressed button. */
const COMPONENT = 3;
/** Discord's EPHEMERAL: only the person who pressed sees the answer. */
const ONLY_THEM = 64;
const UNAUTHORIZED = 401;

export const discord = defineBuiltInFeature({
  name: 'discord',
  create: ({ config, secrets, logger, clock, fetch, options }: Taken) => {
    const settings = config.channels.discord;
    const serviceOf = (given: DiscordConfig, resolve: ResolveSecret): ChatService =>
      createDiscordService(given, { secrets: { resolve }, logger, clock, fetch, wait: options.wait ?? sleep });
    return {
      services: settings === undefined ? [] : [serviceOf(settings, (reference) => secrets.resolve(reference))],
      trials: [trialOf('discord', discordSchema, serviceOf)],
    };
  },
});

function createDiscordService(settings: DiscordConfig, spine: Connecting): ChatService {
  const { token: _token, apiRoot: _apiRoot, ...rules } = settings;
  return {
    name: 'discord',
    title: 'Discord',
    rules: channelRulesSchema.parse(rules),
    answers: 'buttons',
    answersStrangers: true,
    secret: () => spine.secrets.resolve(settings.token),
    run: (desk, signal) => new DiscordRun({ settings, desk, ...spine }).serve(signal),
  };
}

interface Connecting {
  readonly secrets: { readonly resolve: ResolveSecret };
  readonly logger: Logger;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly fetch: typeof globalThis.fetch;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<boolean>;
}

interface RunDeps extends Connecting {
  readonly settings: DiscordConfig;
  readonly desk: ChatDesk;
}

/** One connection, from the login to its end. */
class DiscordRun {
  readonly #deps: RunDeps;
  /** Handles messages one after the other, because the position in a chat only moves forward. */
  #taking: Promise<void> = Promise.resolve();
  #me: { readonly id: string; readonly username: string } = { id: '', username: 'discord' };
  /** Kept when the gateway resumes, so that the answers being shown continue. */
  #line: ChatLine | null = null;
  /** Chats that could not be read. Their position does not move, and messages that are fetched twice are recognized. */
  readonly #behind = new Set<string>();

  constructor(deps: RunDeps) {
    this.#deps = deps;
  }

  async serve(signal: AbortSignal): Promise<void> {
    const { settings, secrets } = this.#deps;
    const { rest, gateway, keepErrors } = await connect(settings, await secrets.resolve(settings.token), this.#deps.fetch);
    let fail = (_cause: unknown): void => undefined;
    const lost = new Promise<never>((_resolve, reject) => {
      fail = reject;
    });
    // The promise is awaited below, unless the connection fails first.
    lost.catch(() => undefined);
    const over = untilAborted(signal);
    // After a refusal the library forgets the token and sends nothing more.
    rest.on('response', ({ path }, { status }) => {
      if (status === UNAUTHORIZED && !path.startsWith('/interactions/')) fail(tokenRefused());
    });
    gateway.on('error', () => undefined);
    gateway.on('closed', ({ code }) => {
      const end = closedBy(code);
      if (end === null) this.#deps.desk.offline('The connection to Discord was cut. TrayClaw reconnects automatically.');
      else fail(end);
    });
    gateway.on('ready', ({ data: { user } }) => {
      this.#me = user;
      this.#goOnline(rest, signal);
    });
    gateway.on('resumed', () => this.#goOnline(rest, signal));
    gateway.on('dispatch', ({ data: { t: type, d: data } }) => {
      if (type === 'MESSAGE_CREATE') this.#queue(data, { signal, fail });
      if (type === 'INTERACTION_CREATE') void this.#press(rest, data, signal);
    });
    try {
      await Promise.race([gateway.connect(), lost, over]);
      await Promise.race([lost, over]);
    } catch (cause) {
      throw loginFailure(cause);
    } finally {
      if (signal.aborted) await whileReconnecting(gateway);
      keepErrors();
      await gateway.destroy({ reason: 'closing' });
      rest.clearHashSweeper();
      rest.clearHandlerSweeper();
      await this.#taking;
    }
  }

  #goOnline(rest: REST, signal: AbortSignal): void {
    const { desk, wait } = this.#deps;
    this.#line ??= {
      port: createDiscordPort({ rest, desk, wait }),
      live: createLiveScreen(rest),
      me: this.#me.username,
      closeQuestion: (question) => closeQuestion(rest, question),
      fetchFile: ({ ref, name }, limits) => download(ref, { name, fetch: this.#deps.fetch, ...limits }),
    };
    desk.online(this.#line);
    this.#taking = this.#taking.then(() => this.#catchUp(rest, signal)).catch((cause: unknown) => this.#note(cause));
  }

  #queue(message: DiscordMessage, { signal, fail }: { signal: AbortSignal; fail: (cause: unknown) => void }): void {
    // A message that could not be stored is fetched again with the next connection, because the position in the chat has not moved.
    this.#taking = this.#taking.then(() => this.#take(message, signal)).catch(fail);
  }

  async #take(message: DiscordMessage, signal: AbortSignal): Promise<void> {
    const { desk } = this.#deps;
    const read = readMessage(message, this.#me.id);
    if (read === null || signal.aborted) return;
    const isGroup = read.kind === 'group';
    if (isGroup && !(read.mentioned && desk.knows(read.senderId))) return;
    await desk.take(read);
    if (desk.knows(read.senderId)) this.#remember(read.chatId, message.id);
  }

  /** Chats of people who may write, each with the id of the last message that was handled. */
  #places(): Map<string, string> {
    const kept = this.#deps.desk.note('chats');
    return new Map(kept === null ? [] : (JSON.parse(kept) as [string, string][]));
  }

  #remember(chatId: string, messageId: string): void {
    const places = this.#places();
    if (this.#behind.has(chatId) || isAfter(places.get(chatId) ?? '0', messageId)) return;
    places.delete(chatId);
    places.set(chatId, messageId);
    this.#deps.desk.setNote('chats', JSON.stringify([...places].slice(-CHATS_MAX)));
  }

  /** Fetches the messages that were written without a connection. A chat that cannot be read now is read with the next connection. */
  async #catchUp(rest: REST, signal: AbortSignal): Promise<void> {
    for (const [chatId, after] of this.#places()) {
      if (signal.aborted) return;
      this.#behind.delete(chatId);
      try {
        await this.#catchUpIn(chatId, after, { rest, wait: this.#deps.wait, signal });
      } catch (cause) {
        this.#behind.add(chatId);
        this.#note(cause);
      }
    }
  }

  /**
   * Fetches pages from the oldest on; each page lists its newest message first. A message fetched this way does not name its guild, so the
   * chat is asked for it.
   */
  async #catchUpIn(chatId: string, from: string, asking: Asking): Promise<void> {
    let [after, guild]: [string, { guild_id?: string } | null] = [from, null];
    for (let page = 0; page < PAGES_MAX; page++) {
      const query = new URLSearchParams({ after, limit: String(PAGE) });
      const found = (await ask(`/channels/${chatId}/messages`, asking, query)) as DiscordMessage[] | null;
      const last = found?.[0];
      if (found === null || last === undefined) return;
      guild ??= guildOf(await ask(`/channels/${chatId}`, asking));
      const inOrder = found.toReversed().map((message): DiscordMessage => ({ ...message, ...guild }));
      this.#deps.desk.stopFirst(inOrder.slice(1).flatMap((message) => readMessage(message, this.#me.id) ?? []));
      for (const message of inOrder) await this.#take(message, asking.signal);
      if (asking.signal.aborted) return;
      this.#remember(chatId, last.id);
      if (found.length < PAGE) return;
      after = last.id;
    }
  }

  /** Decides the approval first, then replies. Discord requires a reply within three seconds. */
  async #press(rest: REST, interaction: APIInteraction, signal: AbortSignal): Promise<void> {
    if (!isPress(interaction)) return;
    const userId = interaction.user?.id ?? interaction.member?.user.id ?? '';
    const chatId = interaction.channel?.id ?? '';
    try {
      const words = await this.#deps.desk.press({
        userId,
        chatId,
        data: interaction.data.custom_id,
        waitedMs: ageOf(interaction.id, this.#deps.clock.nowMs()),
      });
      const body = { type: 4, data: { content: words.slice(0, 2_000), flags: ONLY_THEM | NO_PREVIEWS, allowed_mentions: { parse: [] } } };
      await rest.post(`/interactions/${interaction.id}/${interaction.token}/callback`, { body, auth: false, signal });
    } catch (cause) {
      this.#note(cause);
    }
  }

  #note(cause: unknown): void {
    this.#deps.logger.log('warn', 'Discord could not be answered', {
      cause: String(cause).replaceAll(/\/interactions\/\S+/g, '/interactions/…'),
    });
  }
}

interface Asking {
  readonly rest: REST;
  readonly wait: Connecting['wait'];
  readonly signal: AbortSignal;
}

/** Returns null if Discord refuses, so that a chat that no longer exists does not block the others. */
async function ask(path: `/${string}`, { rest, wait, signal }: Asking, query?: URLSearchParams): Promise<unknown> {
  for (let tried = 1; ;) {
    try {
      return await rest.get(path, { signal, ...(query === undefined ? {} : { query }) });
    } catch (cause) {
      const failure = readFailure(cause, signal);
      if (failure.kind === 'refused') return null;
      if (failure.kind === 'aborted' || tried >= TRIES_MAX) throw cause;
      await wait(failure.kind === 'flood' ? failure.retryAfterMs : RETRY_MS * tried++, signal);
    }
  }
}

function guildOf(channel: unknown): { guild_id?: string } {
  const { guild_id: guild } = (channel ?? {}) as { guild_id?: string };
  return guild === undefined ? {} : { guild_id: guild };
}

function isPress(interaction: APIInteraction): interaction is APIMessageComponentInteraction {
  const type: number = interaction.type;
  return type === COMPONENT;
}

/** Loads the library on first use. The gateway resumes a lost connection without a gap. */
async function connect({ apiRoot, groups }: DiscordConfig, token: string, fetch: typeof globalThis.fetch): Promise<Connected> {
  const [{ REST: Rest }, { WebSocketManager: Manager, SimpleShardingStrategy: Strategy }] = await Promise.all([
    import('@discordjs/rest'),
    import('@discordjs/ws'),
  ]);
  const rest = new Rest({
    version: '10',
    ...(apiRoot === undefined ? {} : { api: apiRoot.replace(/\/+$/, '') }),
    // The port itself decides about retries.
    retries: 0,
    timeout: CALL_MS,
    rejectOnRateLimit: () => true,
    makeRequest: (url, { method, headers, body, signal }) =>
      fetch(url, { method, headers, body, signal, redirect: 'error' } as RequestInit),
  }).setToken(token);
  const intents =
    GatewayIntentBits.DirectMessages |
    GatewayIntentBits.MessageContent |
    (groups === 'off' ? 0 : GatewayIntentBits.Guilds | GatewayIntentBits.GuildMessages);
  // By default the library keeps sessions for the whole process, and an earlier connection would take over this session.
  let session: SessionInfo | null = null;
  let strategy: SimpleShardingStrategy | null = null;
  const gateway = new Manager({
    token,
    // The library's list is a value, and the library is loaded late.
    // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
    intents,
    rest,
    shardCount: 1,
    buildStrategy: (manager) => (strategy = new Strategy(manager)),
    retrieveSessionInfo: () => session,
    updateSessionInfo: (_shard, info) => {
      session = info;
    },
  });
  return { rest, gateway, keepErrors: () => hearErrors(strategy) };
}

interface Connected {
  readonly rest: REST;
  readonly gateway: WebSocketManager;
  readonly keepErrors: () => void;
}

/**
 * The library removes its error listener when it is stopped, even while it is connecting. The error that follows would end the whole
 * program. The connections are reachable only through this private field.
 */
function hearErrors(strategy: SimpleShardingStrategy | null): void {
  const { shards } = (strategy ?? { shards: new Map() }) as unknown as { readonly shards: ReadonlyMap<number, ShardInside> };
  for (const { connection } of shards.values()) connection?.on('error', () => undefined);
}

interface ShardInside {
  readonly connection: { on(event: 'error', listener: () => void): unknown } | null;
}

/** The library does not close a connection that it is about to reopen, so wait until it is open. */
async function whileReconnecting(gateway: WebSocketManager): Promise<void> {
  const statuses = await gateway.fetchStatus();
  if (![...statuses.values()].some((status: number) => status === IDLE)) return;
  const opened = new AbortController();
  gateway.once('hello', () => opened.abort());
  await sleep(RECONNECT_MS, opened.signal);
}

/** From Discord's list of intents. */
const GatewayIntentBits = { Guilds: 1, GuildMessages: 1 << 9, DirectMessages: 1 << 12, MessageContent: 1 << 15 } as const;

const tokenWords = 'Discord does not take the token of the bot: it was reset, or never was one.';
const tokenHint = 'Make a new token under Bot at discord.com/developers, and enter it in the settings of Discord.';

function tokenRefused(cause?: unknown): AppError {
  return new AppError('unauthorized', tokenWords, { data: { field: 'token' }, hint: tokenHint, cause });
}

/** Null if the library resumes the connection. */
function closedBy(code: number): AppError | null {
  if (code === 4004) return tokenRefused();
  if (code === 4013 || code === 4014) return intentsMissing();
  const isFinal = code === 4010 || code === 4011 || code === 4012;
  return isFinal ? new AppError('fetch_failed', `Discord closed the connection with the code ${code}.`, { hint: '' }) : null;
}

function intentsMissing(): AppError {
  return new AppError('unauthorized', 'The bot may not read the content of messages.', {
    hint: 'Turn on "Message Content Intent" under Bot at discord.com/developers.',
  });
}

function loginFailure(cause: unknown): unknown {
  if (isAppError(cause)) return cause;
  const failure = readFailure(cause);
  if (failure.kind === 'refused' && failure.isUnauthorized) return tokenRefused(cause);
  return new AppError('fetch_failed', 'Discord cannot be reached.', { hint: 'TrayClaw keeps trying; messages wait there.', cause });
}

const EPOCH_MS = 1_420_070_400_000;

/** The id contains the time of creation. */
function ageOf(id: string, nowMs: number): number {
  return Math.max(0, nowMs - (Number(BigInt(id) >> 22n) + EPOCH_MS));
}

function isAfter(one: string, other: string): boolean {
  return BigInt(one) > BigInt(other);
}
