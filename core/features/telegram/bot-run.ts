// One connection of the bot, from the token to its end: its identity, the polling loop, outgoing messages, and status.

import { createHash, randomBytes } from 'node:crypto';
import { untilAborted } from '../../base/waits.ts';
import type { ChatDesk, ChatLine, ClosedQuestion, RemoteFile, LiveFailure, LiveScreen } from '../../contracts/channels.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import { botCommands, download, tooBig } from '../../runtime/chats/chats.ts';
import { isTokenRefused, readFailure, tokenRefused } from './api-failure.ts';
import { createBotApi, type BotApi } from './bot-api.ts';
import { createChatPort } from './chat-port.ts';
import { Intake } from './intake.ts';
import { escapeHtml, toTelegramPieces } from './markdown-html.ts';
import { PollPlace } from './poll-place.ts';
import { Poller, type PollerDeps } from './poller.ts';
import type { Bot } from './read-message.ts';

export interface BotRunDeps extends Pick<PollerDeps, 'leases' | 'clock' | 'logger' | 'random' | 'wait'> {
  readonly apiRoot: string;
  readonly resolveToken: () => Promise<string>;
  readonly fetch: typeof fetch;
}

const POLL_SECONDS = 30;
const QUESTION_MAX = 3_700;
/** The server does not offer larger files. */
const DOWNLOAD_MAX = 20 * 1024 * 1024;

/** Rejects with `unauthorized` if the token is invalid, and with `fetch_failed` for any other failure. */
export async function identifyBot(api: Pick<BotApi, 'getMe'>, signal: AbortSignal): Promise<Bot> {
  try {
    const { id, username } = await api.getMe(signal);
    return { botId: String(id), username };
  } catch (cause) {
    if (isTokenRefused(readFailure(cause, signal))) throw tokenRefused(cause);
    throw new AppError('fetch_failed', 'Telegram cannot be reached.', { hint: 'TrayClaw retries automatically.', cause });
  }
}

export async function runBot(deps: BotRunDeps, desk: ChatDesk, signal: AbortSignal): Promise<void> {
  const { clock, logger } = deps;
  const token = await resolveToken(deps);
  const api = await createBotApi(token, deps.apiRoot, deps.fetch);
  const bot = await identifyPatiently(deps, api, { desk, signal });
  const line = lineOf(deps, { api, bot, desk, signal });
  void api.setCommands(botCommands, signal).catch((cause: unknown) => {
    logger.log('debug', 'the commands of the bot could not be shown', { ...readFailure(cause, signal) });
  });
  const place = new PollPlace(desk, bot.botId);
  const answerPress = async (queryId: string, words: string): Promise<void> => {
    await api.answerPress(queryId, words, signal).catch((cause: unknown) => {
      logger.log('debug', 'something could not be said on Telegram', { ...readFailure(cause, signal) });
    });
  };
  const intake = new Intake({ desk, place, clock, logger, bot, answerPress });
  const poller = new Poller({
    ...deps,
    api,
    place,
    pollSeconds: POLL_SECONDS,
    tokenHash: createHash('sha256').update(token).digest('hex'),
    // Distinguishes this run from every other.
    holder: randomBytes(15).toString('base64url'),
    take: (updates, waitedMs) => intake.take(updates, waitedMs),
    tell: (news) => {
      // While another program polls, messages can still be sent. While the server is unreachable, they wait.
      if (news.state === 'offline') desk.offline(news.problem);
      else desk.online(line, news.conflict);
    },
  });
  const end = await poller.run(signal);
  if (end === 'refused') throw tokenRefused();
  // Another run of the program has taken over.
  if (end === 'lease_lost') await untilAborted(signal);
}

/** A missing secret is reported like an invalid token, because a person has to fix it. */
async function resolveToken({ resolveToken: resolve }: BotRunDeps): Promise<string> {
  try {
    return await resolve();
  } catch (cause) {
    const { message, hint = '' } = toAppError(cause);
    throw new AppError('unauthorized', message, { hint, cause });
  }
}

