// Channels: chats of other programs through which a person talks with the agent. Inbound and outbound messages, and the interface a channel
// implements. Names no channel.

import * as z from 'zod';
import { agentName } from './op-params.ts';
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
  /** The agent of new chats; the main agent by default. */
  agent: agentName.optional().meta({ title: 'Agent', description: 'The agent that a new chat talks to. Default: `main`.' }),
  /** Whether it listens in groups: never, or to messages that mention it. */
  groups: z
    .enum(['off', 'mention'])
    .default('off')
    .meta({ title: 'Groups', description: 'With `mention` it reads messages of known people in groups that mention it.' }),
  /** Ids of people other than the owners who may write; their messages can request actions but cannot approve anything. */
  allowFrom: z.array(short).max(200).default([]).meta({
    title: 'Other people',
    description: 'Ids or addresses of other people who may write. They can ask for things but cannot approve anything.',
  }),
};
export const channelRulesSchema = z.strictObject(channelRules);
export type ChannelRules = z.infer<typeof channelRulesSchema>;

/** A file that is fetched once its message is recorded. `ref` means something to its service alone. */
export const remoteFileSchema = z.object({
  ref: z.string(),
  name: z.string(),
  mediaType: z.string().nullable(),
  sizeBytes: z.number().int().nullable(),
});
export type RemoteFile = z.infer<typeof remoteFileSchema>;

/** A message of a chat, in the common form of all channels. */
export interface ChannelInbound extends ChatAddress {
  readonly kind: 'private' | 'group';
  /** For people: the name of the group or of the other person. */
  readonly chatTitle?: string;
  /** The permanent id that the channel gives a person, never a name they chose. */
  readonly senderId: string;
  readonly senderName: string;
  /** Identical for every delivery of the same message: `BOT:UPDATE`. */
  readonly dedupeKey: string;
  readonly messageId?: string;
  readonly text: string;
  readonly attachments: readonly Attachment[];
  /** For a chat service whose line has `fetchFile`: files that are still there. The message is recorded and waits for them. */
  readonly files?: readonly RemoteFile[];
  /** Messages of one album come one by one and are meant as one. */
  readonly albumId?: string;
  /** The message it answers or quotes. `messageId` lets it be found among those sent from here. */
  readonly replyTo?: { readonly text: string; readonly fromAgent: boolean; readonly messageId?: string };
  /** The original author, when the sender forwards the message. */
  readonly forwardedFrom?: string;
  /** It names the agent, or answers it. Only asked of groups. */
  readonly mentioned: boolean;
  /** An earlier message was changed: never a reason to do anything. */
  readonly edited?: boolean;
  readonly atMs: number;
  /** The maximum age of the message, where the service knows it without comparing two clocks. */
  readonly waitedMs?: number;
  /** Writes the channel's own rows in the transaction of the message. Not called for a message that was already recorded. */
  readonly alongside?: () => void;
}

export type ChannelReceipt =
  | { readonly kind: 'accepted'; readonly sessionId: string; readonly turnId: string }
  | { readonly kind: 'ignored'; readonly reason: 'stranger' | 'groups-off' | 'not-mentioned' | 'edited' | 'empty' };

/** The channel ids of the program's owner. A group never is one. */
export interface ChannelIdentities {
  isOwner(senderId: string): boolean;
}

export const outboundKindSchema = z.enum(['reply', 'message', 'notice', 'question']);

/** A button under a message; `data` comes back to the channel when it is pressed. */
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
  /** A message with the same key is queued only once. */
  idempotencyKey: z.string().min(1).max(300),
  sessionId: z.string(),
  turnId: z.string().nullable(),
  /** News of the panic stop, the only message sent during it. */
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
  /** From 1, counted over all tries of this part. */
  readonly attempt: number;
  /** The same for every try of this part. */
  readonly idempotencyKey: string;
  /** The message in which the turn showed its answer while it was written: it becomes this part. */
  readonly shownIn?: string;
}

export type SendOutcome =
  | { readonly kind: 'sent'; readonly messageId: string }
  /** It was certainly not delivered. With `retryAfterMs` it is tried again exactly then, with `isRetryable` in a while, else never. */
  | { readonly kind: 'refused'; readonly error: string; readonly retryAfterMs: number | null; readonly isRetryable: boolean }
  /** It may or may not have arrived. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** The part of a channel that the outbox calls. */
export interface ChannelPort {
  readonly name: string;
  /** Largest file it takes. */
  readonly maxFileBytes: number;
  /** The other side delivers a part once per `idempotencyKey`, so that a part of unknown fate can be sent again. */
  readonly deduplicates?: boolean;
  /** For how long after a try. Then it repeats within one `send` itself, and a part that a crash interrupted earlier is uncertain. */
  readonly deduplicatesMs?: number;
  /** Splits an item into parts, at least one; deterministic. */
  split(item: Redacted<OutboundItem>): readonly PartContent[];
  /** Plain text as it is written in a part, where parts are marked up. */
  escape?(text: string): string;
  /** Reports failures as `SendOutcome`; a thrown error counts as an unknown outcome. */
  send(part: OutboundPart, signal: AbortSignal): Promise<SendOutcome>;
}

/** A channel that is built in or passed in by the caller. It starts when the program is ready and is disposed before the program closes. */
export interface Channel {
  readonly name: string;
  readonly identities: ChannelIdentities;
  readonly rules: ChannelRules;
  join(link: ChannelLink): { dispose(): void | Promise<void> };
}

