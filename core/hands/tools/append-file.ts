// The append_file tool: adds text at the end of a file, in one write. Never repeated automatically.

import { constants } from 'node:fs';
import * as z from 'zod';
import { defineTool } from './define-tool.ts';
import type { ToolDefinition } from '../../contracts/tools.ts';
import { formatBytes } from './bound-text.ts';
import type { CheckedPaths } from './checked-paths.ts';
import { fileError } from './errno.ts';
import { makeParents, openPlainFile } from './open-file.ts';
import { newFileArgument, shownPath } from './path-argument.ts';
import { readTextIfThere } from './text-file.ts';

const input = z.strictObject({
  path: newFileArgument,
  content: z.string().min(1).describe('Text to add, exactly as given: begin or end it with a line break yourself.'),
});

export function createAppendFile(deps: { readonly paths: CheckedPaths }): ToolDefinition {
  return defineTool({
    name: 'append_file',
    description: 'Add text at the end of a file; the file and its parent folders are made when missing.',
    input,
    class: 'write',
    shows: { verb: 'append', target: ['path'] },
    idempotency: () => 'unsafe',
    // The tool knows in a moment whether it wrote, so closing the program leaves no call with an unknown outcome.
    abortGraceMs: 2_000,
    timeoutMs: 60_000,
    facts: (args, context) => deps.paths.callFacts(args, args.path, 'write', context),
    summarize: (args) => `append ${formatBytes(Buffer.byteLength(args.content))} to ${shownPath(args.path)}`,
    async run(args, context) {
      const { real } = deps.paths.confirm(args, args.path, 'write', context);
      context.signal.throwIfAborted();
      await makeParents(real, 'append to');
      const size = await append(real, args.content);
      return { forModel: `Added ${formatBytes(Buffer.byteLength(args.content))} to ${args.path}; it has ${formatBytes(size)} now.` };
    },
    async preview(args, context) {
      const path = deps.paths.look(args.path, context);
      const text = await readTextIfThere(path);
      return text === null ? null : { path, after: text + args.content };
    },
    async verify(args, context) {
      const { real } = deps.paths.confirm(args, args.path, 'write', context);
      const ends = (await readTail(real, Buffer.byteLength(args.content))) === args.content;
      return { ok: ends, detail: ends ? `${args.path} ends with what was added` : `${args.path} does not end with what was added` };
    },
  });
}

async function append(real: string, content: string): Promise<number> {
  const handle = await openPlainFile(real, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT, 'append to');
  try {
    await handle.writeFile(content);
    await handle.sync();
    return (await handle.stat()).size;
  } catch (cause) {
    throw fileError('append to', real, cause);
  } finally {
    await handle.close();
  }
}

async function readTail(real: string, bytes: number): Promise<string> {
  const handle = await openPlainFile(real, constants.O_RDONLY, 'verify');
  try {
    const { size } = await handle.stat();
    const tail = Buffer.alloc(Math.min(bytes, size));
    await handle.read(tail, 0, tail.length, size - tail.length);
    return tail.toString('utf8');
  } finally {
    await handle.close();
  }
}
