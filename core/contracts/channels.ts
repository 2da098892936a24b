// Channels: chats of other programs through which a person talks with the agent. What comes in, what goes out, and what a channel
// has to be able to do. Knows no channel by name.

import * as z from 'zod';
import type { Redacted } from '../base/redacted.ts';
import type { Attachment } from './attachments.ts';
import { artifactRefSchema } from './tools.ts';

const short = z.string().min(1).max(200);

/** A place in a channel that messages can be sent to. */
export const chatAddressSchema = z.object({ channel: short, chatId: short, threadId: short.optional() });
export type ChatAddress = z.infer<typeof chatAddressSchema>;

export const chatKindSchema = z.enum(['private', 'group']);
export type ChatKind = z.infer<typeof chatKindSchema>;

/** Rules of one channel, in config.yaml. */
export const channelRules = {
  /** Whose conversation a new chat begins; the main agent unless told. */
  agent: z.string().min(1).max(100).optional(),
  /** Whether it listens in groups: never, or to messages that mention it. */
  groups: z.enum(['off', 'mention']).default('off'),
  /** Ids of people beside the owners who may write; what they write can ask for things and allows nothing. */
  allowFrom: z.array(short).max(200).default([]),
};
export const channelRulesSchema = z.strictObject(channelRules);
export type ChannelRules = z.infer<typeof channelRulesSchema>;

/** A message of a chat, in the one form all channels bring it into. */
export interface ChannelInbound extends ChatAddress {
  readonly kind: 'private' | 'group';
  /** For people: the name of the group or of the other person. */
  readonly chatTitle?: string;
  /** The id the channel gives a person for good, never a name they chose. */
  readonly senderId: string;
  readonly senderName: string;
  /** The same for the same message however often it comes: `BOT:UPDATE`. */
  readonly dedupeKey: string;
  readonly messageId?: string;
  readonly text: string;
  readonly attachments: readonly Attachment[];
  /** The message it answers or quotes. `messageId` lets it be found among those sent from here. */
  readonly replyTo?: { readonly text: string; readonly fromAgent: boolean; readonly messageId?: string };
  /** Who wrote it, when the sender only passes it on. */
  readonly forwardedFrom?: string;
  /** It names the agent, or answers it. Only asked of groups. */
  readonly mentioned: boolean;
  /** An earlier message was changed: never a reason to do anything. */
  readonly edited?: boolean;
  readonly atMs: number;
  /** What the channel keeps in the transaction of the message. Not called for one that was taken before. */
  readonly alongside?: () => void;
}

export type ChannelReceipt =
  | { readonly kind: 'accepted'; readonly sessionId: string; readonly turnId: string }
  | { readonly kind: 'ignored'; readonly reason: 'stranger' | 'groups-off' | 'not-mentioned' | 'edited' | 'empty' };

/** Who of a channel is the person this program belongs to. A group never is. */
export interface ChannelIdentities {
  isOwner(senderId: string): boolean;
}

export const outboundKindSchema = z.enum(['reply', 'message', 'notice', 'question']);

/** What a person can press under a message; `data` comes back to the channel. */
export const outboundButtonSchema = z.object({ label: z.string().min(1).max(100), data: z.string().min(1).max(200) });

/** Something to be sent, as it is queued. One item goes to one chat. */
export const outboundItemSchema = z.object({
  outboundId: z.string(),
  to: chatAddressSchema,
  kind: outboundKindSchema,
  text: z.string().max(200_000),
  files: z.array(artifactRefSchema).max(50),
  /** The message of the chat that it answers. */
  replyToMessageId: z.string().optional(),
  /** Rows of buttons. */
  buttons: z.array(z.array(outboundButtonSchema).max(8)).max(10).optional(),
  /** Queued once, whoever asks how often. */
  idempotencyKey: z.string().min(1).max(300),
  sessionId: z.string(),
  turnId: z.string().nullable(),
  /** It tells of the panic stop, the one thing that leaves during it. */
  aboutPanic: z.literal(true).optional(),
});
export type OutboundItem = z.infer<typeof outboundItemSchema>;
export type NewOutbound = Omit<OutboundItem, 'outboundId'>;

/** A piece of an item that a channel sends as one message. */
export interface PartContent {
  readonly text: string;
  readonly files: OutboundItem['files'];
}

export interface OutboundPart extends PartContent {
  readonly item: Redacted<OutboundItem>;
  /** From 0. */
  readonly part: number;
  readonly parts: number;
  /** From 1, over all tries of this part. */
  readonly attempt: number;
  /** The same for every try of this part. */
  readonly idempotencyKey: string;
}

export type SendOutcome =
  | { readonly kind: 'sent'; readonly messageId: string }
  /** It was certainly not delivered. With `retryAfterMs` it is tried again exactly then, with `isRetryable` in a while, else never. */
  | { readonly kind: 'refused'; readonly error: string; readonly retryAfterMs: number | null; readonly isRetryable: boolean }
  /** It may or may not have arrived. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** What a channel does for the outbox. */
export interface ChannelPort {
  readonly name: string;
  /** Largest file it takes. */
  readonly maxFileBytes: number;
  /** The other side delivers a part once per `idempotencyKey`, so that a part of unknown fate can be sent again. */
  readonly deduplicates?: boolean;
  /** How an item becomes parts, at least one; the same for the same item. */
  split(item: Redacted<OutboundItem>): readonly PartContent[];
  /** Never throws what `SendOutcome` can say; what it throws counts as unknown. */
  send(part: OutboundPart, signal: AbortSignal): Promise<SendOutcome>;
}

/** A channel that comes with the program or is handed to it. It joins when the program is ready and is disposed before it closes. */
export interface Channel {
  readonly name: string;
  readonly identities: ChannelIdentities;
  readonly rules: ChannelRules;
  join(link: ChannelLink): { dispose(): void | Promise<void> };
}

/** What a channel gets when it joins. */
export interface ChannelLink {
  /** Returns once the message is committed. Fails with panic_engaged, queue_full, payload_too_large, shutting_down or a store error. */
  receive(inbound: ChannelInbound): ChannelReceipt;
  /** Makes the chat of a person who was paired known before they say anything in it. Fails with `forbidden` for anybody else. */
  introduce(
    chat: Omit<ChatAddress, 'channel'>,
    about: { readonly kind: ChatKind; readonly title: string; readonly senderId: string },
  ): void;
  /** From now on, until the returned function is called, what is queued for the channel is sent through it. */
  open(port: ChannelPort): () => void;
}
