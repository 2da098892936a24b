// The append_file tool: adds text at the end of a file, in one write. Never repeated automatically.

import { constants } from 'node:fs';
import { stat } from 'node:fs/promises';
import * as z from 'zod';
import { defineTool } from './define-tool.ts';
import type { ToolDefinition } from '../../contracts/tools.ts';
import { formatBytes } from './bound-text.ts';
import type { CheckedPaths } from './checked-paths.ts';
import { fileError } from './errno.ts';
import { makeParents, openPlainFile } from './open-file.ts';
import { newFileArgument, shownPath } from './path-argument.ts';
import { decodeText, encodeText } from '../../base/text-encoding.ts';
import { encodeExactly, readTextIfThere } from './text-file.ts';

/** The beginning of a file shows its encoding. */
const HEAD_BYTES = 1_000_000;

const input = z.strictObject({
  path: newFileArgument,
  content: z.string().min(1).describe('Text to add, exactly as given: include the line breaks yourself.'),
});

export function createAppendFile(deps: { readonly paths: CheckedPaths }): ToolDefinition {
  return defineTool({
    name: 'append_file',
    description: 'Add text to the end of a file; creates the file and its parent folders if they are missing.',
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
      const bytes = await bytesFor(real, args.content);
      const size = await append(real, bytes);
      return { forModel: `Added ${formatBytes(bytes.length)} to ${args.path}; it now has ${formatBytes(size)}.` };
    },
    async preview(args, context) {
      const path = deps.paths.look(args.path, context);
      const file = await readTextIfThere(path);
      const after = file === null ? null : encodeText(file.text + args.content, file.encoding);
      return after === null ? null : { path, after };
    },
    async verify(args, context) {
      const { real } = deps.paths.confirm(args, args.path, 'write', context);
      const bytes = await bytesFor(real, args.content);
      const ends = (await readTail(real, bytes.length)).equals(bytes);
      return { ok: ends, detail: ends ? `${args.path} ends with what was added` : `${args.path} does not end with what was added` };
    },
  });
}

/** Encodes what is added like the rest of the file. */
async function bytesFor(real: string, content: string): Promise<Uint8Array> {
  // Only UTF-16 has other bytes for ASCII letters, and its mark shows it.
  const head = await readPart(real, 0, /^\p{ASCII}*$/u.test(content) ? 2 : HEAD_BYTES);
  return encodeExactly(content, decodeText(head, { isCut: true })?.encoding ?? 'UTF-8', `append to ${real}`);
}

async function append(real: string, content: Uint8Array): Promise<number> {
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

async function readTail(real: string, bytes: number): Promise<Buffer> {
  const { size } = await stat(real);
  return readPart(real, Math.max(0, size - bytes), bytes);
}

/** Empty if the file is missing or may only be written. */
async function readPart(real: string, from: number, lengthMax: number): Promise<Buffer> {
  const handle = await openPlainFile(real, constants.O_RDONLY, 'append to').catch(() => null);
  if (handle === null) return Buffer.alloc(0);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(lengthMax), 0, lengthMax, from);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
