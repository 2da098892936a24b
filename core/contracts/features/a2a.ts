// Agents on other machines, by the A2A protocol: the peers this program gives work to, the tasks others gave to it, the events (all in the system
// session) and the operations. Used by events.ts, ops.ts and config.ts.

import * as z from 'zod';
import { defineOps } from '../command-form.ts';
import { none } from '../op-params.ts';

/** The beginning of the model of a remote agent: its turns are answered by the peer. */
export const peerModelPrefix = 'a2a/';
/** The beginning of the sessions that tasks of others run in; no other session may have it. */
export const taskSessionPrefix = 'a2a_';

/** The group of nodes in place of a peer: `a2a/@AGENT` is any node that has the agent. */
export function groupPeer(agentId: string): string {
  return `@${agentId}`;
}

/** Null for a peer. */
export function groupAgentOf(peer: string): string | null {
  return peer.startsWith('@') ? peer.slice(1) : null;
}

export function isPeerModel(ref: string | null): ref is string {
  return ref?.startsWith(peerModelPrefix) === true;
}

const peerNameSchema = z.string().regex(/^[a-z][a-z0-9_-]{0,39}$/, 'must be a short name in small letters');

/** With the schema of references, so that the program knows the secrets. */
export function a2aConfigSchema(secretRef: z.ZodType<string, string>) {
  const peer = z.strictObject({
    /** Where its agent card is: `/.well-known/agent-card.json` below it. */
    url: z.url({ protocol: /^https?$/ }).max(2000),
    /** Sent as a bearer token: what its owner made with `trayclaw doors token create --door a2a`. */
    token: secretRef.optional(),
    /** Which of its agents, where it has several; it chooses when left out. */
    agent: z.string().min(1).max(100).optional(),
    /** Its use, for agents that look for one. */
    description: z.string().trim().min(1).max(1000).optional(),
    capabilities: z.array(z.string().trim().min(1).max(100)).max(50).optional(),
    /** At most, for one task. */
    minutes: z.number().min(0.01).max(1440).optional(),
    usd: z.number().nonnegative().optional(),
    tokens: z.number().int().positive().optional(),
  });
  const nats = z.strictObject({
    /** With commas between several. */
    servers: z.string().trim().min(1).max(2000),
    /** Nodes with the same name share one queue. */
    group: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,40}$/, 'must be up to 40 letters, digits, _ and -')
      .default('trayclaw'),
    user: z.string().min(1).max(200).optional(),
    password: secretRef.optional(),
    token: secretRef.optional(),
    /** The content of a credentials file. */
    credentials: secretRef.optional(),
    /** Files; a server that asks for TLS gets it in any case. */
    tls: z.strictObject({ ca: z.string().optional(), cert: z.string().optional(), key: secretRef.optional() }).optional(),
    /** A task that its node does not hold for this long is given out again. */
    ackSeconds: z.number().min(1).max(600).default(30),
    /** Given out so many times while the node that began it is away, it is a dead letter. */
    deliveries: z.number().int().min(1).max(1000).default(20),
  });
  return z
    .strictObject({
      /** How calls of subagents reach their agent: the queue of this machine, or a group of nodes that share one. */
      transport: z.enum(['sqlite', 'nats']).default('sqlite'),
      nats: nats.optional(),
      peers: z.record(peerNameSchema, peer).default({}),
      /** How many machines a task may pass through, this one not counted. */
      hops: z.number().int().min(0).max(10).default(3),
    })
    .refine(({ transport, nats: server }) => transport !== 'nats' || server !== undefined, {
      path: ['nats'],
      message: 'the transport nats needs the address of its server (a2a.nats.servers)',
    })
    .prefault({});
}
export type A2aConfig = z.infer<ReturnType<typeof a2aConfigSchema>>;
export type PeerConfig = A2aConfig['peers'][string];

/** The limits of a carried task: the rest of its giver's budget. Null is no limit of that kind. */
export const carriedBudgetSchema = z.object({
  usd: z.number().nonnegative().nullable(),
  tokens: z.number().int().nonnegative().nullable(),
  ms: z.number().int().min(1).nullable(),
  /** Levels of subagents that are left. */
  depth: z.number().int().min(0).max(10).nullable().default(null),
});

export const peerStateSchema = z.enum(['submitted', 'working', 'waiting', 'completed', 'failed', 'canceled', 'rejected']);
export type PeerState = z.infer<typeof peerStateSchema>;

export const a2aEvents = {
  /** Another agent gave this program a task; the turn with the same id does it. */
  'peer.task_accepted': z.object({
    taskId: z.string(),
    sessionId: z.string(),
    /** The token it came with, and the token's name. */
    owner: z.string(),
    client: z.string(),
    messageId: z.string(),
    /** The machines it came through, first the one where it began. */
    hops: z.array(z.string()),
  }),
  /** A task leaves for a peer, under this message id and no other. Written before it does. */
  'peer.sent': z.object({
    peer: z.string(),
    messageId: z.string(),
    /** The subagent's job, or the turn, that it is done for. */
    workId: z.string(),
    sessionId: z.string(),
    turnId: z.string(),
    chars: z.number().int(),
    hops: z.array(z.string()),
  }),
  /** The peer's own id of the task is known: from here on it is followed, not sent. */
  'peer.followed': z.object({ messageId: z.string(), taskId: z.string(), contextId: z.string() }),
  /** How it ended at the peer. The text is in the turn. */
  'peer.ended': z.object({ messageId: z.string(), state: peerStateSchema, costUsd: z.number().nullable(), tookMs: z.number() }),
} as const;

const peerViewSchema = z.object({
  peer: z.string(),
  url: z.string(),
  /** connected: it showed its card. refused: it does not accept the token. */
  state: z.enum(['connected', 'refused', 'unreachable', 'unusable']),
  problem: z.string().nullable(),
  /** From its card. */
  name: z.string(),
  description: z.string(),
  skills: z.array(z.string()),
  /** It meets a task it knows again by its message id, so that nothing is done twice after a crash. */
  once: z.boolean(),
  /** Tasks of this program that it works on. */
  open: z.number().int(),
});
export type PeerView = z.infer<typeof peerViewSchema>;

export const a2aOps = defineOps({
  /** The agent card as the door shows it; `url` is the address of the door, the one being served when left out. */
  'a2a.card': {
    params: z.strictObject({ url: z.url({ protocol: /^https?$/ }).optional() }),
    result: z.object({ enabled: z.boolean(), card: z.record(z.string(), z.unknown()) }),
    about: 'show the card by which agents on other machines know this one',
    commands: { 'a2a card': { options: { url: 'the address under which others reach it' }, example: '' } },
  },
  /** Asks each peer for its card. */
  'a2a.peers': {
    params: none,
    result: z.object({ peers: z.array(peerViewSchema) }),
    about: 'list the agents on other machines, and whether each can be reached',
    commands: { 'a2a peers': { example: '' } },
  },
});

export const a2aContract = {
  events: a2aEvents,
  ops: a2aOps,
  families: { a2a: 'Doors for other programs' },
  help: { a2a: ['Set up', 'agents on other machines'] },
} as const;
