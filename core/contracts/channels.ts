// Channels: chats of other programs through which a person talks to the agent. Defines inbound and outbound messages, and the interface
// that a channel implements. Names no specific channel.

import * as z from 'zod';
import { agentName } from './define-ops.ts';
import type { Redacted } from '../base/redacted.ts';
import type { Attachment } from './attachments.ts';
import { artifactRefSchema } from './tools.ts';

const short = z.string().min(1).max(200);

/** A place in a channel to which messages can be sent. */
export const chatAddressSchema = z.object({ channel: short, chatId: short, threadId: short.optional() });
export type ChatAddress = z.infer<typeof chatAddressSchema>;

export const chatKindSchema = z.enum(['private', 'group']);
export type ChatKind = z.infer<typeof chatKindSchema>;

/** The rules of a channel in config.yaml. */
export const channelRules = {
  /** The agent of new chats; the main agent by default. */
  agent: agentName.optional().meta({ title: 'Agent', description: 'The agent that a new chat talks to. Default: `main`.' }),
  /** Whether the channel reads group messages: never, or if they mention it. */
  groups: z
    .enum(['off', 'mention'])
    .default('off')
    .meta({ title: 'Groups', description: 'With `mention` it reads messages of known people in groups that mention it.' }),
  /** Ids of people other than the owners who may write. Their messages can request actions but cannot approve anything. */
  allowFrom: z.array(short).max(200).default([]).meta({
    title: 'Other people',
    description: 'Ids or addresses of other people who may write. They can ask for things but cannot approve anything.',
  }),
};
export const channelRulesSchema = z.strictObject(channelRules);
export type ChannelRules = z.infer<typeof channelRulesSchema>;

/** A file that is fetched after its message is recorded. Only its service can interpret `ref`. */
export const remoteFileSchema = z.object({
  ref: z.string(),
  name: z.string(),
  mediaType: z.string().nullable(),
  sizeBytes: z.number().int().nullable(),
});
export type RemoteFile = z.infer<typeof remoteFileSchema>;

/** A chat message in the common form of all channels. */
export interface ChannelInbound extends ChatAddress {
  readonly kind: 'private' | 'group';
  /** For people: the name of the group or of the other person. */
  readonly chatTitle?: string;
  /** The permanent id that the channel gives a person, never a name that the person chose. */
  readonly senderId: string;
  readonly senderName: string;
  /** Identical for every delivery of the same message, such as `BOT:UPDATE`. */
  readonly dedupeKey: string;
  readonly messageId?: string;
  readonly text: string;
  readonly attachments: readonly Attachment[];
  /** Files that are still at a chat service whose line has `fetchFile`. The message is recorded and waits for them. */
  readonly files?: readonly RemoteFile[];
  /** Messages of one album arrive separately but belong together. */
  readonly albumId?: string;
  /** The message that this one answers or quotes. `messageId` finds it among the messages sent from here. */
  readonly replyTo?: { readonly text: string; readonly fromAgent: boolean; readonly messageId?: string };
  /** The original author, if the message is forwarded. */
  readonly forwardedFrom?: string;
  /** Whether the message names the agent or answers it. Matters only in groups. */
  readonly mentioned: boolean;
  /** Whether this is an edit of an earlier message. An edit never starts anything. */
  readonly edited?: boolean;
  readonly atMs: number;
  /** The maximum age of the message, if the service knows it without comparing two clocks. */
  readonly waitedMs?: number;
  /** Writes the channel's own rows in the transaction of the message. Not called for a message that was already recorded. */
  readonly alongside?: () => void;
}

export type ChannelReceipt =
  | { readonly kind: 'accepted'; readonly sessionId: string; readonly turnId: string }
  | { readonly kind: 'ignored'; readonly reason: 'stranger' | 'groups-off' | 'not-mentioned' | 'edited' | 'empty' };

/** The channel ids of the program's owner. A group is never an owner. */
export interface ChannelIdentities {
  isOwner(senderId: string): boolean;
}

export const outboundKindSchema = z.enum(['reply', 'message', 'notice', 'question']);

/** A button under a message. The channel receives `data` when the button is pressed. */
export const outboundButtonSchema = z.object({ label: z.string().min(1).max(100), data: z.string().min(1).max(200) });

