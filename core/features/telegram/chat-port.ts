// The outbox's port to Telegram: splits an item into parts that fit, sends each part in one call, and reports the outcome truthfully.
// Repeats only parts that certainly did not arrive or that may be sent twice.

import type { ChannelPort, OutboundItem, OutboundPart, PartContent, SendOutcome } from '../../contracts/channels.ts';
import { readFailure, type ApiFailure } from './api-failure.ts';
import type { BotApi, Button } from './bot-api.ts';
import { escapeHtml, toTelegramPieces } from './markdown-html.ts';

const TEXT_MAX = 4096;
const ANSWER_MAX = 300;
const UPLOAD_MAX = 50 * 1024 * 1024;
const PHOTO_MAX = 10 * 1024 * 1024;
const photoTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp']);

export interface ChatPortDeps {
  readonly api: Pick<BotApi, 'sendText' | 'sendFile' | 'editText'>;
  /** Null if the content is no longer kept. */
  readonly readFile: (sha256: string) => Uint8Array | null;
}

export function createChatPort(deps: ChatPortDeps): ChannelPort {
  return {
    name: 'telegram',
    maxFileBytes: UPLOAD_MAX,
    split: splitItem,
    escape: (text) => escapeHtml(text.slice(0, ANSWER_MAX - 2)),
    send: (part, signal) => sendPart(deps, part, signal),
  };
}

/** The text first, then each file separately. */
function splitItem({ kind, text, files }: OutboundItem): PartContent[] {
  // Leaves room for the answer, which is added to the same message later.
  const pieces = splitMarkdown(text, kind === 'question' ? TEXT_MAX - ANSWER_MAX : TEXT_MAX).map((piece): PartContent => ({
    text: piece,
    files: [],
  }));
  return [...pieces, ...files.map((file): PartContent => ({ text: '', files: [file] }))];
}

/** Parts contain the final text, so that a later version of this program sends the rest of a half-sent item unchanged. */
function splitMarkdown(markdown: string, lengthMax: number): string[] {
  const pieces = toTelegramPieces(markdown, lengthMax).map(({ html }) => html);
  return pieces.length === 0 && markdown !== '' ? ['…'] : pieces;
}

async function sendPart(deps: ChatPortDeps, outbound: OutboundPart, signal: AbortSignal): Promise<SendOutcome> {
  if (outbound.files[0] !== undefined) return sendFile(deps, outbound, signal);
  if (outbound.shownIn !== undefined) {
    const outcome = await becomeAnswer(deps, outbound, { messageId: outbound.shownIn, signal });
    if (outcome !== null) return outcome;
  }
  return sendWords(deps, outbound, signal);
}

interface Words {
  readonly chatId: string;
  readonly threadId: string | undefined;
  readonly html: string;
  readonly buttons: readonly (readonly Button[])[] | undefined;
}

/** The buttons are under the last text. */
function wordsOf({ item, text, part, parts }: OutboundPart): Words {
  const isLast = part === parts - item.files.length - 1;
  const { chatId, threadId } = item.to;
  return { chatId, threadId, html: text, buttons: isLast ? item.buttons : undefined };
}

async function sendWords(deps: ChatPortDeps, outbound: OutboundPart, signal: AbortSignal): Promise<SendOutcome> {
  const { html, ...words } = wordsOf(outbound);
  const replyTo = outbound.part === 0 ? outbound.item.replyToMessageId : undefined;
  const send = (text: string, isHtml: boolean): Promise<string> => deps.api.sendText({ ...words, text, isHtml, replyTo }, signal);
  return asOutcome(signal, () => withoutFormat(html, send));
}

/** Formatted text that the server cannot parse was certainly not sent, so it is resent without formatting. */
async function withoutFormat<T>(html: string, send: (text: string, isHtml: boolean) => Promise<T>): Promise<T> {
  try {
    return await send(html, true);
  } catch (cause) {
    const failure = readFailure(cause);
    if (failure.kind !== 'refused' || failure.why !== 'parse') throw cause;
    return send(plainOf(html), false);
  }
}

