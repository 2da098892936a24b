// Agents on other machines, by the A2A protocol: the peers to which this program delegates tasks, the tasks it receives, the events (all in
// the system session) and the operations. Used by events.ts, ops.ts and config.ts.

import * as z from 'zod';
import { defineOps, none } from '../define-ops.ts';

/** The prefix of the model of a remote agent. The peer answers turns with this model. */
export const peerModelPrefix = 'a2a/';

/** The name of a group of nodes instead of a peer: `a2a/@AGENT` is any node that has the agent. */
export function groupPeer(agentId: string): string {
  return `@${agentId}`;
}

/** Null if `peer` is a peer. */
export function groupAgentOf(peer: string): string | null {
  return peer.startsWith('@') ? peer.slice(1) : null;
}

export function isPeerModel(ref: string | null): ref is string {
  return ref?.startsWith(peerModelPrefix) === true;
}

const peerNameSchema = z.string().regex(/^[a-z][a-z0-9_-]{0,39}$/, 'must be a short name in small letters');

/** Takes the schema of secret references, so that the program knows the secrets. */
export function a2aConfigSchema(secretRef: z.ZodType<string, string>) {
  const peer = z.strictObject({
    /** The address of the peer. Its agent card is at `/.well-known/agent-card.json` below it. */
    url: z.url({ protocol: /^https?$/ }).max(2000),
    /** The bearer token that the peer's owner created with `trayclaw doors token create --door a2a`. */
    token: secretRef.optional(),
    /** One of the peer's agents, if it has several; the peer chooses by default. */
    agent: z.string().min(1).max(100).optional(),
    /** A description for agents that search for a subagent. */
    description: z.string().trim().min(1).max(1000).optional(),
    capabilities: z.array(z.string().trim().min(1).max(100)).max(50).optional(),
    /** The maximum for one task. */
    minutes: z.number().min(0.01).max(1440).optional(),
    usd: z.number().nonnegative().optional(),
    tokens: z.number().int().positive().optional(),
  });
  const nats = z.strictObject({
    /** One address, or several separated by commas. */
    servers: z.string().trim().min(1).max(2000),
    /** Nodes with the same group name share one queue. */
    group: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,40}$/, 'must be up to 40 letters, digits, _ and -')
      .default('trayclaw'),
    user: z.string().min(1).max(200).optional(),
    password: secretRef.optional(),
    token: secretRef.optional(),
    /** The content of a credentials file. */
    credentials: secretRef.optional(),
    /** File paths. TLS is used in any case if the server requires it. */
    tls: z.strictObject({ ca: z.string().optional(), cert: z.string().optional(), key: secretRef.optional() }).optional(),
    /** A task whose node does not confirm it for this long is delivered again. */
    ackSeconds: z.number().min(1).max(600).default(30),
    /** A task that was delivered this many times while the node that began it is away becomes a dead letter. */
    deliveries: z.number().int().min(1).max(1000).default(20),
  });
  return z
    .strictObject({
      /** How calls of subagents reach their agent: through the queue of this machine, or through a group of nodes that share one. */
      transport: z.enum(['sqlite', 'nats']).default('sqlite'),
      nats: nats.optional(),
      peers: z.record(peerNameSchema, peer).default({}),
      /** The number of machines that a task may pass through, not counting this one. */
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

/** The limits of a delegated task: the rest of the sender's budget. Null means no limit of that kind. */
export const carriedBudgetSchema = z.object({
  usd: z.number().nonnegative().nullable(),
  tokens: z.number().int().nonnegative().nullable(),
  ms: z.number().int().min(1).nullable(),
  /** The remaining levels of subagents. */
  depth: z.number().int().min(0).max(10).nullable().default(null),
});

export const peerStateSchema = z.enum(['submitted', 'working', 'waiting', 'completed', 'failed', 'canceled', 'rejected']);
export type PeerState = z.infer<typeof peerStateSchema>;

export const a2aEvents = {
  /** Another agent gave this program a task. The turn with the same id performs it. */
  'peer.task_accepted': z.object({
    taskId: z.string(),
    sessionId: z.string(),
    /** The token with which the task was sent; `client` is the token's name. */
    owner: z.string(),
    client: z.string(),
    messageId: z.string(),
    /** The machines that the task passed through, starting with its origin. */
    hops: z.array(z.string()),
  }),
  /** A task is about to be sent to a peer, always with this message id. Written before it is sent. */
  'peer.sent': z.object({
    peer: z.string(),
    messageId: z.string(),
    /** The subagent's job, or the turn, for which the task is sent. */
    workId: z.string(),
    sessionId: z.string(),
    turnId: z.string(),
    chars: z.number().int(),
    hops: z.array(z.string()),
  }),
  /** The peer's id of the task is known. From now on the task is followed instead of sent again. */
  'peer.followed': z.object({ messageId: z.string(), taskId: z.string(), contextId: z.string() }),
  /** How the task ended at the peer. The text is in the turn. */
  'peer.ended': z.object({ messageId: z.string(), state: peerStateSchema, costUsd: z.number().nullable(), tookMs: z.number() }),
} as const;

const peerViewSchema = z.object({
  peer: z.string(),
  url: z.string(),
  /** connected: the peer returned its card. refused: it does not accept the token. */
  state: z.enum(['connected', 'refused', 'unreachable', 'unusable']),
  problem: z.string().nullable(),
  /** From its card. */
  name: z.string(),
  description: z.string(),
  skills: z.array(z.string()),
  /** Whether the peer recognizes a repeated task by its message id, so that nothing is done twice after a crash. */
  once: z.boolean(),
  /** The number of this program's tasks that the peer works on. */
  open: z.number().int(),
});
export type PeerView = z.infer<typeof peerViewSchema>;

export const a2aOps = defineOps({
  /** The agent card as the door serves it. `url` is the address of the door; defaults to the address being served. */
  'a2a.card': {
    params: z.strictObject({ url: z.url({ protocol: /^https?$/ }).optional() }),
    result: z.object({ enabled: z.boolean(), card: z.record(z.string(), z.unknown()) }),
    about: 'show the card by which agents on other machines know this one',
    commands: { 'a2a card': { options: { url: 'the address under which others reach it' }, example: '' } },
  },
  /** Requests the card of each peer. */
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
