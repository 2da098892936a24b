// The session_search tool: finds earlier messages by their words. The session store does the search.

import * as z from 'zod';
import { defineTool } from './define-tool.ts';
import type { ToolDefinition } from '../../contracts/tools.ts';
import { shownPath } from './path-argument.ts';

const input = z.strictObject({
  query: z.string().min(1).max(1000).describe('Words to search for.'),
  limit: z.number().int().min(1).max(50).default(10).describe('Maximum number of results.'),
});

export function createSessionSearch(): ToolDefinition {
  return defineTool({
    name: 'session_search',
    description: 'Search all earlier conversations; returns short excerpts with their session and time.',
    input,
    class: 'read',
    shows: { verb: 'search_sessions', target: ['query'] },
    isPrivate: 'sessions',
    idempotency: () => 'pure',
    timeoutMs: 15_000,
    facts: () => ({ class: 'read', paths: [], command: null, hosts: [] }),
    summarize: (args) => `search earlier conversations for ${shownPath(args.query)}`,
    run(args, context) {
      const hits = context.searchSessions(args.query, args.limit);
      if (hits.length === 0) return Promise.resolve({ forModel: 'Nothing was found.' });
      const lines = hits.slice(0, args.limit).map((hit) => {
        const when = new Date(hit.atMs).toISOString().slice(0, 16).replace('T', ' ');
        return `[${hit.sessionId} #${hit.seq}, ${when} UTC, ${hit.type}] ${hit.excerpt.replace(/\s+/g, ' ').trim()}`;
      });
      return Promise.resolve({ forModel: lines.join('\n') });
    },
  });
}
