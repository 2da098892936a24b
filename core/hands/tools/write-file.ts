// The write_file tool: writes a whole file atomically. Idempotent, so it may be repeated after a crash.

import * as z from 'zod';
import { defineTool } from './define-tool.ts';
import type { ToolDefinition } from '../../contracts/tools.ts';
import { contentHash, writeAtomically } from './atomic-write.ts';
import { formatBytes } from './bound-text.ts';
import type { CheckedPaths } from './checked-paths.ts';
import { newFileArgument, shownPath } from './path-argument.ts';
import { readBytes } from './text-file.ts';

const input = z.strictObject({
  path: newFileArgument,
  content: z.string().describe('The complete new content of the file.'),
});

export function createWriteFile(deps: { readonly paths: CheckedPaths }): ToolDefinition {
  return defineTool({
    name: 'write_file',
    description: 'Write a file, replacing what was there; creates missing parent folders. Use edit_file to change part of a file.',
    input,
    class: 'write',
    shows: { verb: 'write', target: ['path'] },
    idempotency: () => 'idempotent',
    timeoutMs: 60_000,
    facts: (args, context) => deps.paths.callFacts(args, args.path, 'write', context),
    summarize: (args) => `write ${shownPath(args.path)} (${formatBytes(Buffer.byteLength(args.content))})`,
    async run(args, context) {
      const { real } = deps.paths.confirm(args, args.path, 'write', context);
      context.signal.throwIfAborted();
      await writeAtomically(real, args.content, temporarySuffix(context.callId));
      return { forModel: `Wrote ${args.path} (${formatBytes(Buffer.byteLength(args.content))}).` };
    },
    preview: (args, context) => Promise.resolve({ path: deps.paths.look(args.path, context), after: args.content }),
    async verify(args, context) {
      const { real } = deps.paths.confirm(args, args.path, 'write', context);
      const found = await readBytes(real, 'verify');
      const same = contentHash(found) === contentHash(args.content);
      return { ok: same, detail: same ? `${args.path} holds what was written` : `${args.path} does not hold what was written` };
    },
  });
}

/** Names the temporary file after the call, so that a file left by a crash shows where it came from. */
export function temporarySuffix(callId: string): string {
  return callId.replace(/[^A-Za-z0-9_-]/g, '').slice(-40) || 'call';
}
