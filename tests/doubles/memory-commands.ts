// For tests only: a fake instance's answers about memory and documents, and the commands about them, each with the operation it calls.

import type { OpHandlers, OpName } from '../../core/contracts/ops.ts';
import type { Evidence } from '../../core/contracts/knowledge-ops.ts';
import type { MemoryView } from '../../core/contracts/features/memory.ts';

export const memoryView: MemoryView = {
  memoryId: 'mem_1',
  kind: 'preference',
  text: 'I prefer tabs.',
  scope: 'shared',
  importance: 0.6,
  origin: { by: 'person', actor: 'cli', sessionId: null, turnId: null },
  untrusted: [],
  state: 'kept',
  rule: 'a person added it',
  pinned: false,
  tier: 'full',
  shown: 'I prefer tabs.',
  createdAtMs: 1,
  usedAtMs: 1,
  uses: 0,
  seenIn: 0,
  contradictions: [],
};
const embedder = { model: null, dimensions: null, waiting: 0, problem: null };
const source = {
  name: 'notes',
  kind: 'directory' as const,
  path: '/n',
  documents: 1,
  chunks: 2,
  failed: 0,
  indexedAtMs: 1,
  problem: null,
  progress: null,
};
const evidence: Evidence = {
  citation: 'notes/plan.md:1-2',
  source: 'notes',
  path: 'plan.md',
  startLine: 1,
  endLine: 2,
  page: null,
  heading: 'Plan',
  text: 'The plan.',
  score: 1,
  foundBy: ['words'],
  untrusted: [],
};

export const memoryAnswers: Partial<OpHandlers> = {
  'memory.list': () => ({ memories: [memoryView], counts: { kept: 1, candidates: 0, contradictions: 0 }, embedder }),
  'memory.get': () => memoryView,
  'memory.recall': () => ({ hits: [{ ...memoryView, score: 1, foundBy: ['words'] }], embedder }),
  'memory.add': () => memoryView,
  'memory.promote': () => memoryView,
  'memory.reject': ({ memoryId }) => ({ memoryId }),
  'memory.pin': () => memoryView,
  'memory.forget': ({ memoryId }) => ({ memoryId }),
  'memory.settle': ({ memoryId }) => ({ kept: [memoryId] }),
  'memory.export': () => ({ text: '{}\n', count: 1 }),
  'memory.import': () => ({ added: 1, known: 0 }),
  'knowledge.list': () => ({ sources: [source], indexing: false, embedder }),
  'knowledge.status': () => ({ source, documents: [] }),
  'knowledge.search': () => ({ evidence: [evidence], embedder }),
  'knowledge.add': ({ name, path }) => ({ source: name, path: path ?? null, holds: 'now' }),
  'knowledge.preview': ({ path }) => ({ path, kind: 'directory', outside: false, files: 3, more: false, problem: null }),
  'knowledge.remove': ({ source: name }) => ({ source: name, setting: { kind: 'directory', path: '/n' }, holds: 'now' }),
  'knowledge.reindex': () => ({ documents: 1, changed: 1, removed: 0, failed: 0 }),
};

const listed = { memories: [memoryView], counts: { kept: 1, candidates: 0, contradictions: 0 }, embedder };

const recalled = { hits: [{ ...memoryView, score: 1, foundBy: ['words'] }], embedder };

