// Which tools stay when a window has no room for all: those an agent can do least without, in this order. Names only.

import type { ToolSchema } from '../../contracts/llm.ts';

/** Look, change and run first; what is not named here comes after these, in the order given. */
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
];

const rank = new Map(toolPriority.map((name, index) => [name, index]));

/** The most needed first; the list itself is left as it is. */
export function byNeed(tools: readonly ToolSchema[]): readonly ToolSchema[] {
  return tools.toSorted((a, b) => (rank.get(a.name) ?? toolPriority.length) - (rank.get(b.name) ?? toolPriority.length));
}
