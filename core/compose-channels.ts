// The part of the composition that reaches chats: the outbox, and the channels that join it.

import type { Channel, ChatAddress } from './contracts/channels.ts';
import { systemLater } from './base/later.ts';
import { Controlplane } from './doors/controlplane/controlplane.ts';
import type { MessagePort } from './hands/tools/tools.ts';
import type { Hooks } from './runtime/hooks/hooks.ts';
import { Outbox } from './runtime/outbox/outbox.ts';
import type { TurnRuntime } from './runtime/turns/turns.ts';
import type { Base, Store } from './compose-base.ts';
import type { Guard } from './compose-guard.ts';

export function composeOutbox(base: Base, { log, outbound, chats }: Store, { panic }: Guard): Outbox {
  const { clock, ids, logger, crashPoints, lifetimes, safetyOf } = base;
  return lifetimes.add(
    new Outbox({
      log,
      rows: outbound,
      chats,
      clock,
      ids,
      logger,
      panic,
      crashPoints,
      after: systemLater,
      redactDeep: (value) => safetyOf('channels').redactDeep(value),
    }),
  );
}

/** Null where there is no channel: then the model is not told of messages at all. */
export function composeChats({ config, options }: Base, { chats, artifacts }: Store, outbox: Outbox): MessagePort | null {
  const hasChannel = Object.keys(config.channels).length > 0 || (options.channels ?? []).length > 0;
  if (!hasChannel) return null;
  const addressOf = (chat: ChatAddress): ChatAddress => {
    const { channel, chatId, threadId } = chat;
    return { channel, chatId, ...(threadId === undefined ? {} : { threadId }) };
  };
  return {
    titleOf: (chat) => chats.chat(chat)?.title ?? null,
    ofTurn: (turnId) => chats.ofTurn(turnId)?.chat ?? null,
    ofSession: (sessionId) => chats.ofSession(sessionId),
    lastUsed: (channel) => {
      const [last] = chats.chats({ channel, limit: 1 });
      return last === undefined ? null : addressOf(last);
    },
    describeArtifact: (idOrAlias) => artifacts.get(idOrAlias),
    queue: (item) => outbox.queue(item),
  };
}

// eslint-disable-next-line max-params -- one parameter a floor
export function composeControlplane(
  { ids, config, agents }: Base,
  { log, safeArtifacts, chats, outbound }: Store,
  { facts, workspaces }: Guard,
  runtime: TurnRuntime,
  outbox: Outbox,
): Controlplane {
  return new Controlplane({
    runtime,
    log,
    ids,
    agents,
    outbox,
    workspaces,
    chats: {
      chat: (chat) => chats.chat(chat),
      sessionOfMessage: (chat, messageId) => outbound.sessionOfMessage(chat, messageId),
    },
    attachments: { artifacts: safeArtifacts, limits: config.attachments, facts },
  });
}

interface JoinedParts {
  readonly controlplane: Controlplane;
  readonly outbox: Outbox;
  readonly hooks: Hooks | null;
}

/** Channels come last and leave first: what they bring in and send needs all the rest. */
export function joinChannels(
  { options, lifetimes }: Base,
  channels: readonly Channel[],
  { controlplane, outbox, hooks }: JoinedParts,
): void {
  if (options.resume === false) return;
  outbox.start(hooks);
  for (const channel of channels) lifetimes.add(channel.join(controlplane.link(channel)));
}
