// The read_file tool: returns lines of a text file or of a document's text, bounded, and always tells the model how to continue reading. Pictures are kept
// as artifacts, which models see.

import { counted } from '../../base/counted.ts';
import { documentNames, documentTypes, knownMediaType, pictureBytesMax, pictureTypes } from '../../base/media-type.ts';
import { basename, extname } from 'node:path';
import * as z from 'zod';
import { defineTool } from './define-tool.ts';
import type { ToolContext, ToolDefinition, ToolResult } from '../../contracts/tools.ts';
import { cutEnd, formatBytes } from './bound-text.ts';
import type { CheckedPaths } from './checked-paths.ts';
import { suggestingNames } from './near-file.ts';
import { pathArgument, shownPath } from './path-argument.ts';
import { decodeText } from '../../base/text-encoding.ts';
import { fileBytesMax, readBytes } from './text-file.ts';
import type { RecentDocument } from './recent-document.ts';

export interface ReadFileDeps {
  readonly paths: CheckedPaths;
  readonly outputBytesMax: number;
  readonly documents: RecentDocument;
}

const NOTE_BYTES_MAX = 200;
/** A document is mostly pictures and fonts. */
const DOCUMENT_BYTES_MAX = 50_000_000;
/** Text is redacted this far beyond the cut, so that a secret across the cut is recognised. */
const MARGIN_BYTES = 32_768;

const input = z.strictObject({
  path: pathArgument,
  offset: z.number().int().min(1).optional().describe('First line to read, starting at 1.'),
  limit: z.number().int().min(1).max(1_000_000).optional().describe('Number of lines to read.'),
  lineNumbers: z.boolean().optional().describe('Put the line number before each line. Default: false.'),
});
type Args = z.infer<typeof input>;

export function createReadFile(deps: ReadFileDeps): ToolDefinition {
  return defineTool({
    name: 'read_file',
    description:
      'Read a text file or the text of a document (PDF, Word, Excel, PowerPoint, OpenDocument, EPUB, RTF), or look at a picture (PNG, JPEG, GIF, WebP). Long text comes in parts: the end of the result says which offset to continue with. Other binary files are only described.',
    input,
    class: 'read',
    shows: { verb: 'read', target: ['path'] },
    idempotency: () => 'pure',
    timeoutMs: 90_000,
    facts: (args, context) => deps.paths.callFacts(args, args.path, 'read', context),
    summarize: (args) => `read ${shownPath(args.path)}`,
    async run(args, context) {
      const { real } = deps.paths.confirm(args, args.path, 'read', context);
      const bytesMax = documentTypes.has(extname(real).slice(1).toLowerCase()) ? DOCUMENT_BYTES_MAX : fileBytesMax;
      const bytes = await suggestingNames(real, deps.paths.folders(context), () => readBytes(real, 'read', bytesMax));
      const shown = { outputBytesMax: deps.outputBytesMax, redact: (text: string) => context.redaction?.redact(text) ?? text };
      const mediaType = knownMediaType(bytes) ?? '';
      const document = documentNames.get(mediaType);
      const isPicture = pictureTypes.has(mediaType);
      const about = `${args.path} is ${document ?? (isPicture ? 'a picture' : 'a binary file')} (${formatBytes(bytes.length)}`;
      if (document !== undefined) {
        const { text, problem } = await deps.documents.lines(bytes, context.signal);
        return problem === null ? selectLines(Buffer.from(text), args, shown) : { forModel: `${about}). ${problem}` };
      }
      if (isPicture) return showPicture(bytes, { about, mediaType, name: basename(real) }, context);
      const decoded = decodeText(bytes);
      if (decoded === null) return { forModel: `${about}, it starts with the bytes ${bytes.subarray(0, 16).toString('hex')}).` };
      if (decoded.encoding === 'UTF-8') return selectLines(bytes, args, shown);
      const result = selectLines(Buffer.from(decoded.text.replace(/^\uFEFF/, '')), args, shown);
      return {
        ...result,
        forModel: `[This file is in ${decoded.encoding}; edit_file and append_file keep that encoding.]\n${result.forModel}`,
      };
    },
  });
}

