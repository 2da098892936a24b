// A message from a chat: whether it is accepted, its untrusted sources, and its session. The rules are the same for every channel; a
// channel is responsible only for the ids it reports.

import type { Redacted } from '../../base/redacted.ts';
import { AppError } from '../../contracts/errors.ts';
import { systemSessionId, type AnyDraft } from '../../contracts/events.ts';
import type { Attachment } from '../../contracts/attachments.ts';
import type { Channel, ChannelInbound, ChannelLink, ChannelReceipt, ChatAddress } from '../../contracts/channels.ts';
import { messageTextMax } from '../../contracts/define-ops.ts';
import type { TaintSource } from '../../contracts/tools.ts';
import { wholeBounds } from '../../contracts/turn-bounds.ts';
import type { IdSource } from '../../base/ids.ts';
import type { SessionLog } from '../../store/session/session.ts';
import type { InboundMessage, TurnRuntime } from '../../runtime/turns/turns.ts';
import type { ChatRows, OutboundRows } from '../../runtime/outbox/outbox.ts';
import { keepAttachments, type AttachmentDeps } from './attachments.ts';
import { titleOf } from '../../base/session-title.ts';

export interface InboundDeps extends AttachmentDeps {
  readonly turns: Pick<TurnRuntime, 'submit' | 'assertOpen'>;
  readonly log: SessionLog;
  readonly chats: Pick<ChatRows, 'chat'>;
  readonly outbound: Pick<OutboundRows, 'sessionOfMessage'>;
  readonly ids: IdSource;
  /** Returns the agent for messages from a channel or chat. */
  readonly agents: { route(from: { readonly channel: string; readonly chatId: string | null }): string };
}

type Rules = Pick<Channel, 'name' | 'identities' | 'rules'>;

/** Returns once the message is committed. The key ensures that repeated deliveries are accepted only once. */
export function receiveFrom(deps: InboundDeps, channel: Rules, inbound: ChannelInbound): ChannelReceipt {
  const reason = whyIgnored(channel, inbound);
  if (reason !== null) return { kind: 'ignored', reason };
  const { log, turns } = deps;
  const known = log.index.findInbound(channel.name, inbound.dedupeKey);
  if (known !== null) return { kind: 'accepted', ...known };
  if (inbound.text.length > messageTextMax) {
    throw new AppError('payload_too_large', `A message holds at most ${messageTextMax} characters.`, { hint: 'Send it as a file.' });
  }
  const chat = addressOf(channel, inbound);
  const place = placeOf(deps, channel, inbound, chat);
  turns.assertOpen(place.sessionId);
  const message: InboundMessage = {
    ...place,
    alongside: (turnId) => {
      place.alongside?.(turnId);
      inbound.alongside?.();
    },
    text: inbound.text,
    channel: channel.name,
    sender: senderOf(channel, inbound),
    dedupeKey: inbound.dedupeKey,
    chat: { ...chat, ...(inbound.messageId === undefined ? {} : { messageId: inbound.messageId }) },
    attached: keepFiles(deps, inbound, chat, place.sessionId),
    untrusted: foreignSources(channel, inbound),
    ...outsiderBounds(channel, inbound),
  };
  return { kind: 'accepted', ...turns.submit(message) };
}

/** Registers a chat before its first message, so that it can receive messages. Does not change a known chat. */
export function introduceChat(
  { log, chats }: Pick<InboundDeps, 'log' | 'chats'>,
  { name, identities }: Rules,
  place: Parameters<ChannelLink['introduce']>[0],
  { kind, title, senderId }: Parameters<ChannelLink['introduce']>[1],
): void {
  if (!identities.isOwner(senderId)) throw new AppError('forbidden', 'Only the chat of a paired person can be registered.');
  const chat: ChatAddress = { channel: name, ...place };
  log.transact(() => {
    if (chats.chat(chat) !== null) return;
    log.append(systemSessionId, [{ type: 'chat.bound', body: { chat, kind, title, sessionId: null, by: `${name}:${senderId}` } }]);
  }, true);
}

/** The reason to ignore the message; null to accept it. A stranger gets no answer, so that the bot does not reveal itself. */
function whyIgnored({ identities, rules }: Rules, inbound: ChannelInbound): Extract<ChannelReceipt, { kind: 'ignored' }>['reason'] | null {
  if (inbound.edited === true) return 'edited';
  // The author decides, never the chat: sharing a group with the owner makes no one the owner.
  if (!identities.isOwner(inbound.senderId) && !rules.allowFrom.includes(inbound.senderId)) return 'stranger';
  if (inbound.kind === 'group' && rules.groups === 'off') return 'groups-off';
  if (inbound.kind === 'group' && !inbound.mentioned) return 'not-mentioned';
  return inbound.text.trim() === '' && inbound.attachments.length === 0 ? 'empty' : null;
}

