// Composes everything that reaches out: the outbox, the channels, and the web for tools.

import type { Channel, ChatAddress } from './contracts/channels.ts';
import { systemLater } from './base/later.ts';
import type { AgentRegistry } from './agent/registry/registry.ts';
import type { Config } from './contracts/config.ts';
import { GuardedFetch } from './guard/egress/egress.ts';
import { OneOriginCheck, type SafetyChecks } from './guard/safety/safety.ts';
import type { Secrets } from './guard/secret/secret.ts';
import { Controlplane } from './doors/controlplane/controlplane.ts';
import type { MessagePort, WebDeps } from './hands/tools/tools.ts';
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

interface Sending {
  readonly outbox: Outbox;
  readonly features: { readonly channels: readonly Channel[] };
}

/** Null where there is no channel: then the model is not told of messages at all. */
export function composeChats({ config }: Base, { chats, artifacts }: Store, { outbox, features }: Sending): MessagePort | null {
  const hasChannel = Object.keys(config.channels).length > 0 || features.channels.length > 0;
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

interface Reached {
  readonly turns: TurnRuntime;
  readonly outbox: Outbox;
  readonly agents: AgentRegistry;
}

export function composeControlplane(
  { ids, config }: Base,
  { log, safeArtifacts, chats, outbound }: Store,
  { facts, workspaces }: Guard,
  { turns, outbox, agents }: Reached,
): Controlplane {
  return new Controlplane({
    runtime: turns,
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
  readonly hooks: Parameters<Outbox['start']>[0];
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

/** Every request of a tool leaves through here; model servers and channels are the person's own choice and keep their own clients. */
export function composeWeb(config: Config['web'], safety: SafetyChecks, secrets: Secrets): WebDeps {
  const { timeoutMs, bytesMax, search } = config;
  const quick = Math.min(timeoutMs, 10_000);
  const limits = { connectMs: quick, headersMs: timeoutMs, idleMs: Math.min(timeoutMs, 15_000), totalMs: timeoutMs, bytesMax };
  const http = new GuardedFetch({ judge: safety, limits });
  const searchHttp = search?.baseUrl === undefined ? http : new GuardedFetch({ judge: new OneOriginCheck(search.baseUrl), limits });
  return { http, searchHttp, secrets, config, redact: (text) => safety.redact(text).text };
}
