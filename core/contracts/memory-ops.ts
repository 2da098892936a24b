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
import { endingsSchema, sourceNameSchema } from './mind-config.ts';
import { holdsSchema, id, none } from './op-params.ts';
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
  foundBy: z.array(z.enum(['words', 'meaning', 'source'])),
});
export type MemoryHit = z.infer<typeof memoryHitSchema>;

const sourcePath = z.string().trim().min(1).max(1000);
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
  kind: z.enum(['inline', 'directory', 'file', 'resolver']),
  /** Of a directory or a file. */
  path: z.string().nullable(),
  documents: z.number().int(),
  chunks: z.number().int(),
  /** Documents that could not be taken in. */
  failed: z.number().int(),
  indexedAtMs: z.number().int().nullable(),
  /** What is wrong with the whole source, in a sentence. */
  problem: z.string().nullable(),
  /** While it is read: files that are done, of so many. */
  progress: z.object({ done: z.number().int(), total: z.number().int() }).nullable(),
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
  /** What adding a folder or a file would come to; changes nothing. */
  'knowledge.preview': {
    params: z.strictObject({ path: sourcePath, endings: endingsSchema.optional() }),
    result: z.object({
      /** Absolute, and real where it is there. */
      path: z.string(),
      kind: z.enum(['directory', 'file']).nullable(),
      /** Outside of what is open to the agent: as a source it is opened for reading. */
      outside: z.boolean(),
      /** That can be read as documents. */
      files: z.number().int(),
      /** There are more than are counted. */
      more: z.boolean(),
      /** Why it cannot be added, in a sentence. */
      problem: z.string().nullable(),
    }),
  },
  /** A folder, a file or a text from now on; its place in config.yaml is knowledge.sources. Reading goes on in the background. */
  'knowledge.add': {
    params: z
      .strictObject({
        name: sourceNameSchema,
        /** Absolute, or below the workspace; `~` is the person's own folder. */
        path: sourcePath.optional(),
        endings: endingsSchema.optional(),
        watch: z.boolean().optional(),
        /** In place of a path: the text itself, Markdown. */
        text: z.string().min(1).max(200_000).optional(),
        title: z.string().trim().min(1).max(200).optional(),
        /** A person knows that it lies outside of what is open to the agent. */
        outside: z.boolean().optional(),
      })
      .refine(({ path, text }) => (path === undefined) !== (text === undefined), 'a source has either a path or a text'),
    result: z.object({ source: z.string(), path: z.string().nullable(), holds: holdsSchema }),
  },
  /** It is found no more. Its setting is handed back, so that it can be put back with config.set. */
  'knowledge.remove': {
    params: z.strictObject({ source: sourceNameSchema }),
    result: z.object({ source: z.string(), setting: z.record(z.string(), z.unknown()), holds: holdsSchema }),
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
