// Document sources and passages, and the operations on them. The events and settings of memories and documents are in memory.ts.

import * as z from 'zod';
import { defineOps, holdsSchema, id, most, none } from './define-ops.ts';
import { taintSourceSchema } from './tools.ts';
import { embedderStateSchema, endingsSchema, sourceNameSchema } from './features/memory.ts';

const sourcePath = z.string().trim().min(1).max(1000);
const queryText = z.string().min(1).max(2_000);
const limit = z.number().int().min(1).max(500).optional();

export const evidenceSchema = z.object({
  /** For example `notes/plan.md:12-40`, `manual.pdf p. 3`, `inline:prices`. */
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
  /** The path of a directory or a file. */
  path: z.string().nullable(),
  documents: z.number().int(),
  chunks: z.number().int(),
  /** The number of documents that could not be read. */
  failed: z.number().int(),
  indexedAtMs: z.number().int().nullable(),
  /** Why the whole source failed, as a sentence. */
  problem: z.string().nullable(),
  /** While the source is being read: finished files out of all. */
  progress: z.object({ done: z.number().int(), total: z.number().int() }).nullable(),
});

export const knowledgeOps = defineOps({
  'knowledge.list': {
    params: none,
    result: z.object({ sources: z.array(knowledgeSourceSchema), indexing: z.boolean(), embedder: embedderStateSchema }),
    about: 'list the document sources and the state of vector search',
    commands: { 'knowledge list': { example: '' } },
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
    about: 'list the documents of a source, those with a problem first',
    commands: { 'knowledge status': { takes: ['source'], options: { limit: most }, example: 'notes' } },
  },
  /** Previews adding a folder or a file; changes nothing. */
  'knowledge.preview': {
    params: z.strictObject({ path: sourcePath, endings: endingsSchema.optional() }),
    result: z.object({
      /** Absolute; symbolic links are resolved if the path exists. */
      path: z.string(),
      kind: z.enum(['directory', 'file']).nullable(),
      /** Outside the folders open to the agent. As a source, it is opened for reading. */
      outside: z.boolean(),
      /** The number of files that are readable as documents. */
      files: z.number().int(),
      /** Whether there are more files than were counted. */
      more: z.boolean(),
      /** Why it cannot be added, as a sentence. */
      problem: z.string().nullable(),
    }),
    about: 'show what adding a folder or a file would index; changes nothing',
    commands: {
      'knowledge preview': {
        takes: ['path'],
        paths: ['path'],
        options: { '--endings <list>': 'only these, such as md,txt' },
        example: './notes --endings md',
      },
    },
  },
  /** Adds a folder, a file or a text to knowledge.sources in config.yaml. Indexing continues in the background. */
  'knowledge.add': {
    params: z
      .strictObject({
        name: sourceNameSchema,
        /** Absolute, or relative to the workspace; `~` is the person's home folder. */
        path: sourcePath.optional(),
        endings: endingsSchema.optional(),
        watch: z.boolean().optional(),
        /** Instead of a path: the text itself, as Markdown. */
        text: z.string().min(1).max(200_000).optional(),
        title: z.string().trim().min(1).max(200).optional(),
        /** A person confirmed that the path may be outside the folders open to the agent. */
        outside: z.boolean().optional(),
      })
      .refine(({ path, text }) => (path === undefined) !== (text === undefined), 'a source has either a path or a text'),
    result: z.object({ source: z.string(), path: z.string().nullable(), holds: holdsSchema }),
    about: 'add a folder, a file or a text to search',
    forPerson: true,
    commands: {
      'knowledge add': {
        takes: ['name', 'path?'],
        paths: ['path'],
        options: {
          '--endings <list>': 'only these, such as md,txt',
          '--no-watch': { about: 'look every ten minutes only, instead of following changes', sets: { watch: false } },
          text: { flag: 'text <markdown>', about: 'in place of a path: the text itself; - for standard input' },
          title: 'of the text',
          outside: 'it may lie outside of the folders that are open to the agent',
          '--no-wait': 'do not wait until it is read',
        },
        example: "prices --text 'One ticket costs two euros.'",
      },
    },
  },
  /** Removes a source. Returns its setting, so that config.set can restore it. */
  'knowledge.remove': {
    params: z.strictObject({ source: sourceNameSchema }),
    result: z.object({ source: z.string(), setting: z.record(z.string(), z.unknown()), holds: holdsSchema }),
    about: 'remove a source; the documents stay where they are',
    forPerson: true,
    commands: { 'knowledge remove': { takes: ['source'], example: 'notes' } },
  },
  'knowledge.search': {
    params: z.strictObject({ query: queryText, source: id.optional(), limit: z.number().int().min(1).max(50).optional() }),
    result: z.object({ evidence: z.array(evidenceSchema), embedder: embedderStateSchema }),
    about: 'search the documents; each passage with its citation',
    commands: {
      'knowledge search': {
        takes: ['query...'],
        options: { source: 'in this source only', limit: most },
        example: 'ticket price --limit 3',
      },
    },
  },
  /** Rereads every document of a source, or of all sources. Waits until that is done. */
  'knowledge.reindex': {
    params: z.strictObject({ source: id.optional() }),
    result: z.object({ documents: z.number().int(), changed: z.number().int(), removed: z.number().int(), failed: z.number().int() }),
    about: 'index every document again, of one source or of all',
    shows: '{documents} documents: {changed} read, {removed} taken out, {failed} could not be read.',
    commands: { 'knowledge reindex': { takes: ['source?'], example: 'notes' } },
  },
});
