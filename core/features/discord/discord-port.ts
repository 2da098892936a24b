// The outbox's port to Discord. Splits an item into messages that fit, and sends each with a nonce that Discord enforces, so that a retry
// creates no second message.

import { createHash } from 'node:crypto';
import type { REST } from '@discordjs/rest';
import type { APIMessage } from 'discord-api-types/v10';
import type { ChannelPort, ChatDesk, LiveScreen, OutboundItem, OutboundPart, PartContent, SendOutcome } from '../../contracts/channels.ts';
import { liveFailureOf, outcomeOf, readFailure } from './failure.ts';

export const TEXT_MAX = 2_000;
const ANSWER_MAX = 200;
const FILE_BYTES_MAX = 10 * 1024 * 1024;
/** Discord remembers a nonce for "a few minutes". */
const NONCE_MS = 120_000;
const TRIES_MAX = 3;
const BUTTON = 2;
const ROW = 1;
const PRIMARY = 1;
const SECONDARY = 2;

export interface DiscordPortDeps {
  readonly rest: Pick<REST, 'post' | 'patch'>;
  readonly desk: Pick<ChatDesk, 'readFile'>;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<boolean>;
}

/** Discord's SUPPRESS_EMBEDS. */
export const NO_PREVIEWS = 4;
/** Mentions in the model's text notify no one, and Discord does not fetch the addresses in it. */
const quiet = { allowed_mentions: { parse: [] }, flags: NO_PREVIEWS } as const;

export function createDiscordPort(deps: DiscordPortDeps): ChannelPort {
  return {
    name: 'discord',
    maxFileBytes: FILE_BYTES_MAX,
    deduplicates: true,
    deduplicatesMs: NONCE_MS,
    split: splitItem,
    send: (part, signal) => send(deps, part, signal),
  };
}

/** Splits an item into its text and one part per file. */
export function splitItem({ kind, text, files }: OutboundItem): PartContent[] {
  // Leaves room for the answer, which is added to the same message later.
  const pieces = splitText(text, kind === 'question' ? TEXT_MAX - ANSWER_MAX : TEXT_MAX);
  return [...pieces.map((piece) => ({ text: piece, files: [] })), ...files.map((file) => ({ text: '', files: [file] }))];
}

