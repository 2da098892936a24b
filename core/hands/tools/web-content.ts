// Prepares an answer's body for a model and a person: readable, bounded, fenced. Stores long text and non-text as an artifact.

import { documentNames } from '../../base/media-type.ts';
import type { FetchAnswer } from '../../guard/egress/egress.ts';
import { isAppError } from '../../contracts/errors.ts';
import type { ArtifactRef, ToolContext } from '../../contracts/tools.ts';
import { cutEnd, formatBytes } from './bound-text.ts';
import { missingNote } from './hosted-result.ts';
import { fenceText } from './web-fence.ts';
import { documentLines, runPageJob } from './web-page.ts';
import { classify, decodeText, prettyJson, visibleText } from './web-text.ts';

export interface ContentOptions {
  /** `pages` leaves HTML in its markup, `all` shows every text as received. */
  readonly raw: 'none' | 'pages' | 'all';
  readonly charsMax: number;
  readonly bytesMax: number;
  /** Text before the body, inside the fence: other data from the server. */
  readonly prelude?: string;
  /** Removes text that must not be shown or stored. */
  readonly scrub: (text: string) => string;
}

export interface WebContent {
  /** Fenced; empty if there is no text. */
  readonly text: string;
  readonly notes: readonly string[];
  readonly artifacts: readonly ArtifactRef[];
}

interface Readable {
  readonly text: string;
  readonly notes: readonly string[];
  readonly extension: string;
}

/** JSON up to this size is formatted in less than a frame's time. */
const INLINE_CHARS_MAX = 64_000;
const NOTES_BYTES_MAX = 2_000;

export async function presentBody(answer: FetchAnswer, options: ContentOptions, context: ToolContext): Promise<WebContent> {
  const cut = answer.isCut ? [`The answer was longer; reading stopped after ${formatBytes(answer.body.length)}.`] : [];
  if (answer.body.length === 0) return fenced({ shown: '', notes: cut, artifacts: [] }, answer, options);
  const form = classify(answer.headers['content-type'] ?? '', answer.body);
  const readable = await makeReadable(answer, form, options.raw, context.signal);
  if (readable === null) return fenced(withNotes(cut, keepBinary(answer, form.mediaType, options, context)), answer, options);
  const notes = [...cut, ...readable.notes];
  const whole = options.scrub(readable.text);
  const bytesMax = Math.max(1_000, options.bytesMax - NOTES_BYTES_MAX - (options.prelude?.length ?? 0));
  const shown = cutEnd(whole.length > options.charsMax ? wholeCharacters(whole, options.charsMax) : whole, bytesMax);
  if (shown.length === whole.length) return fenced({ shown, notes, artifacts: [] }, answer, options);
  const ref = context.artifacts.put(
    fenceText(whole, hostOf(answer)),
    about(answer, readable.extension, 'text/plain; charset=utf-8', context),
  );
  const missing = missingNote(Buffer.byteLength(whole) - Buffer.byteLength(shown), ref);
  return fenced({ shown, notes: [...notes, missing], artifacts: [ref] }, answer, options);
}

interface Content {
  readonly shown: string;
  readonly notes: readonly string[];
  readonly artifacts: readonly ArtifactRef[];
}

function fenced({ shown, notes, artifacts }: Content, answer: FetchAnswer, { prelude = '' }: ContentOptions): WebContent {
  const all = [prelude, shown].filter((part) => part !== '').join('\n\n');
  return { text: all === '' ? '' : fenceText(all, hostOf(answer)), notes, artifacts };
}

function hostOf({ url }: FetchAnswer): string {
  return new URL(url).hostname;
}

