// Memory and the person's documents: the settings, the events and the operations. Used by events.ts, ops.ts and config.ts.

import * as z from 'zod';
import { webUrlSchema } from '../web-url.ts';
import { agentName, defineOps, id, most, none } from '../define-ops.ts';
import { naming } from '../named-things.ts';
import { secretRefSchema } from '../secret-ref.ts';
import { taintSourceSchema } from '../tools.ts';

export const memoryKinds = ['fact', 'preference', 'lesson', 'procedure'] as const;
export const memoryKindSchema = z.enum(memoryKinds);
export type MemoryKind = z.infer<typeof memoryKindSchema>;

/** candidate: proposed, not used until it is promoted. kept: in use. */
export const memoryStates = ['candidate', 'kept'] as const;
export const memoryStateSchema = z.enum(memoryStates);
export type MemoryState = z.infer<typeof memoryStateSchema>;

/** By the time since the last use: the whole text, one sentence, a few words, or archived. A pinned memory is always shown in full. */
export const memoryTiers = ['full', 'summary', 'marker', 'archived'] as const;
export const memoryTierSchema = z.enum(memoryTiers);
export type MemoryTier = z.infer<typeof memoryTierSchema>;

export const sharedScope = 'shared';
/** For all agents, or for one. */
export const memoryScopeSchema = z
  .string()
  .regex(/^(shared|agent:[a-z][a-z0-9_-]{0,39})$/, 'must be shared, or agent: and the id of an agent');
const knownScopeSchema = naming('agent', memoryScopeSchema, (scope) => (scope === sharedScope ? null : scope.slice('agent:'.length)));

export const memoryTextMax = 2_000;
const textSchema = z.string().trim().min(1).max(memoryTextMax);
export const importanceSchema = z.number().min(0).max(1);

/** The origin of a memory, with references to look it up. */
export const memoryOriginSchema = z.object({
  by: z.enum(['person', 'agent', 'turn', 'import']),
  actor: z.string(),
  sessionId: z.string().nullable(),
  turnId: z.string().nullable(),
});

export const memorySchema = z.object({
  memoryId: z.string(),
  kind: memoryKindSchema,
  text: textSchema,
  scope: memoryScopeSchema,
  importance: importanceSchema,
  origin: memoryOriginSchema,
  /** The untrusted sources from which it may derive. If there are any, only a person can promote it. */
  untrusted: z.array(taintSourceSchema),
});
export type Memory = z.infer<typeof memorySchema>;

/** The fields of an entry in a memory file. The other fields of a memory are set when it is imported. */
export const memoryFileEntrySchema = z.strictObject({
  kind: memoryKindSchema,
  text: textSchema,
  scope: memoryScopeSchema.default(sharedScope),
  importance: importanceSchema.default(0.5),
  pinned: z.boolean().default(false),
  /** When it was first remembered. */
  createdAt: z.string().max(40).optional(),
  source: z.string().max(500).optional(),
  /** The untrusted sources that it may derive from. */
  untrusted: z.array(taintSourceSchema).max(200).default([]),
});
export type MemoryFileEntry = z.infer<typeof memoryFileEntrySchema>;

export const sourceNameSchema = z.string().regex(/^[A-Za-z0-9_-]{1,60}$/, 'a name has letters, digits, - and _, at most 60');
export const endingsSchema = z
  .array(z.string().regex(/^[A-Za-z0-9]{1,12}$/, 'an ending has letters and digits, without the dot'))
  .min(1)
  .max(100);

const embedderSettings = {
  model: z.string().min(1).max(200),
  /** Requested from servers that can shorten their vectors, and checked against their answers. */
  dimensions: z.number().int().min(8).max(4096).optional(),
};