export const memoryCommands: readonly { argv: string[]; op: OpName; params: unknown; json: unknown; stdin?: string }[] = [
  {
    argv: ['memory', 'list', '--query', 'tabs', '--state', 'kept', '--kind', 'fact', '--scope', 'shared', '--archived', '--limit', '3'],
    op: 'memory.list',
    params: { query: 'tabs', state: 'kept', kind: 'fact', scope: 'shared', archived: true, limit: 3 },
    json: listed,
  },
  { argv: ['memory', 'search', 'cats'], op: 'memory.recall', params: { query: 'cats' }, json: recalled },
  {
    argv: ['memory', 'recall', 'two', 'words', '--agent', 'scout'],
    op: 'memory.recall',
    params: { query: 'two words', agentId: 'scout' },
    json: recalled,
  },
  {
    argv: ['memory', 'add', 'I', 'prefer', 'tabs.', '--kind', 'preference', '--importance', '0.9', '--pin'],
    op: 'memory.add',
    params: { text: 'I prefer tabs.', kind: 'preference', importance: 0.9, pinned: true },
    json: memoryView,
  },
  { argv: ['memory', 'show', 'mem_1'], op: 'memory.get', params: { memoryId: 'mem_1' }, json: memoryView },
  { argv: ['memory', 'promote', 'mem_1'], op: 'memory.promote', params: { memoryId: 'mem_1' }, json: memoryView },
  { argv: ['memory', 'reject', 'mem_1'], op: 'memory.reject', params: { memoryId: 'mem_1' }, json: { memoryId: 'mem_1' } },
  { argv: ['memory', 'forget', 'mem_1'], op: 'memory.forget', params: { memoryId: 'mem_1' }, json: { memoryId: 'mem_1' } },
  { argv: ['memory', 'pin', 'mem_1', '--undo'], op: 'memory.pin', params: { memoryId: 'mem_1', pinned: false }, json: memoryView },
  {
    argv: ['memory', 'settle', 'mem_1', 'mem_2', 'this'],
    op: 'memory.settle',
    params: { memoryId: 'mem_1', otherId: 'mem_2', keep: 'this' },
    json: { kept: ['mem_1'] },
  },
  { argv: ['memory', 'export'], op: 'memory.export', params: {}, json: { text: '{}\n', count: 1 } },
  {
    argv: ['memory', 'import', '-', '--state', 'candidate'],
    op: 'memory.import',
    params: { text: '{}\n', state: 'candidate' },
    json: { added: 1, known: 0 },
    stdin: '{}\n',
  },
  {
    argv: ['knowledge', 'list'],
    op: 'knowledge.list',
    params: {},
    json: { sources: [source], indexing: false, embedder },
  },
  { argv: ['knowledge', 'status', 'notes'], op: 'knowledge.status', params: { source: 'notes' }, json: { source, documents: [] } },
  {
    argv: ['knowledge', 'search', 'the', 'plan', '--source', 'notes', '--limit', '2'],
    op: 'knowledge.search',
    params: { query: 'the plan', source: 'notes', limit: 2 },
    json: { evidence: [evidence], embedder },
  },
  {
    argv: ['knowledge', 'add', 'notes', 'sub', '--endings', 'md,.txt', '--no-watch', '--outside', '--no-wait'],
    op: 'knowledge.add',
    params: { name: 'notes', path: '/work-folder/sub', endings: ['md', 'txt'], watch: false, outside: true },
    json: { source: 'notes', path: '/work-folder/sub', holds: 'now' },
  },
  {
    argv: ['knowledge', 'add', 'prices', '--text', 'One costs two.', '--title', 'Prices', '--no-wait'],
    op: 'knowledge.add',
    params: { name: 'prices', text: 'One costs two.', title: 'Prices' },
    json: { source: 'prices', path: null, holds: 'now' },
  },
  {
    argv: ['knowledge', 'preview', '~/notes', '--endings', 'md'],
    op: 'knowledge.preview',
    params: { path: '/home/person/notes', endings: ['md'] },
    json: { path: '/home/person/notes', kind: 'directory', outside: false, files: 3, more: false, problem: null },
  },
  {
    argv: ['knowledge', 'remove', 'notes'],
    op: 'knowledge.remove',
    params: { source: 'notes' },
    json: { source: 'notes', setting: { kind: 'directory', path: '/n' }, holds: 'now' },
  },
  {
    argv: ['knowledge', 'reindex', 'notes'],
    op: 'knowledge.reindex',
    params: { source: 'notes' },
    json: { documents: 1, changed: 1, removed: 0, failed: 0 },
  },
];
