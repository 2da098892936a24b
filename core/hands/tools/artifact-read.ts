// The artifact_read tool: returns a part of stored content, such as output that was too long to show, or of the text of a stored document.

import * as z from 'zod';
import { defineTool } from './define-tool.ts';
import { documentNames, knownMediaType, mayBeDocument } from '../../base/media-type.ts';
import type { ToolContext, ToolDefinition } from '../../contracts/tools.ts';
import { shownPath } from './path-argument.ts';
import { isBinary } from './text-file.ts';
import { incompleteTailBytes } from './utf8-cut.ts';
import type { RecentDocument } from './recent-document.ts';

const NOTE_BYTES_MAX = 200;

const input = z.strictObject({
  artifact: z.string().min(1).max(300).describe('The id of the artifact (its SHA-256) or its alias.'),
  offset: z.number().int().min(0).default(0).describe('First byte to read.'),
  length: z.number().int().min(1).max(1_000_000).optional().describe('How many bytes to read; bounded by what fits one result.'),
});

export function createArtifactRead(deps: { readonly outputBytesMax: number; readonly documents: RecentDocument }): ToolDefinition {
  return defineTool({
    name: 'artifact_read',
    description:
      'Read a part of an artifact: the whole of an output that was cut, or the text of an attached document. The end of the result says how to continue.',
    input,
    class: 'read',
    shows: { verb: 'read_artifact', target: ['artifact'] },
    isPrivate: 'sessions',
    idempotency: () => 'pure',
    timeoutMs: 90_000,
    facts: () => ({ class: 'read', paths: [], command: null, hosts: [] }),
    summarize: (args) => `read artifact ${shownPath(args.artifact)}`,
    async run(args, context) {
      const length = Math.min(args.length ?? Number.POSITIVE_INFINITY, deps.outputBytesMax - NOTE_BYTES_MAX);
      const document = await readDocument(deps.documents, args.artifact, context);
      if (typeof document?.problem === 'string') return { forModel: `This artifact is ${document.name}. ${document.problem}` };
      const bytes =
        document === null
          ? context.artifacts.read(args.artifact, { offset: args.offset, length })
          : Buffer.from(context.redaction?.redact(document.text) ?? document.text).subarray(args.offset, args.offset + length);
      if (bytes.length === 0) return { forModel: `(there is nothing at or after byte ${args.offset})` };
      if (isBinary(bytes)) {
        const start = Buffer.from(bytes.subarray(0, 32)).toString('hex');
        return { forModel: `This artifact is binary; at byte ${args.offset} it has ${start}.` };
      }
      // If an incomplete character is all that the requested part contains, it is shown as it is.
      const whole = bytes.length === incompleteTailBytes(bytes) ? bytes.length : bytes.length - incompleteTailBytes(bytes);
      const isLast = bytes.length < length;
      const text = Buffer.from(bytes.subarray(0, isLast ? bytes.length : whole)).toString('utf8');
      const note = isLast
        ? ''
        : `${text.endsWith('\n') ? '' : '\n'}[bytes ${args.offset} to ${args.offset + whole - 1}; continue with offset ${args.offset + whole}]`;
      return { forModel: text + note };
    },
  });
}

/** Null for anything but a document. */
async function readDocument(
  recent: RecentDocument,
  artifact: string,
  { artifacts, signal }: ToolContext,
): Promise<{ readonly name: string; readonly text: string; readonly problem: string | null } | null> {
  if (!mayBeDocument(artifacts.read(artifact, { offset: 0, length: 16 }))) return null;
  const bytes = artifacts.read(artifact);
  const name = documentNames.get(knownMediaType(bytes) ?? '');
  return name === undefined ? null : { name, ...(await recent.lines(bytes, signal)) };
}