interface Picture {
  readonly about: string;
  readonly mediaType: string;
  readonly name: string;
}

function showPicture(bytes: Buffer, { about, mediaType, name }: Picture, { artifacts, callId, sessionId }: ToolContext): ToolResult {
  if (bytes.length > pictureBytesMax)
    return { forModel: `${about}), too large to be shown: make a copy of at most ${formatBytes(pictureBytesMax)}.` };
  const kept = artifacts.put(bytes, { name, mediaType, callId, sessionId });
  return { forModel: `${about}, ${mediaType}). It is shown with this result.`, artifacts: [kept] };
}

/** The requested lines that fit; whole lines only, unless the first line alone is too long. */
interface Shown {
  readonly outputBytesMax: number;
  readonly redact: (text: string) => string;
}

function selectLines(bytes: Buffer, args: Args, shown: Shown): ToolResult {
  const from = args.offset ?? 1;
  const start = startOfLine(bytes, from);
  if (start === null) {
    return { forModel: `${args.path} has only ${counted(countLines(bytes), 'line')}; offset ${from} is beyond its end.`, isError: true };
  }
  const room = shown.outputBytesMax - NOTE_BYTES_MAX;
  const { text, line, at } = takeLines(bytes, start, args, { room, redact: shown.redact });
  if (at >= bytes.length) return { forModel: text === '' ? '(the file is empty)' : text };
  if (line === from) {
    const whole = bytes.subarray(at, endOfLine(bytes, at));
    const beginning = shown.redact(new TextDecoder().decode(whole.subarray(0, room + MARGIN_BYTES)));
    return longLine(beginning, { number: line, sizeBytes: whole.length, room, path: args.path });
  }
  const gap = text.endsWith('\n') ? '' : '\n';
  return { forModel: `${text}${gap}[lines ${from}–${line - 1} of ${countLines(bytes)}; continue with offset ${line}]` };
}

function takeLines(
  bytes: Buffer,
  start: number,
  args: Args,
  { room, redact }: { room: number; redact: (text: string) => string },
): { text: string; line: number; at: number } {
  const from = args.offset ?? 1;
  const last = from + (args.limit ?? Number.POSITIVE_INFINITY);
  const out: string[] = [];
  let at = start;
  let used = 0;
  let line = from;
  while (at < bytes.length && line < last) {
    const end = endOfLine(bytes, at);
    used += (args.lineNumbers === true ? `${line}\t`.length : 0) + (end - at);
    if (used > room) break;
    out.push(bytes.toString('utf8', at, end));
    at = end;
    line += 1;
  }
  return { text: args.lineNumbers === true ? numbered(out, from, redact) : out.join(''), line, at };
}

/** Redacts secrets first, because line numbers would break up the lines of a key. If that removed lines, the rest cannot be numbered. */
function numbered(lines: readonly string[], from: number, redact: (text: string) => string): string {
  const safe = redact(lines.join(''));
  const kept = safe.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  if (kept.length === lines.length) return kept.map((line, index) => `${from + index}\t${line}`).join('');
  return `[from line ${from}, not numbered because a secret over several lines was taken out]\n${safe}`;
}

function longLine(text: string, line: { number: number; sizeBytes: number; room: number; path: string }): ToolResult {
  return {
    forModel: `${cutEnd(text, line.room)}\n[line ${line.number} of ${line.path} has ${formatBytes(line.sizeBytes)} and is cut here; use exec with cut or head -c for more]`,
  };
}

/** Null if the file has no such line; an empty file has a first line. */
function startOfLine(bytes: Buffer, line: number): number | null {
  let at = 0;
  for (let passed = 1; passed < line; passed++) {
    if (at >= bytes.length) return null;
    at = endOfLine(bytes, at);
  }
  return line > 1 && at >= bytes.length ? null : at;
}

function endOfLine(bytes: Buffer, at: number): number {
  const newline = bytes.indexOf(10, at);
  return newline < 0 ? bytes.length : newline + 1;
}

function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) count += 1;
  return bytes.length > 0 && bytes[bytes.length - 1] !== 10 ? count + 1 : count;
}