/** A message to send, as it is queued. Each item goes to one chat. */
export const outboundItemSchema = z.object({
  outboundId: z.string(),
  to: chatAddressSchema,
  kind: outboundKindSchema,
  text: z.string().max(200_000),
  files: z.array(artifactRefSchema).max(50),
  /** The message of the chat that this one answers. */
  replyToMessageId: z.string().optional(),
  buttons: z.array(z.array(outboundButtonSchema).max(8)).max(10).optional(),
  /** A message with the same key is queued only once. */
  idempotencyKey: z.string().min(1).max(300),
  sessionId: z.string(),
  turnId: z.string().nullable(),
  /** News about the panic stop; the only messages that are sent while it is engaged. */
  aboutPanic: z.literal(true).optional(),
});
export type OutboundItem = z.infer<typeof outboundItemSchema>;
export type NewOutbound = Omit<OutboundItem, 'outboundId'>;

/** A part of an item that a channel sends as one message. */
export interface PartContent {
  readonly text: string;
  readonly files: OutboundItem['files'];
}

export interface OutboundPart extends PartContent {
  readonly item: Redacted<OutboundItem>;
  /** From 0. */
  readonly part: number;
  readonly parts: number;
  /** From 1, counted over all tries of this part. */
  readonly attempt: number;
  /** The same for every try of this part. */
  readonly idempotencyKey: string;
  /** The message that showed the answer of the turn while it was written. It becomes this part. */
  readonly shownIn?: string;
}

export type SendOutcome =
  | { readonly kind: 'sent'; readonly messageId: string }
  /** Certainly not delivered. With `retryAfterMs` it is retried exactly then; with `isRetryable` it is retried later; otherwise never. */
  | { readonly kind: 'refused'; readonly error: string; readonly retryAfterMs: number | null; readonly isRetryable: boolean }
  /** May or may not have arrived. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** The part of a channel that the outbox calls. */
export interface ChannelPort {
  readonly name: string;
  /** The largest file that the channel accepts. */
  readonly maxFileBytes: number;
  /** Whether the service delivers a part once per `idempotencyKey`, so that a part with an unknown outcome can be sent again. */
  readonly deduplicates?: boolean;
  /**
   * How long after a try the service still drops a second copy. If set, the channel itself retries within one `send`, and a part that a
   * crash interrupted longer ago than this has an unknown outcome.
   */
  readonly deduplicatesMs?: number;
  /** Splits an item into at least one part. Deterministic. */
  split(item: Redacted<OutboundItem>): readonly PartContent[];
  /** Escapes plain text for a part, if parts contain markup. */
  escape?(text: string): string;
  /** Reports failures as `SendOutcome`. A thrown error counts as an unknown outcome. */
  send(part: OutboundPart, signal: AbortSignal): Promise<SendOutcome>;
}

/**
 * A channel that is built in or passed in by the host program. It starts when the program is ready, and is disposed before the program
 * closes.
 */
export interface Channel {
  readonly name: string;
  readonly identities: ChannelIdentities;
  readonly rules: ChannelRules;
  join(link: ChannelLink): { dispose(): void | Promise<void> };
}

/** The services that a channel receives when it starts. */
export interface ChannelLink {
  /** Returns once the message is committed. Fails with panic_engaged, queue_full, payload_too_large, shutting_down or a store error. */
  receive(inbound: ChannelInbound): ChannelReceipt;
  /** Registers the chat of a paired person before their first message. Fails with `forbidden` for anyone else. */
  introduce(
    chat: Omit<ChatAddress, 'channel'>,
    about: { readonly kind: ChatKind; readonly title: string; readonly senderId: string },
  ): void;
  /** Sends the queued messages of the channel through the port, until the returned function is called. */
  open(port: ChannelPort): () => void;
}

/** Why an attempt to show something failed. `flood` says how long the service must not be called. */
export type LiveFailure =
  | { readonly kind: 'aborted' | 'unavailable' }
  /** The service does not support this for this chat. */
  | { readonly kind: 'unsupported' }
  | { readonly kind: 'flood'; readonly retryAfterMs: number };

/** Shows an answer in a service while it is written. */
export interface LiveScreen {
  /** Shows a text that is not a message yet, if the service supports that. */
  draft?(
    draft: { readonly chatId: string; readonly threadId?: string; readonly draftId: number; readonly text: string },
    signal: AbortSignal,
  ): Promise<void>;
  /** Returns the id of the message. */
  send(chatId: string, text: string, threadId?: string): Promise<string>;
  edit(message: { readonly chatId: string; readonly messageId: string; readonly text: string }): Promise<void>;
  typing(chatId: string, signal: AbortSignal, threadId?: string): Promise<void>;
  failureOf(cause: unknown, signal: AbortSignal): LiveFailure;
  /** The longest text that can be shown. */
  readonly shownMax: number;
}

/**
 * A chat service implements only its own protocol. The program adds everything that all services need: pairing, strangers, slash commands,
 * approvals, pausing, state and health check.
 */
