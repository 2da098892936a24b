// Agents of config.yaml: their identity, tools, callable agents and chats. Also the limits on subagents.

import * as z from 'zod';
import { naming } from './named-things.ts';
import { modelRefSchema } from './model-ref.ts';
import { toolName, turnBoundsSchema } from './turn-bounds.ts';

/** Always exists, configured or not. */
export const mainAgentId = 'main';

const agentIdSchema = z.string().regex(/^[a-z][a-z0-9_-]{0,39}$/, 'must be a short name in small letters');

const routeSchema = z.strictObject({
  channel: z.string().min(1).max(40),
  /** A single chat of the channel; defaults to all of them. */
  chatId: z.string().min(1).max(100).optional(),
});

export const agentSchema = z.strictObject({
  name: z.string().trim().min(1).max(100).optional(),
  description: z.string().trim().min(1).max(1000).optional(),
  /** Short phrases about its skills, for agents that search for a subagent. */
  capabilities: z.array(z.string().trim().min(1).max(100)).max(50).optional(),
  /** The only tools that it may use. */
  tools: z.array(toolName).max(200).optional(),
  /** The model of its turns, unless the session sets another. */
  model: modelRefSchema.optional(),
  /** A panel of models.panels, or another model, that gives a second opinion on every answer of this agent. */
  secondOpinion: z.string().min(1).max(200).optional(),
  /** Text that is added after the standing instructions. */
  identity: z.string().trim().min(1).max(20_000).optional(),
  /** The same text in a file below the data folder. */
  identityFile: z.string().min(1).max(500).optional(),
  bounds: turnBoundsSchema.omit({ planFirst: true, outsider: true }).partial().optional(),
  /** Agents that it may call as subagents. By default main may call all agents, and any other agent only itself. */
  helpers: z.array(naming('agent', agentIdSchema)).max(100).optional(),
  routes: z.array(routeSchema).max(100).optional(),
});
export type AgentConfig = z.infer<typeof agentSchema>;

export const agentsSchema = z.record(agentIdSchema, agentSchema).default({});

export const helpersSchema = z
  .strictObject({
    /** Levels of subagents below a conversation; 0 for none. */
    depth: z.number().int().min(0).max(10).default(3),
    /** Parallel subagents of one turn. */
    perTurn: z.number().int().min(1).max(100).default(8),
    /** Parallel subagents on one level, across all turns. */
    atOnce: z.number().int().min(1).max(200).default(64),
    /** Calls that wait for a free place. */
    queued: z.number().int().min(0).max(1000).default(100),
    minutes: z.number().min(0.01).max(1440).default(30),
    usd: z.number().nonnegative().optional(),
    tokens: z.number().int().positive().optional(),
    /** Maximum retries of a subagent after a transient failure. */
    retries: z.number().int().min(0).max(5).default(2),
  })
  .prefault({});
export type HelperLimits = z.infer<typeof helpersSchema>;

export const agentListingSchema = z.object({
  agentId: z.string(),
  name: z.string(),
  description: z.string(),
  capabilities: z.array(z.string()),
  model: z.string().nullable(),
  tools: z.array(z.string()).nullable(),
  bounds: turnBoundsSchema.nullable(),
  /** Agents that it may call. */
  helpers: z.array(z.string()),
  routes: z.array(z.object({ channel: z.string(), chatId: z.string().nullable() })),
});
export type AgentListing = z.infer<typeof agentListingSchema>;
