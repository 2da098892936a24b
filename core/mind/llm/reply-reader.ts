// The common part of the readers of all wire formats: the reader's interface, completed call ids, and errors for unreadable answers. Must
// not know any vendor's fields.

import { GrowingText } from '../../base/growing-text.ts';
import { isPlainObject, parseJson } from '../../base/json.ts';
import { AppError } from '../../contracts/errors.ts';
import type { DeltaSink, FinishReason, ReplyCall, ReplyPhase, Usage } from '../../contracts/llm.ts';
import { InlineThought } from './inline-thought.ts';

/** Progress that the router's watch needs in addition to the text. Every method is optional, so a plain DeltaSink is accepted. */
export interface ProgressSink extends DeltaSink {
  /** Called when any bytes of the answer arrive. */
  alive?(): void;
  /** Called when the first piece of the answer itself, text or call, has arrived. */
  began?(): void;
  /** Called when the answer is complete: only counts and the end of the stream may still arrive. */
  ended?(): void;
}

/** A reply before the call ids are checked and a missing usage is estimated. */
export interface RawReply {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly ReplyCall[];
  readonly usage: Usage | null;
  readonly finishReason: FinishReason;
  readonly phase?: ReplyPhase;
}

export interface ReplyReader {
  /** Handles one event of the stream. Returns true if the answer is complete. Throws `model_bad_reply` or a mapped vendor failure. */
  event(data: string, event: string): boolean;
  /** Reads a whole answer in one JSON document, from servers that do not stream. */
  whole(document: unknown): void;
  /** Throws `model_cut_off` if the stream ended before the answer did. */
  finish(): RawReply;
}

/**
 * The maximum of text, reasoning and arguments of one answer together. The longest answers vendors allow (128,000 tokens) are a quarter of
 * it.
 */
export const answerBytesMax = 2 * 1024 * 1024;

/** Arguments beyond `answerBytesMax` are read and dropped up to this limit, so that the model can learn that its call was too large. */
const readBytesMax = 16 * 1024 * 1024;
/** The minimum size counted for a dropped piece, which also limits a flood of tiny ones. */
const DROPPED_BYTES_MIN = 64;
/** Not valid JSON, so that a call with truncated arguments never counts as complete. */
export const CUT_MARK = '…';

/** Collects the text of an answer as it arrives: stores it, passes it on, and limits its size. */
export class ReplyText {
  readonly #provider: string;
  readonly #sink: ProgressSink;
  readonly #text = new GrowingText();
  readonly #reasoning = new GrowingText();
  #inline: InlineThought | null = new InlineThought();
  readonly #halves = { text: '', reasoning: '' };
  #sizeBytes = 0;
  #droppedBytes = 0;
  #isParagraphOver = false;

  constructor(provider: string, sink: ProgressSink) {
    this.#provider = provider;
    this.#sink = sink;
  }

  get text(): string {
    return this.#text.toString() + (this.#inline?.held.text ?? '');
  }

  get reasoning(): string {
    return this.#reasoning.toString() + (this.#inline?.held.thought ?? '');
  }

  addText(value: unknown): void {
    if (typeof value !== 'string' || value === '') return;
    this.#charge(value);
    const { thought, text } = this.#inline?.add(value) ?? { thought: '', text: value };
    if (this.#inline?.isOver === true) this.#inline = null;
    this.#think(thought);
    if (text === '') return;
    const spoken = this.#isParagraphOver ? `\n\n${text}` : text;
    this.#isParagraphOver = false;
    this.#text.add(spoken);
    const whole = this.#wholeOf('text', spoken);
    if (whole !== '') this.#sink.text(whole);
  }

  /** Any later text is a new paragraph, because the model did something else in between. */
  endParagraph(): void {
    this.#isParagraphOver = this.#text.length > 0;
  }

  addReasoning(value: unknown): void {
    if (typeof value !== 'string' || value === '') return;
    this.#charge(value);
    this.#think(value);
  }

  /** Returns the part of an argument piece to keep. Throws `model_bad_reply` if the answer is endless. */
  argumentsOf(piece: string): string {
    const sizeBytes = Buffer.byteLength(piece, 'utf8');
    const room = answerBytesMax - this.#sizeBytes;
    this.#sizeBytes = Math.min(this.#sizeBytes + sizeBytes, answerBytesMax);
    if (sizeBytes <= room) return piece;
    this.#droppedBytes += Math.max(DROPPED_BYTES_MIN, sizeBytes);
    if (this.#droppedBytes > readBytesMax) throw endless(this.#provider, readBytesMax);
    return piece.slice(0, room) + CUT_MARK;
  }

  #think(thought: string): void {
    if (thought === '') return;
    this.#reasoning.add(thought);
    const whole = this.#wholeOf('reasoning', thought);
    if (whole !== '') this.#sink.reasoning?.(whole);
  }

  /** Half of an emoji at the end waits for the other half, because each half alone would reach a client as an unreadable character. */
  #wholeOf(kind: 'text' | 'reasoning', piece: string): string {
    const said = this.#halves[kind] + piece;
    const last = said.charCodeAt(said.length - 1);
    const isHalf = last >= 0xd800 && last <= 0xdbff;
    this.#halves[kind] = isHalf ? said.slice(-1) : '';
    return isHalf ? said.slice(0, -1) : said;
  }