export interface ChatService {
  readonly name: string;
  /** The name that people see. */
  readonly title: string;
  readonly rules: ChannelRules;
  /**
   * How a person answers an approval: with a button, or with the one-time code of the approval if a button press or a name proves too
   * little.
   */
  readonly answers: 'buttons' | 'codes';
  /** Whether a stranger who writes gets one line per hour. False if the answer would go to an address that anyone can forge. */
  readonly answersStrangers: boolean;
  /** True if texts are shown as they are, without formatting: then questions come without the escapes of Markdown. */
  readonly isPlain?: boolean;
  /** The id of its health check; defaults to `channel-NAME`. */
  readonly checkId?: string;
  /** If its apps send a text that is too long as several messages: how long a part is that others may follow. */
  readonly splitTexts?: SplitTexts;
  /** Whether no account is configured. The service never runs then, but its people are still known. */
  readonly isOff?: boolean;
  /** The secret with which it connects. After a secret was refused, a new one is tried soon. */
  secret?(): Promise<string>;
  /**
   * Connects, and serves until the signal aborts. After a rejection the program tries again later; with the code `unauthorized` more
   * slowly, because a person has to change something first.
   */
  run(desk: ChatDesk, signal: AbortSignal): Promise<void>;
}

/** Lengths in UTF-16 units. A part of `full` is cut anywhere; a shorter one, of at least `least`, at a line or a word. */
export interface SplitTexts {
  readonly least: number;
  readonly full: number;
}

/** Returns the secret behind a reference. */
export type ResolveSecret = (reference: string) => Promise<string>;

/** Connects with settings that are not in use, and disconnects. Used to test settings before they are saved. */
export interface ChannelTrial {
  readonly channel: string;
  readonly settings: z.ZodType;
  /**
   * `settings` match the schema; `resolve` returns the secrets they refer to. Resolves to the name of the agent there. Rejects like a
   * service.
   */
  connect(settings: unknown, resolve: ResolveSecret, signal: AbortSignal): Promise<string>;
}

/** The parts of a connected service. */
export interface ChatLine {
  readonly port: ChannelPort;
  /** The name of the agent there, for people; `meId` is its permanent id. */
  readonly me: string;
  readonly meId?: string;
  readonly live?: LiveScreen;
  /** Checks that the service can send, if being connected does not prove it. Rejects with the problem. */
  verify?(): Promise<void>;
  /** Shows the outcome in the message that asked, and removes its buttons. If absent, the chat gets a line of text instead. */
  closeQuestion?(question: ClosedQuestion): Promise<void>;
  /** Returns the content of a message's file. An AppError is final; after any other failure it is called again. */
  readonly fetchFile?: (file: RemoteFile, limits: { readonly sizeBytesMax: number; readonly signal: AbortSignal }) => Promise<Uint8Array>;
}

/** An answered approval: the text that asked, and the text of the answer. */
export interface ClosedQuestion {
  readonly chatId: string;
  readonly messageId: string;
  readonly asked: string;
  readonly text: string;
}

export interface ButtonPress {
  readonly userId: string;
  readonly chatId: string;
  readonly data: string;
  /** The maximum age of the press. */
  readonly waitedMs: number;
}

/** The parts of the program that a service may use while it runs. */
export interface ChatDesk {
  /**
   * Reports that the service is connected: queued messages are sent through the port until `offline` or the end of the run. May be called
   * again with the same line. `conflict` says in words that another program receives the messages that people write here.
   */
  online(line: ChatLine, conflict?: string): void;
  /** Reports that the service is unreachable for now. Queued messages wait. */
  offline(problem: string): void;
  /** Whether a message of this person would be accepted. Called before anything is fetched. */
  knows(senderId: string): boolean;
  /**
   * Takes a message of anyone: an answer, a command, a pairing code, or work for the agent. The message is committed when this resolves;
   * acknowledge it to the service only then. Rejects with a store error or `shutting_down`; offer the message again in that case.
   */
  take(message: ChannelInbound): Promise<void>;
  /**
   * If several messages are available at once: executes a panic stop among them before the messages ahead of it, so that nothing delays it.
   * Returns true if there was a stop that had not been executed. All messages are taken afterwards; the repeated stop changes nothing.
   */
  stopFirst(messages: readonly ChannelInbound[]): boolean;
  /** Returns the text for the person who pressed the button. */
  press(press: ButtonPress): Promise<string>;
  /** A note that the service keeps across restarts, such as its position in a mailbox; null if there is none. */
  note(key: string): string | null;
  setNote(key: string, value: string): void;
  /** The content of a file to send; null if it is no longer kept. */
  readFile(sha256: string): Uint8Array | null;
}
