// The tools of memory and documents: remember, recall and knowledge_search. Their ports decide what may be kept and what is untrusted; the
// tools only present it.

import * as z from 'zod';
import type { Evidence } from '../../contracts/knowledge-ops.ts';
import { memoryKindSchema, memoryTextMax, type MemoryKind, type MemoryHit } from '../../contracts/features/memory.ts';
import type { CallFacts, TaintSource, ToolContext, ToolDefinition } from '../../contracts/tools.ts';
import { defineTool, shownPath } from '../../hands/tools/tools.ts';

/** The session and turn of a call, and the key that identifies a repeated run of the same call. */
export type MemoryPlace = Pick<ToolContext, 'sessionId' | 'turnId' | 'idempotencyKey' | 'signal'>;

/** The part of memory that tools use. Its methods fail with an AppError that says why. */
export interface MemoryPort {
  remember(
    about: { readonly text: string; readonly kind: MemoryKind; readonly own: boolean; readonly importance: number },
    place: MemoryPlace,
  ): { readonly memoryId: string; readonly isKept: boolean; readonly isNew: boolean; readonly contradicts: readonly string[] };
  recall(query: string, limit: number, place: MemoryPlace): Promise<readonly MemoryHit[]>;
}

export interface KnowledgePort {
  search(
    query: string,
    about: { readonly source: string | undefined; readonly limit: number },
    signal: AbortSignal,
  ): Promise<readonly Evidence[]>;
}

/** These tools use only the program's notes and the person's documents. They change nothing outside, so the gate treats them as reads. */
const ownNotes: CallFacts = { class: 'read', paths: [], command: null, hosts: [] };

const TIMEOUT_MS = 15_000;
const PASSAGE_CHARS = 2_000;
const usualImportance = 0.5;

export function createMemoryTools(port: MemoryPort): readonly ToolDefinition[] {
  return [createRemember(port), createRecall(port)];
}

function createRemember(port: MemoryPort): ToolDefinition {
  return defineTool({
    name: 'remember',
    description:
      'Save something for later conversations: a fact, a preference of the person, a lesson, or a procedure. One thing per call. ' +
      'In a conversation that has read untrusted content it is only proposed, and the person decides.',
    input: z.strictObject({
      text: z.string().trim().min(1).max(memoryTextMax).describe('One full sentence that makes sense without this conversation.'),
      kind: memoryKindSchema.default('fact'),
      own: z.boolean().default(false).describe('Only for this agent, instead of for all.'),
      importance: z.number().min(0).max(1).default(usualImportance),
    }),
    class: 'read',
    shows: { verb: 'remember', target: ['text'] },
    idempotency: () => 'idempotent',
    timeoutMs: TIMEOUT_MS,
    facts: () => ownNotes,
    summarize: (args) => `remember: ${shownPath(args.text)}`,
    run(args, context) {
      const { memoryId, isKept, isNew, contradicts } = port.remember(args, context);
      const what = isKept ? `Remembered as ${memoryId}.` : `Proposed as ${memoryId}; the person decides whether it is kept.`;
      const open = contradicts.length === 0 ? '' : ` It contradicts what is kept: ${contradicts.map((text) => `"${text}"`).join(', ')}.`;
      return Promise.resolve({ forModel: (isNew ? what : `Already known as ${memoryId}.`) + open });
    },
  });
}

function createRecall(port: MemoryPort): ToolDefinition {
  return defineTool({
    name: 'recall',
    description:
      'Search what was remembered in earlier conversations, by words and meaning. Returns the best first, each with its kind and time.',
    input: z.strictObject({
      query: z.string().trim().min(1).max(1000).describe('What to search for.'),
      limit: z.number().int().min(1).max(50).default(8),
    }),
    class: 'read',
    shows: { verb: 'search_memory', target: ['query'] },
    isPrivate: 'memory',
    idempotency: () => 'pure',
    timeoutMs: TIMEOUT_MS,
    facts: () => ownNotes,
    summarize: (args) => `search what was remembered for ${shownPath(args.query)}`,
    async run(args, context) {
      const hits = await port.recall(args.query, args.limit, context);
      if (hits.length === 0) return { forModel: 'Nothing was remembered about that.' };
      const lines = hits.map((hit) => {
        const open =
          hit.contradictions.length === 0 ? '' : ' (not settled: it contradicts something else that was said; the person decides)';
        return `[${hit.memoryId}, ${hit.kind}, ${new Date(hit.createdAtMs).toISOString().slice(0, 10)}] ${oneLine(hit.text)}${open}`;
      });
      return { forModel: lines.join('\n'), untrusted: distinct(hits.flatMap((hit) => hit.untrusted)) };
    },
  });
}

export function createKnowledgeTool(port: KnowledgePort): ToolDefinition {
  return defineTool({
    name: 'knowledge_search',
    description: "Search the person's own documents. Returns passages with their place in brackets; cite that place when you use one.",
    input: z.strictObject({
      query: z.string().trim().min(1).max(1000).describe('What to search for.'),
      source: z.string().min(1).max(60).optional().describe('Search only the source of this name.'),
      limit: z.number().int().min(1).max(20).default(5),
    }),
    class: 'read',
    shows: { verb: 'search_documents', target: ['query'] },
    isPrivate: 'documents',
    idempotency: () => 'pure',
    timeoutMs: TIMEOUT_MS,
    facts: () => ownNotes,
    summarize: (args) => `search the documents for ${shownPath(args.query)}`,
    async run(args, context) {
      const found = await port.search(args.query, { source: args.source, limit: args.limit }, context.signal);
      if (found.length === 0) return { forModel: 'Nothing was found in the documents.' };
      const passages = found.map(({ citation, heading, text }) => {
        const cut = text.length > PASSAGE_CHARS ? `${text.slice(0, PASSAGE_CHARS)} …` : text;
        return `[${citation}]${heading === '' ? '' : ` ${heading}`}\n${cut}`;
      });
      return { forModel: passages.join('\n\n'), untrusted: distinct(found.flatMap(({ untrusted }) => untrusted)) };
    },
  });
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

function distinct(sources: readonly TaintSource[]): TaintSource[] {
  return [...new Map(sources.map((source) => [`${source.kind}:${source.where}`, source])).values()];
}
