// The artifact_read tool: returns a part of stored content, such as output that was too long to show, or of the text of a stored document.

import * as z from 'zod';
import { defineTool } from './define-tool.ts';
import { documentNames, knownMediaType, mayBeDocument } from '../../base/media-type.ts';
import type { ToolContext, ToolDefinition } from '../../contracts/tools.ts';
import { shownPath } from './path-argument.ts';
import { incompleteTailBytes } from '../../base/utf8-cut.ts';
import { decodeText, isUtf16 } from '../../base/text-encoding.ts';
import type { RecentDocument } from './recent-document.ts';

const NOTE_BYTES_MAX = 200;

const input = z.strictObject({
  artifact: z.string().min(1).max(300).describe('The id of the artifact (its SHA-256) or its alias.'),
  offset: z.number().int().min(0).default(0).describe('First byte to read.'),
  length: z.number().int().min(1).max(1_000_000).optional().describe('Number of bytes to read; limited to what fits in one result.'),
});

export function createArtifactRead(deps: { readonly outputBytesMax: number; readonly documents: RecentDocument }): ToolDefinition {
  return defineTool({
    name: 'artifact_read',
    description:
      'Read part of an artifact: an output that was cut, or the text of an attached document. The end of the result says how to continue.',
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
      const whole = bytes.length < length ? bytes : bytes.subarray(0, wholeLength(bytes));
      const decoded = decodeText(whole);
      if (decoded === null) {
        const start = Buffer.from(bytes.subarray(0, 32)).toString('hex');
        return { forModel: `This artifact is binary; at byte ${args.offset} it has ${start}.` };
      }
      const { text } = decoded;
      const next = args.offset + whole.length;
      const note =
        bytes.length < length
          ? ''
          : `${text.endsWith('\n') ? '' : '\n'}[bytes ${args.offset} to ${next - 1}; continue with offset ${next}]`;
      return { forModel: text + note };
    },
  });
}

/** The bytes up to the last whole character. If there is none, all are shown as they are. */
function wholeLength(bytes: Uint8Array): number {
  const incomplete = incompleteTailBytes(bytes);
  return bytes.length === incomplete ? bytes.length : bytes.length - incomplete;
}

/** Null for anything but a document and UTF-16, whose parts alone are not recognised. */
async function readDocument(
  recent: RecentDocument,
  artifact: string,
  { artifacts, signal }: ToolContext,
): Promise<{ readonly name: string; readonly text: string; readonly problem: string | null } | null> {
  const head = artifacts.read(artifact, { offset: 0, length: 16 });
  const isWide = isUtf16(head);
  if (!isWide && !mayBeDocument(head)) return null;
  const bytes = artifacts.read(artifact);
  const wide = isWide ? decodeText(bytes) : null;
  if (wide !== null) return { name: wide.encoding, text: wide.text.replace(/^\uFEFF/, ''), problem: null };
  const name = documentNames.get(knownMediaType(bytes) ?? '');
  return name === undefined ? null : { name, ...(await recent.lines(bytes, signal)) };
}
