// The operations on what is remembered and on the person's documents, a part of the table in ops.ts.

import * as z from 'zod';
import {
  importanceSchema,
  memoryKindSchema,
  memorySchema,
  memoryScopeSchema,
  memoryStateSchema,
  memoryTextMax,
  memoryTierSchema,
} from './memory.ts';
import { id, none } from './op-params.ts';
import { taintSourceSchema } from './tools.ts';

const contradictionSchema = z.object({ otherId: z.string(), otherText: z.string(), reason: z.string() });

export const memoryViewSchema = memorySchema.extend({
  state: memoryStateSchema,
  rule: z.string().nullable(),
  pinned: z.boolean(),
  tier: memoryTierSchema,
  /** What the agent is shown of it at its age. */
  shown: z.string(),
  createdAtMs: z.number().int(),
  usedAtMs: z.number().int(),
  uses: z.number().int(),
  /** Conversations in which it was brought up. */
  seenIn: z.number().int(),
  contradictions: z.array(contradictionSchema),
});
export type MemoryView = z.infer<typeof memoryViewSchema>;

export const memoryHitSchema = memoryViewSchema.extend({
  score: z.number(),
  /** Which searches found it. */
  foundBy: z.array(z.enum(['words', 'meaning'])),
});
export type MemoryHit = z.infer<typeof memoryHitSchema>;

const queryText = z.string().min(1).max(2_000);
const limit = z.number().int().min(1).max(500).optional();

export const evidenceSchema = z.object({
  /** `notes/plan.md:12-40`, `manual.pdf p. 3`, `inline:prices`. */
  citation: z.string(),
  source: z.string(),
  path: z.string(),
  startLine: z.number().int().nullable(),
  endLine: z.number().int().nullable(),
  page: z.number().int().nullable(),
  heading: z.string(),
  text: z.string(),
  score: z.number(),
  foundBy: z.array(z.enum(['words', 'meaning', 'resolver'])),
  untrusted: z.array(taintSourceSchema),
});
export type Evidence = z.infer<typeof evidenceSchema>;

const knowledgeSourceSchema = z.object({
  name: z.string(),
  kind: z.enum(['inline', 'directory', 'resolver']),
  /** Of a directory. */
  path: z.string().nullable(),
  documents: z.number().int(),
  chunks: z.number().int(),
  /** Documents that could not be taken in. */
  failed: z.number().int(),
  indexedAtMs: z.number().int().nullable(),
  /** What is wrong with the whole source, in a sentence. */
  problem: z.string().nullable(),
});

const embedderStateSchema = z.object({
  /** Null where none is configured: then words alone are searched. */
  model: z.string().nullable(),
  dimensions: z.number().int().nullable(),
  /** Texts that have no vector yet. */
  waiting: z.number().int(),
  problem: z.string().nullable(),
});

export const memoryOps = {
  /** The newest first. With a query: the best first, whatever their age, in the scopes of the agent or in all. */
  'memory.list': {
    params: z.strictObject({
      query: queryText.optional(),
      state: memoryStateSchema.optional(),
      kind: memoryKindSchema.optional(),
      scope: memoryScopeSchema.optional(),
      /** Also those that are out of use by their age; with a query they are always looked at. */
      archived: z.boolean().optional(),
      /** Only those with an open contradiction. */
      contradicted: z.boolean().optional(),
      limit,
      offset: z.number().int().min(0).optional(),
    }),
    result: z.object({
      memories: z.array(memoryViewSchema),
      counts: z.object({ kept: z.number().int(), candidates: z.number().int(), contradictions: z.number().int() }),
      embedder: embedderStateSchema,
    }),
  },
  'memory.get': { params: z.strictObject({ memoryId: id }), result: memoryViewSchema },
  /** As the agent recalls: its own and the shared ones, by words and, where there is an embedder, by meaning. */
  'memory.recall': {
    params: z.strictObject({ query: queryText, agentId: id.optional(), limit: z.number().int().min(1).max(50).optional() }),
    result: z.object({ hits: z.array(memoryHitSchema), embedder: embedderStateSchema }),
  },
  /** A person's own: kept at once. */
  'memory.add': {
    params: z.strictObject({
      text: z.string().trim().min(1).max(memoryTextMax),
      kind: memoryKindSchema.optional(),
      scope: memoryScopeSchema.optional(),
      importance: importanceSchema.optional(),
      pinned: z.boolean().optional(),
    }),
    result: memoryViewSchema,
  },
  'memory.promote': { params: z.strictObject({ memoryId: id }), result: memoryViewSchema },
  'memory.reject': { params: z.strictObject({ memoryId: id }), result: z.object({ memoryId: z.string() }) },
  'memory.pin': { params: z.strictObject({ memoryId: id, pinned: z.boolean() }), result: memoryViewSchema },
  'memory.forget': { params: z.strictObject({ memoryId: id }), result: z.object({ memoryId: z.string() }) },
  /** Of two that contradict each other: `this` and `other` forget the one not named, `both` lets them stand. */
  'memory.settle': {
    params: z.strictObject({ memoryId: id, otherId: id, keep: z.enum(['this', 'other', 'both']) }),
    result: z.object({ kept: z.array(z.string()) }),
  },
  /** What is kept, one JSON object a line; the same form is read in. */
  'memory.export': { params: none, result: z.object({ text: z.string(), count: z.number().int() }) },
  /** All or nothing; what is known already is passed over. */
  'memory.import': {
    params: z.strictObject({ text: z.string().min(1).max(20_000_000), state: memoryStateSchema.optional() }),
    result: z.object({ added: z.number().int(), known: z.number().int() }),
  },

  'knowledge.list': {
    params: none,
    result: z.object({ sources: z.array(knowledgeSourceSchema), indexing: z.boolean(), embedder: embedderStateSchema }),
  },
  /** The documents of a source, those with a problem first. */
  'knowledge.status': {
    params: z.strictObject({ source: id, limit }),
    result: z.object({
      source: knowledgeSourceSchema,
      documents: z.array(
        z.object({
          path: z.string(),
          title: z.string(),
          mediaType: z.string(),
          sizeBytes: z.number().int(),
          chunks: z.number().int(),
          indexedAtMs: z.number().int(),
          problem: z.string().nullable(),
        }),
      ),
    }),
  },
  'knowledge.search': {
    params: z.strictObject({ query: queryText, source: id.optional(), limit: z.number().int().min(1).max(50).optional() }),
    result: z.object({ evidence: z.array(evidenceSchema), embedder: embedderStateSchema }),
  },
  /** Looks at every document of a source, or of all, again; waits until that is done. */
  'knowledge.reindex': {
    params: z.strictObject({ source: id.optional() }),
    result: z.object({ documents: z.number().int(), changed: z.number().int(), removed: z.number().int(), failed: z.number().int() }),
  },
} as const;