const embeddingsSchema = z.discriminatedUnion('kind', [
  /** POST {baseUrl}/embeddings, the API of OpenAI, LM Studio, llama-server and most others. */
  z.strictObject({
    kind: z.literal('openai-compatible'),
    baseUrl: webUrlSchema,
    apiKey: secretRefSchema.optional(),
    /** Without a price, the cost of embedding is unknown and only token limits apply. */
    usdPerMillionTokens: z.number().nonnegative().optional(),
    ...embedderSettings,
  }),
  z.strictObject({ kind: z.literal('ollama'), baseUrl: webUrlSchema.default('http://127.0.0.1:11434'), ...embedderSettings }),
  /** A GGUF file of the person, run by the engine that `trayclaw model install-engine` adds. */
  z.strictObject({
    kind: z.literal('embedded'),
    file: z.string().min(1).max(1000),
    dimensions: z.number().int().min(8).max(4096).optional(),
  }),
  /** A GGUF file of the person, served by llama-server, which starts on first use. */
  z.strictObject({
    kind: z.literal('gguf'),
    /** The llama-server program. A bare name is searched on the PATH. */
    program: z.string().min(1).max(500).default('llama-server'),
    file: z.string().min(1).max(1000),
    dimensions: z.number().int().min(8).max(4096).optional(),
  }),
]);

const inlineSchema = z.strictObject({
  kind: z.literal('inline'),
  title: z.string().trim().min(1).max(200).optional(),
  text: z.string().min(1).max(200_000),
});

const directorySchema = z.strictObject({
  kind: z.literal('directory'),
  /** Absolute, or relative to the workspace. */
  path: z.string().min(1).max(1000),
  /** The extensions of the files to read, without the dot; defaults to all readable ones. */
  endings: endingsSchema.optional(),
  watch: z.boolean().default(true),
  filesMax: z.number().int().min(1).max(100_000).default(10_000),
  fileBytesMax: z.number().int().min(1024).max(100_000_000).default(20_000_000),
});

const fileSchema = z.strictObject({
  kind: z.literal('file'),
  /** Absolute, or relative to the workspace. */
  path: z.string().min(1).max(1000),
  watch: z.boolean().default(true),
  fileBytesMax: z.number().int().min(1024).max(100_000_000).default(20_000_000),
});

export const mindSections = {
  /** The model for vector search. Without it there is only full-text search. */
  embeddings: embeddingsSchema.optional(),
  memory: z
    .strictObject({
      enabled: z.boolean().default(true),
      /** Searches the person's messages for facts worth remembering. */
      fromTurns: z.boolean().default(true),
      /** The maximum number of memories that the model sees in a turn. */
      snippetsMax: z.number().int().min(0).max(50).default(6),
      candidatesMax: z.number().int().min(1).max(100_000).default(500),
    })
    .prefault({}),
  knowledge: z
    .strictObject({
      sources: z.record(sourceNameSchema, z.discriminatedUnion('kind', [inlineSchema, directorySchema, fileSchema])).default({}),
      /** Adds evidence to the prompt automatically if a question seems to be about the documents. */
      inContext: z.boolean().default(true),
      evidenceMax: z.number().int().min(1).max(20).default(4),
    })
    .prefault({}),
};

const memoryId = z.string();

export const memoryEvents = {
  /** `rule` says why it is kept at once; null for a candidate. `pinned` is set if it was pinned from the start. */
  'memory.remembered': z.object({
    memory: memorySchema,
    state: memoryStateSchema,
    rule: z.string().nullable(),
    pinned: z.boolean().optional(),
    /** Set if it is older than its event, because it was imported. */
    createdAtMs: z.number().int().optional(),
  }),
  /** The same statement was mentioned again. A conversation counts once. */
  'memory.repeated': z.object({ memoryId, sessionId: z.string().nullable(), turnId: z.string().nullable(), by: z.string() }),
  'memory.promoted': z.object({ memoryId, by: z.string(), rule: z.string() }),
  'memory.rejected': z.object({ memoryId, by: z.string() }),
  'memory.pinned': z.object({ memoryId, pinned: z.boolean(), by: z.string() }),
  /** A turn included these memories, or a call found them. Recorded at most once a day for each. */
  'memory.recalled': z.object({ memoryIds: z.array(memoryId).min(1), sessionId: z.string(), turnId: z.string().nullable() }),
  /** The two cannot both be true. A person resolves the contradiction. */
  'memory.contradicted': z.object({ memoryId, otherId: z.string(), reason: z.string() }),
  'memory.settled': z.object({ memoryId, otherId: z.string(), keep: z.enum(['this', 'other', 'both']), by: z.string() }),
  /** No longer used. The log still records that it existed. */
  'memory.forgotten': z.object({ memoryId, by: z.string(), reason: z.string() }),
  /** Usage of the embedding model: one event for a batch of texts, or for several queries together. */
  'embedding.used': z.object({
    model: z.string(),
    purpose: z.enum(['texts', 'questions']),
    count: z.number().int().positive(),
    tokens: z.number().int().nonnegative(),
    /** False if the server reported no count and this is an estimate. */
    tokensReported: z.boolean(),
    /** Null if the price is unknown. */
    costUsd: z.number().nonnegative().nullable(),
    tookMs: z.number().nonnegative(),
  }),
} as const;

