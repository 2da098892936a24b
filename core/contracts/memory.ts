// What is remembered: kinds, scopes, where it came from, and how it stands. Without decisions; the rules are in core/mind/memory.

import * as z from 'zod';
import { taintSourceSchema } from './tools.ts';

export const memoryKinds = ['fact', 'preference', 'lesson', 'procedure'] as const;
export const memoryKindSchema = z.enum(memoryKinds);
export type MemoryKind = z.infer<typeof memoryKindSchema>;

/** candidate: proposed, used nowhere until it is promoted. kept: used. */
export const memoryStates = ['candidate', 'kept'] as const;
export const memoryStateSchema = z.enum(memoryStates);
export type MemoryState = z.infer<typeof memoryStateSchema>;

/** By its age since it was last used: whole, one sentence, a few words, or out of use. A pinned one stays whole. */
export const memoryTiers = ['full', 'summary', 'marker', 'archived'] as const;
export const memoryTierSchema = z.enum(memoryTiers);
export type MemoryTier = z.infer<typeof memoryTierSchema>;

export const sharedScope = 'shared';
/** For all agents, or for one. */
export const memoryScopeSchema = z
  .string()
  .regex(/^(shared|agent:[a-z][a-z0-9_-]{0,39})$/, 'must be shared, or agent: and the id of an agent');

export const memoryTextMax = 2_000;
const textSchema = z.string().trim().min(1).max(memoryTextMax);
export const importanceSchema = z.number().min(0).max(1);

/** Who brought it up, and where that can be looked up. */
export const memoryOriginSchema = z.object({
  by: z.enum(['person', 'agent', 'turn', 'import']),
  actor: z.string(),
  sessionId: z.string().nullable(),
  turnId: z.string().nullable(),
});
export type MemoryOrigin = z.infer<typeof memoryOriginSchema>;

export const memorySchema = z.object({
  memoryId: z.string(),
  kind: memoryKindSchema,
  text: textSchema,
  scope: memoryScopeSchema,
  importance: importanceSchema,
  origin: memoryOriginSchema,
  /** Whose words it may hold beside the person's own. With any of them only a person can promote it. */
  untrusted: z.array(taintSourceSchema),
});
export type Memory = z.infer<typeof memorySchema>;

/** What one that is written to a file says; what else it is follows when it is read in. */
export const memoryFileEntrySchema = z.strictObject({
  kind: memoryKindSchema,
  text: textSchema,
  scope: memoryScopeSchema.default(sharedScope),
  importance: importanceSchema.default(0.5),
  pinned: z.boolean().default(false),
  /** When it was first remembered. */
  createdAt: z.string().max(40).optional(),
  source: z.string().max(500).optional(),
});
export type MemoryFileEntry = z.infer<typeof memoryFileEntrySchema>;