/** The services a channel receives when it starts. */
export interface ChannelLink {
  /** Returns once the message is committed. Fails with panic_engaged, queue_full, payload_too_large, shutting_down or a store error. */
  receive(inbound: ChannelInbound): ChannelReceipt;
  /** Registers the chat of a paired person before their first message. Fails with `forbidden` for anyone else. */
  introduce(
    chat: Omit<ChatAddress, 'channel'>,
    about: { readonly kind: ChatKind; readonly title: string; readonly senderId: string },
  ): void;
  /** Sends queued messages of the channel through the port, until the returned function is called. */
  open(port: ChannelPort): () => void;
}

/** Why an attempt to show something failed; `flood` says for how long the service wants quiet. */
export type LiveFailure =
  | { readonly kind: 'aborted' | 'unavailable' }
  /** The service does not do this for this chat. */
  | { readonly kind: 'unsupported' }
  | { readonly kind: 'flood'; readonly retryAfterMs: number };

/** How a service shows an answer while it is written. */
export interface LiveScreen {
  /** Shows a text that is no message yet, where the service can. */
  draft?(
    draft: { readonly chatId: string; readonly threadId?: string; readonly draftId: number; readonly text: string },
    signal: AbortSignal,
  ): Promise<void>;
  /** Returns the id of the message. */
  send(chatId: string, text: string, threadId?: string): Promise<string>;
  edit(message: { readonly chatId: string; readonly messageId: string; readonly text: string }): Promise<void>;
  typing(chatId: string, signal: AbortSignal, threadId?: string): Promise<void>;
  failureOf(cause: unknown, signal: AbortSignal): LiveFailure;
  /** Longest text it shows. */
  readonly shownMax: number;
}

/**
 * A chat service with only its own protocol. The program adds what all services need: pairing, strangers, slash commands, approvals, the
 * pause, its state and its health check.
 */
export interface ChatService {
  readonly name: string;
  /** Its name for people. */
  readonly title: string;
  readonly rules: ChannelRules;
  /** How a person answers an approval: by a button, or, where a press or a name proves too little, by the one-time code of the question. */
  readonly answers: 'buttons' | 'codes';
  /** A stranger who writes gets one line an hour. False where an answer would go to an address that anyone can forge. */
  readonly answersStrangers: boolean;
  /** The id of its health check; `channel-NAME` by default. */
  readonly checkId?: string;
  /** It has no account: it never runs, and its people are still known. */
  readonly isOff?: boolean;
  /** The secret it connects with: a new one is tried soon after the old one was refused. */
  secret?(): Promise<string>;
  /**
   * Connects, and serves until the signal aborts. A rejection is tried again later: with the code `unauthorized` slowly, because a person
   * has to change something first.
   */
  run(desk: ChatDesk, signal: AbortSignal): Promise<void>;
}

/** Gives the secret behind a reference. */
export type ResolveSecret = (reference: string) => Promise<string>;

/** Connects with settings that are not in use, and disconnects: for a test before they are saved. */
export interface ChannelTrial {
  readonly channel: string;
  readonly settings: z.ZodType;
  /** `settings` fit the schema; `resolve` gives the secrets they refer to. Resolves to the name of the agent there, rejects like a service. */
  connect(settings: unknown, resolve: ResolveSecret, signal: AbortSignal): Promise<string>;
}

/** The parts of a connected service. */
export interface ChatLine {
  readonly port: ChannelPort;
  /** The name of the agent there, for people; and its permanent id. */
  readonly me: string;
  readonly meId?: string;
  readonly live?: LiveScreen;
  /** Proves that it can send, where being connected is no proof: rejects with what is wrong. */
  verify?(): Promise<void>;
  /** Shows the outcome in the message that asked, and takes its buttons away. Without it, the chat gets a line of text. */
  closeQuestion?(question: ClosedQuestion): Promise<void>;
  /** The content of a file of a message. An AppError is final; after another failure it is called again. */
  readonly fetchFile?: (file: RemoteFile, limits: { readonly sizeBytesMax: number; readonly signal: AbortSignal }) => Promise<Uint8Array>;
}

/** A question that was answered: how it was asked, and how it was answered. */
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

/** The parts of the program a service may use while it runs. */
export interface ChatDesk {
  /**
   * It is connected: queued messages leave through the port until `offline` or the end of the run. The same line may be named again. With a
   * conflict, in words: another program receives what people write here.
   */
  online(line: ChatLine, conflict?: string): void;
  /** It cannot be reached for now; queued messages wait. */
  offline(problem: string): void;
  /** Whether a message of this person would be taken: asked before anything is fetched. */
  knows(senderId: string): boolean;
  /**
   * Takes a message of anyone: an answer, a command, a pairing code, or work for the agent. It is committed when this resolves;
   * acknowledge it to the service only then. Rejects with a store error or `shutting_down`: offer the message again.
   */
  take(message: ChannelInbound): Promise<void>;
  /**
   * Of several messages that are there at once: does a panic stop before those ahead of it, so that nothing delays ending the processes. True
   * if there was one that was not done yet. All of them are taken afterwards, and the repeated stop changes nothing.
   */
  stopFirst(messages: readonly ChannelInbound[]): boolean;
  /** Returns the words for the person who pressed. */
  press(press: ButtonPress): Promise<string>;
  /** A note the service keeps over restarts, such as where it is in a mailbox; null where there is none. */
  note(key: string): string | null;
  setNote(key: string, value: string): void;
  /** The content of a file to send; null if it is no longer kept. */
  readFile(sha256: string): Uint8Array | null;
}