/** Gets the identity of the bot. Waits once if the server sets a flood limit. */
async function identifyPatiently(
  { wait }: BotRunDeps,
  api: BotApi,
  { desk, signal }: { readonly desk: ChatDesk; readonly signal: AbortSignal },
): Promise<Bot> {
  try {
    return await identifyBot(api, signal);
  } catch (cause) {
    const failure = readFailure((cause as Error).cause, signal);
    if (failure.kind !== 'flood') throw cause;
    desk.offline('Telegram asked TrayClaw to wait. TrayClaw retries automatically.');
    await wait(failure.retryAfterMs, signal);
    return identifyBot(api, signal);
  }
}

interface Met {
  readonly api: BotApi;
  readonly bot: Bot;
  readonly desk: ChatDesk;
  readonly signal: AbortSignal;
}

function lineOf(deps: BotRunDeps, { api, bot, desk, signal }: Met): ChatLine {
  return {
    port: createChatPort({ api, readFile: (sha256) => desk.readFile(sha256) }),
    me: `@${bot.username}`,
    meId: bot.botId,
    live: liveScreen(api),
    closeQuestion: (question) => closeQuestion(deps, api, { question, signal }),
    fetchFile: (file, { sizeBytesMax, signal: whole }) => fetchFile(deps, api, { file, sizeBytesMax, signal: whole }),
  };
}

/** Removes the buttons and shows the answer. A message that can no longer be changed is left as it is. */
async function closeQuestion(
  { wait }: BotRunDeps,
  api: BotApi,
  { question: { chatId, messageId, asked, text }, signal }: { readonly question: ClosedQuestion; readonly signal: AbortSignal },
): Promise<void> {
  const [shown] = toTelegramPieces(asked, QUESTION_MAX);
  try {
    await api.editText({ chatId, messageId, text: `${shown?.html ?? ''}\n\n${escapeHtml(text)}`, isHtml: true, buttons: [] }, signal);
  } catch (cause) {
    const failure = readFailure(cause, signal);
    if (failure.kind === 'refused') return;
    if (failure.kind === 'flood') await wait(failure.retryAfterMs, signal);
    throw new Error(`the question was not closed: ${failure.kind}`, { cause });
  }
}

interface Wanted {
  readonly file: RemoteFile;
  readonly sizeBytesMax: number;
  readonly signal: AbortSignal;
}

/** The address of a file contains the token, so it is used only here and never shown. */
async function fetchFile({ fetch, wait }: BotRunDeps, api: BotApi, { file, sizeBytesMax, signal }: Wanted): Promise<Uint8Array> {
  const { ref, name, sizeBytes } = file;
  const most = Math.min(sizeBytesMax, DOWNLOAD_MAX);
  if ((sizeBytes ?? 0) > most) throw tooBig(name, most);
  try {
    const address = await api.fileAddress(ref, signal);
    return await download(address, { name, sizeBytesMax: most, fetch, signal });
  } catch (cause) {
    const failure = readFailure(cause, signal);
    if (failure.kind === 'flood') await wait(failure.retryAfterMs, signal);
    if (failure.kind !== 'refused') throw cause;
    if (failure.why === 'too_big') throw tooBig(name, DOWNLOAD_MAX);
    throw new AppError('fetch_failed', `"${name}" could not be fetched from Telegram.`, { cause });
  }
}

const SHOWN_MAX = 4_000;

/**
 * Shows an answer in Telegram while it is written: as a draft if the server supports drafts, otherwise as a message that is edited.
 */
function liveScreen(api: Pick<BotApi, 'sendDraft' | 'sendText' | 'editText' | 'sendTyping'>): LiveScreen {
  // Never aborted: otherwise a message with an unknown id could remain next to the answer.
  const whole = new AbortController().signal;
  return {
    shownMax: SHOWN_MAX,
    draft: (draft, signal) => api.sendDraft(draft, signal),
    send: (chatId, text, threadId) => api.sendText({ chatId, threadId, text, isHtml: false }, whole),
    edit: (message) => api.editText({ ...message, isHtml: false }, whole),
    typing: (chatId, signal, threadId) => api.sendTyping({ chatId, threadId }, signal),
    failureOf: (cause, signal) => failureOf(cause, signal),
  };
}

function failureOf(cause: unknown, signal: AbortSignal): LiveFailure {
  const failure = readFailure(cause, signal);
  if (failure.kind === 'flood' || failure.kind === 'aborted') return failure;
  return { kind: failure.kind === 'refused' && failure.why !== 'blocked' ? 'unsupported' : 'unavailable' };
}
