// Composes everything that reaches out: the outbox and the channels.

import type { Channel } from './contracts/channels.ts';
import { systemLater } from './base/later.ts';
import type { AgentRegistry } from './agent/registry/registry.ts';
import { Controlplane } from './doors/controlplane/controlplane.ts';
import type { MessagePort } from './hands/tools/tools.ts';
import { createMessagePort, Outbox } from './runtime/outbox/outbox.ts';
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
  readonly features: { readonly channels: readonly Channel[]; readonly services: { readonly count: number } };
}

/** Null where there is no channel: then the model is not told of messages at all. */
export function composeChats({ config }: Base, { chats, artifacts }: Store, { outbox, features }: Sending): MessagePort | null {
  const hasChannel = Object.keys(config.channels).length > 0 || features.services.count > 0 || features.channels.length > 0;
  return hasChannel ? createMessagePort(outbox, chats, (idOrAlias) => artifacts.get(idOrAlias)) : null;
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
    attachments: { artifacts: safeArtifacts, limits: config.attachments, facts, contextOf: (workspace) => workspaces.contextOf(workspace) },
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