const FENCE = /^\s*(`{3,}|~{3,})(.*)$/;

/** Splits at line ends if possible. Closes a code block at the cut and reopens it in the next piece. */
export function splitText(text: string, lengthMax: number): string[] {
  const pieces: string[] = [];
  let piece = '';
  let fence: { readonly mark: string; readonly info: string } | null = null;
  const room = (): number => lengthMax - (fence === null ? 0 : fence.mark.length + 1);
  const close = (): void => {
    if (piece.trim() !== '') pieces.push(fence === null ? piece : `${piece}\n${fence.mark}`);
    piece = fence === null ? '' : `${fence.mark}${fence.info}`;
  };
  const add = (line: string): void => {
    const next = piece === '' ? line : `${piece}\n${line}`;
    if (next.length <= room()) {
      piece = next;
      return;
    }
    close();
    const begun = piece === '' ? '' : `${piece}\n`;
    let rest = line;
    while (begun.length + rest.length > room()) {
      const cut = cutOf(rest, room() - begun.length);
      piece = begun + rest.slice(0, cut);
      rest = rest.slice(cut);
      close();
    }
    piece = begun + rest;
  };
  for (const line of text.split('\n')) {
    const mark = FENCE.exec(line)?.[1];
    add(line);
    if (mark === undefined) continue;
    if (fence === null) fence = { mark, info: (FENCE.exec(line)?.[2] ?? '').slice(0, 30) };
    else if (mark.startsWith(fence.mark)) fence = null;
  }
  if (piece.trim() !== '') pieces.push(piece);
  return pieces.length === 0 && text !== '' ? ['…'] : pieces;
}

/** The index to cut at: the last space if it is in the second half, and never within a surrogate pair. */
function cutOf(text: string, lengthMax: number): number {
  const space = text.lastIndexOf(' ', lengthMax);
  if (space > lengthMax / 2) return space;
  return /[\uD800-\uDBFF]/.test(text[lengthMax - 1] ?? '') ? lengthMax - 1 : lengthMax;
}

/** Discord allows at most 25 characters. */
const nonceOf = (key: string): string => createHash('sha256').update(key).digest('base64url').slice(0, 25);

async function send(deps: DiscordPortDeps, part: OutboundPart, signal: AbortSignal): Promise<SendOutcome> {
  const [file] = part.files;
  const bytes = file === undefined ? null : deps.desk.readFile(file.sha256);
  if (file !== undefined && bytes === null) return refused(`The file ${file.name} is no longer kept.`);
  if (part.shownIn !== undefined) {
    const outcome = await becomeAnswer(deps, part, { messageId: part.shownIn, signal });
    if (outcome !== null) return outcome;
  }
  const message = {
    body: { ...bodyOf(part), nonce: nonceOf(part.idempotencyKey), enforce_nonce: true },
    ...(file === undefined || bytes === null
      ? {}
      : { files: [{ name: file.name, data: Buffer.from(bytes), contentType: file.mediaType }] }),
    signal,
  };
  // A retry while Discord knows the nonce returns the first message.
  for (let tried = 1; ; tried++) {
    try {
      const sent = (await deps.rest.post(`/channels/${part.item.to.chatId}/messages`, message)) as APIMessage;
      return { kind: 'sent', messageId: sent.id };
    } catch (cause) {
      const failure = readFailure(cause, signal);
      if (failure.kind !== 'unknown' || tried >= TRIES_MAX) return outcomeOf(failure);
      await deps.wait(1_000 * tried, signal);
    }
  }
}

function bodyOf({ item, text, part, parts }: OutboundPart): Record<string, unknown> {
  // The buttons go under the last piece of text.
  const isLast = part === parts - item.files.length - 1;
  const replyTo = part === 0 ? item.replyToMessageId : undefined;
  return {
    ...quiet,
    ...(text === '' ? {} : { content: text }),
    ...(isLast && item.buttons !== undefined ? { components: componentsOf(item.buttons) } : {}),
    ...(replyTo === undefined ? {} : { message_reference: { message_id: replyTo, fail_if_not_exists: false } }),
  };
}

function componentsOf(buttons: NonNullable<OutboundItem['buttons']>): unknown[] {
  return buttons.map((row) => ({
    type: ROW,
    components: row.map(({ label, data }, at) => ({ type: BUTTON, style: at === 0 ? PRIMARY : SECONDARY, label, custom_id: data })),
  }));
}

/** Edits the shown message into the answer; an edit may be repeated. Null if the message is gone. */
async function becomeAnswer(
  { rest, wait }: DiscordPortDeps,
  { item, text }: OutboundPart,
  { messageId, signal }: { readonly messageId: string; readonly signal: AbortSignal },
): Promise<SendOutcome | null> {
  for (let tried = 1; ; tried++) {
    try {
      await rest.patch(`/channels/${item.to.chatId}/messages/${messageId}`, { body: { ...quiet, content: text }, signal });
      return { kind: 'sent', messageId };
    } catch (cause) {
      const failure = readFailure(cause, signal);
      if (failure.kind === 'refused' && failure.isGone) return null;
      if (failure.kind !== 'unknown' || tried >= TRIES_MAX) return outcomeOf(failure);
      await wait(1_000 * tried, signal);
    }
  }
}

function refused(error: string): SendOutcome {
  return { kind: 'refused', error, retryAfterMs: null, isRetryable: false };
}

/** Shows an answer while it is written, as a message that is edited. */
export function createLiveScreen(rest: DiscordPortDeps['rest']): LiveScreen {
  return {
    shownMax: TEXT_MAX,
    send: async (chatId, text) =>
      ((await rest.post(`/channels/${chatId}/messages`, { body: { ...quiet, content: text } })) as APIMessage).id,
    edit: async ({ chatId, messageId, text }) => {
      await rest.patch(`/channels/${chatId}/messages/${messageId}`, { body: { ...quiet, content: text } });
    },
    typing: async (chatId, signal) => {
      await rest.post(`/channels/${chatId}/typing`, { signal });
    },
    failureOf: liveFailureOf,
  };
}

/** Adds the answer to the message of an answered approval and removes its buttons. */
export async function closeQuestion(
  rest: DiscordPortDeps['rest'] & Pick<REST, 'get'>,
  { chatId, messageId, text }: { readonly chatId: string; readonly messageId: string; readonly text: string },
): Promise<void> {
  const path = `/channels/${chatId}/messages/${messageId}` as const;
  const { content } = (await rest.get(path)) as APIMessage;
  const answered = content.includes(text) ? content : `${content.slice(0, TEXT_MAX - text.length - 2)}\n\n${text}`;
  await rest.patch(path, { body: { ...quiet, content: answered, components: [] } });
}