const contradictionSchema = z.object({ otherId: z.string(), otherText: z.string(), reason: z.string() });

export const memoryViewSchema = memorySchema.extend({
  state: memoryStateSchema,
  rule: z.string().nullable(),
  pinned: z.boolean(),
  tier: memoryTierSchema,
  /** The text that the agent sees at the memory's current tier. */
  shown: z.string(),
  createdAtMs: z.number().int(),
  usedAtMs: z.number().int(),
  uses: z.number().int(),
  /** The number of conversations that mentioned it. */
  seenIn: z.number().int(),
  contradictions: z.array(contradictionSchema),
});
export type MemoryView = z.infer<typeof memoryViewSchema>;

export const memoryHitSchema = memoryViewSchema.extend({
  score: z.number(),
  foundBy: z.array(z.enum(['words', 'meaning', 'source'])),
});
export type MemoryHit = z.infer<typeof memoryHitSchema>;

const queryText = z.string().min(1).max(2_000);
const limit = z.number().int().min(1).max(500).optional();

export const embedderStateSchema = z.object({
  /** Null if no embedder is configured; there is only full-text search then. */
  model: z.string().nullable(),
  dimensions: z.number().int().nullable(),
  /** The number of texts that have no vector yet. */
  waiting: z.number().int(),
  problem: z.string().nullable(),
});