  /** Throws `model_bad_reply` if the answer is longer than any model's. */
  #charge(piece: string): void {
    this.#sizeBytes += Buffer.byteLength(piece, 'utf8');
    if (this.#sizeBytes > answerBytesMax) throw endless(this.#provider, answerBytesMax);
  }
}

function endless(provider: string, limitBytes: number): AppError {
  const message = `${provider} sent an answer of more than ${limitBytes / 1024 / 1024} MB; the rest was not read.`;
  const hint = 'The model repeats itself or the server is broken. Ask again, or choose another model.';
  return new AppError('model_bad_reply', message, { data: { provider, limitBytes }, hint });
}

export interface CallIds {
  next(): string;
  isTaken(id: string): boolean;
}

/** Gives every call an id that is unique in the answer and the conversation, and arguments that are JSON where their meaning is certain. */
export function completeCalls(calls: readonly ReplyCall[], ids: CallIds): ReplyCall[] {
  const used = new Set<string>();
  return calls.map((call) => {
    let id = call.id === '' ? ids.next() : call.id;
    for (let copy = 2; used.has(id) || ids.isTaken(id); copy++) id = call.id === '' ? ids.next() : `${call.id}_${copy}`;
    used.add(id);
    return { id, tool: call.tool, args: call.args.trim() === '' ? '{}' : mendedArgs(call.args) };
  });
}

export function badReply(provider: string, cause?: unknown): AppError {
  return new AppError('model_bad_reply', `${provider} sent something that is not a model's answer.`, {
    data: { provider },
    hint: 'Try again; if it stays, check the baseUrl and kind of this provider.',
    isRetryable: true,
    cause,
  });
}

export function cutOff(provider: string): AppError {
  return new AppError('model_cut_off', `The answer of ${provider} ended in the middle.`, { data: { provider }, isRetryable: true });
}

/** Returns arguments as text, from servers that send them as text (in pieces) or as a value. */
export function argsText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

/** More tokens than any window holds. A larger number is not a count, and sums of such numbers would exceed the safe integers. */
const TOKENS_MAX = 1e9;

/** A vendor's token count; 0 for anything else. */
export function count(value: unknown): number {
  return typeof value === 'number' && value > 0 && value <= TOKENS_MAX ? Math.round(value) : 0;
}

// Mends the arguments of a call that are not JSON although their meaning is certain: a code fence around them, a comma before a closing
// bracket, line breaks inside a text. Never adds what is missing, so truncated arguments stay invalid. Linear in the length of the text.

const FENCE = '```';

/** A fence or a mark at the beginning, a comma before a bracket, or a control character: nothing else is mended. */
// oxlint-disable-next-line no-control-regex -- they are what is mended
const mendable = /^\s*(?:```|\uFEFF)|,\s*[}\]]|[\0-\x1F]/;

/** Returns the text unchanged if it is JSON, or if it is not the text of an object even after mending. */
export function mendedArgs(args: string): string {
  // Parses nothing in the usual case: the arguments are parsed soon enough.
  const mended = mendable.test(args) ? strict(unfenced(args)) : args;
  if (mended === args) return args;
  const parsed = parseJson(mended);
  return parsed.ok && isPlainObject(parsed.value) ? mended : args;
}

function unfenced(args: string): string {
  const text = args.replace(/^\uFEFF/, '').trim();
  if (!text.startsWith(FENCE) || !text.endsWith(FENCE)) return text;
  return text.slice(FENCE.length, -FENCE.length).replace(/^[a-z]*/i, '');
}

function strict(text: string): string {
  const pieces: string[] = [];
  let isInText = false;
  /** The place of a comma with nothing but white space after it. */
  let commaAt: number | null = null;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '"') isInText = !isInText;
    if (isInText) {
      if (char === '\\') at += 1;
      pieces.push(char === '\\' ? char + text.charAt(at) : char < ' ' ? JSON.stringify(char).slice(1, -1) : char);
      commaAt = null;
      continue;
    }
    if ((char === '}' || char === ']') && commaAt !== null) pieces[commaAt] = '';
    if (char === ',') commaAt = pieces.length;
    else if (char.trim() !== '') commaAt = null;
    pieces.push(char);
  }
  return pieces.join('');
}