/** The turn of a person who is not paired shows them nothing private without an approval. */
function outsiderBounds({ name, identities }: Rules, inbound: ChannelInbound): Pick<InboundMessage, 'bounds'> {
  const { senderId } = inbound;
  if (identities.isOwner(senderId)) return {};
  return { bounds: { ...wholeBounds, outsider: { id: `${name}:${senderId}`, name: writerOf(name, inbound), sees: [] } } };
}

function writerOf(channel: string, { senderId, senderName }: Pick<ChannelInbound, 'senderId' | 'senderName'>): string {
  return `${channel}:${senderName} (${senderId})`;
}

/** Messages of other people, and messages forwarded by the owner, are untrusted. */
function foreignSources({ name, identities }: Rules, { senderId, senderName, forwardedFrom }: ChannelInbound): TaintSource[] {
  const writers = [
    ...(identities.isOwner(senderId) ? [] : [writerOf(name, { senderId, senderName })]),
    ...(forwardedFrom === undefined ? [] : [`${name}:${forwardedFrom}`]),
  ];
  return writers.map((where) => ({ kind: 'message', where }));
}

function senderOf({ name }: Rules, { senderId }: ChannelInbound): string {
  return `${name}:${senderId}`;
}

/** Always uses the channel's own name, so that no channel can speak for another one. */
function addressOf({ name }: Rules, { chatId, threadId }: ChannelInbound): ChatAddress {
  return { channel: name, chatId, ...(threadId === undefined ? {} : { threadId }) };
}

/** The session bound to the chat, or a new one that is bound to it in the same transaction. */
function placeOf(deps: InboundDeps, channel: Rules, inbound: ChannelInbound, chat: ChatAddress): Place {
  const { log, chats, ids, agents } = deps;
  const bound = chats.chat(chat)?.sessionId ?? null;
  const session = bound === null ? null : log.index.session(bound);
  if (session !== null && !session.archived) {
    const before = (text: Redacted): AnyDraft[] => {
      const title = session.title === '' ? titleOf(text) : '';
      return title === '' ? [] : [{ type: 'session.renamed', body: { title } }];
    };
    return { sessionId: session.sessionId, agentId: session.agentId, before };
  }
  const sessionId = ids.next('ses');
  const agentId = channel.rules.agent ?? agents.route({ channel: chat.channel, chatId: chat.chatId });
  const created = { agentId, channel: channel.name, forkedFrom: null };
  const title = inbound.chatTitle ?? inbound.senderName;
  const binding: AnyDraft = {
    type: 'chat.bound',
    body: { chat, kind: inbound.kind, title, sessionId, by: senderOf(channel, inbound) },
  };
  return {
    sessionId,
    agentId,
    before: (text) => [{ type: 'session.created', body: { title: titleOf(text), ...created } }],
    alongside: () => {
      log.append(systemSessionId, [binding]);
    },
  };
}

type Place = Pick<InboundMessage, 'sessionId' | 'agentId' | 'before' | 'alongside'>;

/** Stores the files of a message, and text that it quotes as a separate file, so that quoted text never counts as the sender's. */
function keepFiles(
  deps: InboundDeps,
  inbound: ChannelInbound,
  chat: ChatAddress,
  sessionId: string,
): NonNullable<InboundMessage['attached']> {
  const place = { sessionId, mayNamePaths: false, workspace: null };
  const sent = keepAttachments(deps, inbound.attachments, place);
  const { replyTo } = inbound;
  if (replyTo === undefined || replyTo.text.trim() === '') return sent;
  const quote: Attachment = {
    name: 'answered-message.txt',
    mediaType: 'text/plain',
    base64: Buffer.from(replyTo.text.slice(0, QUOTE_MAX)).toString('base64'),
  };
  const quoted = keepAttachments(deps, [quote], place);
  // Text from this same session adds no new taint.
  const isOwn =
    replyTo.fromAgent && replyTo.messageId !== undefined && deps.outbound.sessionOfMessage(chat, replyTo.messageId) === sessionId;
  const sources: TaintSource[] = isOwn ? [] : [{ kind: 'message', where: `${chat.channel}:a message that was answered` }];
  return { files: [...sent.files, ...quoted.files], sources: [...sent.sources, ...sources] };
}

const QUOTE_MAX = 20_000;