export const memoryOps = defineOps({
  /** Newest first. With a query: best first, of any age, in the scopes of the agent or in all scopes. */
  'memory.list': {
    params: z.strictObject({
      query: queryText.optional(),
      state: memoryStateSchema.optional(),
      kind: memoryKindSchema.optional(),
      scope: memoryScopeSchema.optional(),
      /** Includes archived memories. With a query they are always searched. */
      archived: z.boolean().optional(),
      /** Only memories with an open contradiction. */
      contradicted: z.boolean().optional(),
      limit,
      offset: z.number().int().min(0).optional(),
    }),
    result: z.object({
      memories: z.array(memoryViewSchema),
      counts: z.object({ kept: z.number().int(), candidates: z.number().int(), contradictions: z.number().int() }),
      embedder: embedderStateSchema,
    }),
    about: 'list memories, newest first; with a query, best first',
    commands: {
      'memory list': {
        options: {
          query: 'words to search for',
          state: 'in this state only',
          kind: 'of this kind only',
          scope: 'shared, or agent:ID',
          archived: 'also memories that faded with age',
          contradicted: 'only what contradicts something else',
          limit: most,
          offset: 'how many to skip at the beginning',
        },
        example: '--kind preference --limit 10',
      },
    },
  },
  'memory.get': {
    params: z.strictObject({ memoryId: id }),
    result: memoryViewSchema,
    about: 'show a memory and where it came from',
    commands: { 'memory show': { takes: ['memoryId'], example: 'mem_01JD7Q' } },
  },
  /** Recalls as the agent does: searches its own and shared memories by full-text search and, if there is an embedder, by vector search. */
  'memory.recall': {
    params: z.strictObject({ query: queryText, agentId: agentName.optional(), limit: z.number().int().min(1).max(50).optional() }),
    result: z.object({ hits: z.array(memoryHitSchema), embedder: embedderStateSchema }),
    about: 'search memory as the agent does',
    commands: {
      'memory recall': {
        alias: 'search',
        takes: ['query...'],
        options: { agentId: 'as this agent; main by default', limit: most },
        example: 'favourite tea',
      },
    },
  },
  /** A memory that a person adds. It is kept at once. */
  'memory.add': {
    params: z.strictObject({
      text: z.string().trim().min(1).max(memoryTextMax),
      kind: memoryKindSchema.optional(),
      scope: knownScopeSchema.optional(),
      importance: importanceSchema.optional(),
      pinned: z.boolean().optional(),
    }),
    result: memoryViewSchema,
    about: 'add a memory; it is kept at once',
    forPerson: true,
    commands: {
      'memory add': {
        takes: ['text...'],
        options: {
          kind: 'what kind of memory it is',
          scope: 'shared, or agent:ID',
          importance: '0 to 1',
          pinned: { flag: 'pin', about: 'it never fades' },
        },
        example: 'I prefer green tea. --kind preference',
      },
    },
  },
  'memory.promote': {
    params: z.strictObject({ memoryId: id }),
    result: memoryViewSchema,
    about: 'keep a candidate',
    forPerson: true,
    commands: { 'memory promote': { takes: ['memoryId'], example: 'mem_01JD7Q' } },
  },
  'memory.reject': {
    params: z.strictObject({ memoryId: id }),
    result: z.object({ memoryId: z.string() }),
    about: 'drop a candidate',
    shows: 'Dropped {memoryId}.',
    forPerson: true,
    commands: { 'memory reject': { takes: ['memoryId'], example: 'mem_01JD7Q' } },
  },
  'memory.pin': {
    params: z.strictObject({ memoryId: id, pinned: z.boolean() }),
    result: memoryViewSchema,
    about: 'keep a memory from decaying',
    forPerson: true,
    commands: {
      'memory pin': {
        takes: ['memoryId'],
        sets: { pinned: true },
        options: { '--undo': { about: 'let it decay again', sets: { pinned: false } } },
        example: 'mem_01JD7Q',
      },
    },
  },
  'memory.forget': {
    params: z.strictObject({ memoryId: id }),
    result: z.object({ memoryId: z.string() }),
    about: 'forget a memory',
    shows: 'Forgot {memoryId}.',
    forPerson: true,
    commands: { 'memory forget': { takes: ['memoryId'], example: 'mem_01JD7Q' } },
  },
  /** Resolves a contradiction: `this` and `other` forget the other memory of the two, `both` keeps both. */
  'memory.settle': {
    params: z.strictObject({ memoryId: id, otherId: id, keep: z.enum(['this', 'other', 'both']) }),
    result: z.object({ kept: z.array(z.string()) }),
    about: 'settle a contradiction between two memories',
    shows: 'Kept: {kept}.',
    forPerson: true,
    commands: {
      'memory settle': {
        takes: ['memoryId', 'otherId', 'keep'],
        words: { keep: 'the one to keep' },
        example: 'mem_01JD7Q mem_01JD8R this',
      },
    },
  },
  /** All memories, one JSON object per line. `memory.import` reads the same format. */
  'memory.export': {
    params: none,
    result: z.object({ text: z.string(), count: z.number().int() }),
    about: 'export the memories, one JSON object per line',
    commands: { 'memory export': { options: { '-o, --out <file>': 'write it to a new file' }, example: '--out memories.jsonl' } },
  },
  /** Imports all entries or none. Known memories are skipped. */
  'memory.import': {
    params: z.strictObject({ text: z.string().min(1).max(20_000_000), state: memoryStateSchema.optional() }),
    result: z.object({ added: z.number().int(), known: z.number().int() }),
    about: 'import memories from an export, all or none; known ones are skipped',
    shows: 'Imported {added}; {known} were already there.',
    forPerson: true,
    commands: {
      'memory import': {
        about: 'import memories from an exported file; - reads standard input',
        takes: [':file'],
        paths: [':file'],
        options: { state: 'the state they get; as exported when left out' },
        example: '- --state candidate < memories.jsonl',
      },
    },
  },
});