/** Null for content that has no text. */
async function makeReadable(
  { body, headers, url }: FetchAnswer,
  { kind, mediaType }: ReturnType<typeof classify>,
  raw: ContentOptions['raw'],
  signal: AbortSignal,
): Promise<Readable | null> {
  const document = documentNames.get(mediaType);
  if (kind === 'binary') return document !== undefined && raw !== 'all' ? readableDocument(body, document, signal) : null;
  const text = decodeText(body, headers['content-type'] ?? '');
  const extension = kind === 'html' ? 'html' : 'txt';
  if (raw === 'all') return { text, notes: [], extension };
  if (kind === 'text' || (kind === 'html' && raw === 'pages')) return { text: visibleText(text), notes: [], extension };
  return kind === 'json' ? readableJson(text, signal) : readableHtml(text, url, signal);
}

async function readableJson(text: string, signal: AbortSignal): Promise<Readable> {
  const pretty = text.length <= INLINE_CHARS_MAX ? prettyJson(text) : await runPageJob<'json'>({ kind: 'json', text }, signal);
  const notes = pretty === null ? ['It says it is JSON, but it is not whole or not valid.'] : [];
  return { text: visibleText(pretty ?? text), notes, extension: 'json' };
}

async function readableHtml(source: string, url: string, signal: AbortSignal): Promise<Readable> {
  try {
    const page = await runPageJob<'page'>({ kind: 'page', html: source, url }, signal);
    const hidden = page.hiddenChars === 0 ? [] : [`${page.hiddenChars} characters that the page hides from people were left out.`];
    const title = page.title === '' || page.markdown.startsWith(`# ${page.title}`) ? '' : `# ${page.title}\n\n`;
    return {
      text: title + page.markdown,
      notes: page.markdown === '' ? [...hidden, 'The page shows no text without scripts.'] : hidden,
      extension: 'md',
    };
  } catch (cause) {
    if (!isAppError(cause) || cause.code !== 'tool_failed') throw cause;
    return { text: source, notes: [`${cause.message} This is its source.`], extension: 'html' };
  }
}

/** Null if the document has no text that can be read. */
async function readableDocument(bytes: Buffer, name: string, signal: AbortSignal): Promise<Readable | null> {
  try {
    const { text, problem } = await documentLines(bytes, signal);
    return problem === null ? { text, notes: [`This is the text of ${name}.`], extension: 'txt' } : null;
  } catch (cause) {
    if (!isAppError(cause) || cause.code !== 'tool_failed') throw cause;
    return null;
  }
}

function withNotes(notes: readonly string[], content: Content): Content {
  return { ...content, notes: [...notes, ...content.notes] };
}

function keepBinary(answer: FetchAnswer, mediaType: string, options: ContentOptions, context: ToolContext): Content {
  // A secret cannot be removed from binary content, so content with a secret is not stored.
  const text = answer.body.toString('latin1');
  if (options.scrub(text) !== text)
    return { shown: '', notes: [`The answer (${mediaType}) holds a secret and was not kept.`], artifacts: [] };
  const ref = context.artifacts.put(answer.body, about(answer, mediaType === 'application/pdf' ? 'pdf' : 'bin', mediaType, context));
  const note = `This is ${mediaType}, ${formatBytes(answer.body.length)}, not text; it is kept as artifact ${ref.name} (${ref.sha256}).`;
  return { shown: '', notes: [note], artifacts: [ref] };
}

function about(answer: FetchAnswer, extension: string, mediaType: string, { callId, sessionId }: ToolContext) {
  return { name: nameOf(answer.url, extension), mediaType, callId, sessionId };
}

/** Derives a name from the last part of the URL, in plain letters. */
function nameOf(url: string, extension: string): string {
  const { hostname, pathname } = new URL(url);
  const last = pathname.split('/').at(-1) ?? '';
  const plain = (last === '' ? hostname : last)
    .replaceAll(/%[0-9a-f]{2}|[^\w.-]+/gi, '-')
    .replaceAll(/^[-.]+|-+$/g, '')
    .slice(0, 80);
  return plain.toLowerCase().endsWith(`.${extension}`) ? plain : `${plain === '' ? 'page' : plain}.${extension}`;
}

function wholeCharacters(text: string, charsMax: number): string {
  const last = text.charCodeAt(charsMax - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? charsMax - 1 : charsMax);
}