function plainOf(html: string): string {
  const named: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&amp;': '&' };
  return html.replaceAll(/<[^>]*>/g, '').replaceAll(/&(?:lt|gt|quot|amp);/g, (entity) => named[entity] ?? entity);
}

const EDIT_TRIES = 3;

/**
 * Turns the message that showed the preview into the answer. An edit may be repeated, so it is retried if its outcome is unknown. Null if
 * there is no message to edit.
 */
async function becomeAnswer(
  deps: ChatPortDeps,
  outbound: OutboundPart,
  { messageId, signal }: { messageId: string; signal: AbortSignal },
): Promise<SendOutcome | null> {
  const { chatId, html, buttons } = wordsOf(outbound);
  const edit = async (text: string, isHtml: boolean): Promise<string> => {
    await deps.api.editText({ chatId, messageId, text, isHtml, buttons }, signal);
    return messageId;
  };
  let failure: ApiFailure | null = null;
  for (let tried = 0; tried < EDIT_TRIES; tried++) {
    try {
      return { kind: 'sent', messageId: await withoutFormat(html, edit) };
    } catch (cause) {
      failure = readFailure(cause, signal);
      if (failure.kind !== 'unknown') break;
    }
  }
  if (failure?.kind === 'refused' && failure.why === 'not_modified') return { kind: 'sent', messageId };
  if (failure?.kind === 'refused' && failure.why === 'no_message') return null;
  return failure === null ? null : outcomeOf(failure);
}

async function sendFile({ api, readFile }: ChatPortDeps, { item, files, part }: OutboundPart, signal: AbortSignal): Promise<SendOutcome> {
  const [file] = files;
  if (file === undefined) return refused('there is no file in this part');
  const bytes = readFile(file.sha256);
  if (bytes === null) return refused(`The file ${file.name} is no longer kept.`);
  if (bytes.length > UPLOAD_MAX) return refused(`The file ${file.name} is larger than the 50 MB Telegram takes.`);
  const { chatId, threadId } = item.to;
  const replyTo = part === 0 ? item.replyToMessageId : undefined;
  const message = { chatId, threadId, name: file.name, bytes, caption: '', replyTo };
  const isPhoto = photoTypes.has(file.mediaType) && bytes.length <= PHOTO_MAX;
  const outcome = await asOutcome(signal, () => api.sendFile({ ...message, isPhoto }, signal));
  // An image that Telegram refuses as a photo, for example because it is too wide or damaged, is sent as a file.
  return isPhoto && outcome.kind === 'refused' && outcome.retryAfterMs === null && !outcome.isRetryable
    ? asOutcome(signal, () => api.sendFile({ ...message, isPhoto: false }, signal))
    : outcome;
}

async function asOutcome(signal: AbortSignal, send: () => Promise<string>): Promise<SendOutcome> {
  try {
    return { kind: 'sent', messageId: await send() };
  } catch (cause) {
    return outcomeOf(readFailure(cause, signal));
  }
}

function outcomeOf(failure: ApiFailure): SendOutcome {
  switch (failure.kind) {
    case 'flood':
      return { kind: 'refused', error: 'Telegram asked to wait.', retryAfterMs: failure.retryAfterMs, isRetryable: true };
    case 'unreachable':
      return { kind: 'refused', error: failure.words, retryAfterMs: null, isRetryable: true };
    case 'refused':
      return failure.why === 'unauthorized'
        ? { kind: 'refused', error: 'The token of the bot is not valid.', retryAfterMs: null, isRetryable: true }
        : refused(failure.words);
    case 'unknown':
      return { kind: 'unknown', reason: failure.words };
    case 'aborted':
      return { kind: 'unknown', reason: 'it was given up while it was sent' };
  }
}

function refused(error: string): SendOutcome {
  return { kind: 'refused', error, retryAfterMs: null, isRetryable: false };
}
