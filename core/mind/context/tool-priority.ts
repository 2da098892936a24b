// Ranks tools for a request that has no room for all of them: the most essential first. Knows nothing about windows and budgets.

import { TOOLS_MAX, type ChatMessage, type ToolSchema } from '../../contracts/llm.ts';
import { ownWords } from './attached-files.ts';

/** The number of recent messages that are searched for the tools a conversation uses. */
const MESSAGES_MAX = 200;

/** Reading, changing and running come first; other tools follow in the given order. */
export const toolPriority: readonly string[] = [
  'read_file',
  'list_dir',
  'exec',
  'edit_file',
  'write_file',
  'grep',
  'glob',
  'web_fetch',
  'web_search',
  'recall',
  'remember',
  'knowledge_search',
  'artifact_read',
  'session_search',
  'skill',
  'append_file',
  'calc',
  'schedule',
  'message',
  'tasks',
  'http_request',
  'subagent',
  'spawn',
  'spawn_status',
  'spawn_cancel',
];

const rank = new Map(toolPriority.map((name, index) => [name, index]));

/** Returns a copy, the most needed tools first. */
export function byNeed(tools: readonly ToolSchema[]): readonly ToolSchema[] {
  return tools.toSorted((a, b) => (rank.get(a.name) ?? toolPriority.length) - (rank.get(b.name) ?? toolPriority.length));
}

/**
 * Returns the list itself if it is within the limit. Otherwise prefers, in this order: built-in tools, tools the conversation has called,
 * tools whose name and description share the most words with the newest request, and the others in the given order. The kept tools stay in
 * the given order.
 */
export function withinToolLimit(tools: readonly ToolSchema[], messages: readonly ChatMessage[]): readonly ToolSchema[] {
  if (tools.length <= TOOLS_MAX) return tools;
  const recent = messages.slice(-MESSAGES_MAX);
  const called = new Set(recent.flatMap((message) => (message.role === 'assistant' ? message.calls.map(({ tool }) => tool) : [])));
  const wanted = wordsOf(ownWords(messages.findLast(({ role }) => role === 'user')?.text ?? ''));
  const scored = tools.map((tool) => ({ tool, score: scoreOf(tool, called, wanted) }));
  const kept = new Set(
    scored
      .toSorted((a, b) => b.score - a.score)
      .slice(0, TOOLS_MAX)
      .map(({ tool }) => tool),
  );
  return tools.filter((tool) => kept.has(tool));
}

function scoreOf({ name, description }: ToolSchema, called: ReadonlySet<string>, wanted: ReadonlySet<string>): number {
  if (rank.has(name)) return Number.POSITIVE_INFINITY;
  if (called.has(name)) return Number.MAX_SAFE_INTEGER;
  return [...wordsOf(`${name} ${description}`)].filter((word) => wanted.has(word)).length;
}

/** Words of three or more characters: shorter ones occur in every sentence and distinguish nothing. */
function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu));
}
