// Slash commands that need no runtime: which operations they ask for.

import { expect, test } from 'vitest';
import { createCommandOps } from './command-ops.ts';

type Parts = Parameters<typeof createCommandOps>;

test('words after /sessions are searched for, and no session is listed for them', async () => {
  const hit = { sessionId: 'ses_1', title: 'Plans', excerpt: 'calc', seq: 1, atMs: 1, turnId: null };
  const asked: unknown[] = [];
  const search = (params: unknown) => {
    asked.push(params);
    return { hits: [hit] };
  };
  const parts = { tools: { list: () => [] } } as unknown as Parts[0];
  const ops = createCommandOps(parts, { 'session.search': search } as unknown as Parts[1]);
  const ran = await ops['command.run'](
    { line: '/sessions calc two' },
    { channel: 'cli', actor: 'tests', gone: new AbortController().signal },
  );
  expect([ran.text, asked]).toEqual(['- `ses_1` Plans: calc', [{ query: 'calc two', limit: 20, each: 'session' }]]);
});
