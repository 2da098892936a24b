// Writes one answer of a model in memory: reads the prompt from where it differs from the last one, generates token by token, and applies
// the grammar of the offered tools once a tool call has begun. Runs no tools; knows nothing about processes.

import { callGrammar, outputGrammar } from './call-grammar.ts';
import { renderPrompt } from './chat-prompt.ts';
import type { CallRule, EngineModel } from './engine-library.ts';
import type { AnswerSink, CompleteOrder, EngineAnswer, EngineFailure } from './engine-messages.ts';
import { callClosing, callOpening } from '../calls-in-text.ts';
import { ReplySplitter, thinkClosing } from './reply-splitter.ts';

/** The batch size of reading; the work can be cancelled between two batches. */
const READ_TOKENS = 256;
/** The minimum room for an answer. */
const ROOM_TOKENS = 16;
const CALLS_MAX = 16;
const CALL_CHARS_MAX = 200_000;
/** The maximum number of tokens until a multi-byte character is complete. */
const SIGN_TOKENS_MAX = 4;
const GRAMMARS_KEPT = 8;

export class JobFailure extends Error {
  readonly failure: EngineFailure;

  constructor(failure: EngineFailure) {
    super(failure.why);
    this.failure = failure;
  }
}

type Call = EngineAnswer['calls'][number];

export class AnswerWriter {
  readonly #model: EngineModel;
  readonly #rules = new Map<string, () => CallRule>();

  constructor(model: EngineModel) {
    this.#model = model;
  }

  /** Null if it was cancelled. Fails with JobFailure, or as the library does. */
  async write(order: CompleteOrder, sink: AnswerSink, signal: AbortSignal): Promise<EngineAnswer | null> {
    const prompt = this.#prompt(order);
    const tokens = [...this.#model.tokenize(prompt)];
    const limitTokens = this.#model.contextTokens;
    if (tokens.length + ROOM_TOKENS > limitTokens) throw new JobFailure({ why: 'too-long', requestTokens: tokens.length, limitTokens });
    const cachedInputTokens = await this.#read(tokens, sink, signal);
    const room = limitTokens - tokens.length - 1;
    const draft = new Draft(this.#model, tokens, Math.min(order.maxTokens ?? room, room));
    const calls = await this.#writeParts(draft, order, { sink, signal, isThinking: /<think>\s*$/.test(prompt) });
    if (signal.aborted) return null;
    const finish = calls.length > 0 ? 'tool_calls' : draft.isFull ? 'length' : 'stop';
    return { calls, inputTokens: tokens.length, cachedInputTokens, outputTokens: draft.written, finish };
  }

  #prompt({ messages, tools }: CompleteOrder): string {
    const { template, bosText, eosText } = this.#model;
    if (template === null) throw new JobFailure({ why: 'refused', message: 'the file has no chat template, so it holds no conversation' });
    try {
      const prompt = renderPrompt({ source: template, bosText, eosText, render: (given) => this.#model.render(given) }, messages, tools);
      return bosText === '' || prompt.startsWith(bosText) ? prompt : bosText + prompt;
    } catch (cause) {
      const message = `its chat template refuses the conversation (${cause instanceof Error ? cause.message.slice(0, 200) : 'no reason'})`;
      throw new JobFailure({ why: 'refused', message });
    }
  }

  /** Reads all but the last token, at which generation starts. Returns how many tokens were cached. */
  async #read(tokens: readonly number[], sink: AnswerSink, signal: AbortSignal): Promise<number> {
    const kept = await this.#keep(tokens);
    for (let at = kept; at < tokens.length - 1 && !signal.aborted; at += READ_TOKENS) {
      await this.#model.read(tokens.slice(at, Math.min(at + READ_TOKENS, tokens.length - 1)));
      sink.alive();
    }
    return kept;
  }

  /** Drops the cached state from the first difference on. */
  async #keep(tokens: readonly number[]): Promise<number> {
    const kept = this.#model.kept();
    let same = 0;
    while (same < tokens.length - 1 && kept[same] === tokens[same]) same += 1;
    await this.#model.forgetFrom(same);
    return Math.min(same, this.#model.kept().length);
  }

  async #writeParts(
    draft: Draft,
    { tools, output }: CompleteOrder,
    how: { readonly sink: AnswerSink; readonly signal: AbortSignal; readonly isThinking: boolean },
  ): Promise<Call[]> {
    const { sink, signal } = how;
    const calls: Call[] = [];
    const findsCalls = tools.length > 0;
    // If tools are offered, the answer may be a call, so the answer's grammar does not apply.
    const rule = output === null || findsCalls ? null : await this.#rule(outputGrammar(output));
    // The grammar starts with the answer, so reasoning that the template has opened is closed first.
    if (rule !== null && how.isThinking) draft.append(`${thinkClosing}\n\n`);
    const splitter = new ReplySplitter({ findsCalls, isThinking: how.isThinking && rule === null });
    if (!(await this.#writeText(draft, splitter, { ...how, rule }))) return calls;
    while (calls.length < CALLS_MAX && !signal.aborted && !draft.isFull) {
      sink.calling();
      const call = await this.#writeCall(draft, await this.#rule(callGrammar(tools)), signal);
      if (call === null) break;
      calls.push(call);
      draft.append(`\n${callClosing}`);
      // Only another call may follow a call.
      if (!(await this.#writeText(draft, new ReplySplitter({ findsCalls, isThinking: false }), { ...how, rule: null, sink: silent })))
        break;
    }
    return calls;
  }

  /** Returns true if a call begins; the draft then ends with its opening tag. */
  async #writeText(
    draft: Draft,
    splitter: ReplySplitter,
    { rule, sink, signal }: { readonly rule: CallRule | null; readonly sink: AnswerSink; readonly signal: AbortSignal },
  ): Promise<boolean> {
    const tell = ({ text, reasoning }: { readonly text: string; readonly reasoning: string }): void => {
      if (reasoning !== '') sink.reasoning(reasoning);
      if (text !== '') sink.text(text);
    };
    const from = draft.mark();
    let callAt: number | null = null;
    await this.#generate(draft, rule, signal, (piece) => {
      const split = splitter.push(piece);
      tell(split);
      callAt = split.callAt;
      // Text after a call is not needed.
      return callAt !== null;
    });
    if (callAt === null) {
      tell(splitter.end());
      return false;
    }
    draft.rewind(from, callAt, callOpening);
    return true;
  }

  /** Null if the generated text is not a call. */
  async #writeCall(draft: Draft, rule: CallRule | null, signal: AbortSignal): Promise<Call | null> {
    const scan = new ObjectScan();
    await this.#generate(draft, rule, signal, (piece) => scan.push(piece) || scan.text.length > CALL_CHARS_MAX);
    const parsed = parseCall(scan.text);
    return signal.aborted ? null : parsed;
  }

  async #generate(draft: Draft, rule: CallRule | null, signal: AbortSignal, onPiece: (piece: string) => boolean): Promise<void> {
    const model = this.#model;
    if (signal.aborted || draft.isFull) return;
    const kept = await this.#keep(draft.tokens);
    for await (const token of model.write(draft.tokens.slice(kept), () => rule)) {
      if (signal.aborted || model.isEnd(token)) return;
      if (onPiece(draft.add(token)) || draft.isFull) return;
    }
  }

  /** Null if the library refuses the grammar. The call or answer is then generated freely, and validated like any other. */
  async #rule(gbnf: string): Promise<CallRule | null> {
    const known = this.#rules.get(gbnf);
    if (known !== undefined) return known();
    try {
      const create = await this.#model.createRule(gbnf);
      if (this.#rules.size >= GRAMMARS_KEPT) this.#rules.clear();
      this.#rules.set(gbnf, create);
      return create();
    } catch {
      return null;
    }
  }
}

const silent: AnswerSink = { text: () => undefined, reasoning: () => undefined, calling: () => undefined, alive: () => undefined };

/** The tokens of the prompt and the answer, and the text of the answer's tokens. */
class Draft {
  readonly tokens: number[];
  readonly #model: EngineModel;
  readonly #max: number;
  #pending: number[] = [];
  #texts: { readonly place: number; readonly end: number }[] = [];
  #length = 0;
  written = 0;

  constructor(model: EngineModel, prompt: readonly number[], max: number) {
    this.#model = model;
    this.tokens = [...prompt];
    this.#max = max;
  }

  get isFull(): boolean {
    return this.written >= this.#max;
  }

  /** Returns the text that this token completes. */
  add(token: number): string {
    const before = this.tokens.slice(-4 - this.#pending.length, this.tokens.length - this.#pending.length);
    this.tokens.push(token);
    this.#pending.push(token);
    this.written += 1;
    const text = this.#model.detokenize(this.#pending, before);
    if (text.endsWith('\uFFFD') && this.#pending.length < SIGN_TOKENS_MAX) return '';
    this.#pending = [];
    this.#length += text.length;
    this.#texts.push({ place: this.tokens.length, end: this.#length });
    return text;
  }

  mark(): { readonly place: number; readonly length: number } {
    return { place: this.tokens.length, length: this.#length };
  }

  /** Rewinds to `at` characters after the mark and continues with these words, so that the tokens end exactly where the words end. */
  rewind(from: { readonly place: number; readonly length: number }, at: number, words: string): void {
    const whole = this.#texts.findLast(({ place, end }) => place > from.place && end <= from.length + at);
    const texts = this.#texts.filter(({ place }) => place > (whole?.place ?? from.place));
    const ended = texts.find(({ end }) => end === from.length + at + words.length);
    if (ended !== undefined) {
      this.tokens.length = ended.place;
      return;
    }
    this.tokens.length = whole?.place ?? from.place;
    this.append(words);
  }

  append(words: string): void {
    this.tokens.push(...this.#model.tokenize(words, true));
    this.#pending = [];
  }
}

/** Reads up to the end of one JSON object. */
class ObjectScan {
  text = '';
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  /** Returns true once the object is complete; text after it is left out. */
  push(piece: string): boolean {
    for (const sign of piece) {
      if (this.#depth > 0 || sign === '{') this.text += sign;
      if (this.#step(sign)) return true;
    }
    return false;
  }

  #step(sign: string): boolean {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (this.#isInString && sign === '\\') this.#isEscaped = true;
    else if (sign === '"' && this.#depth > 0) this.#isInString = !this.#isInString;
    else if (!this.#isInString && sign === '{') this.#depth += 1;
    else if (!this.#isInString && sign === '}' && this.#depth > 0) {
      this.#depth -= 1;
      return this.#depth === 0;
    }
    return false;
  }
}

/** Truncated arguments are kept as they are: the tool host reports what is wrong with them. */
function parseCall(text: string): Call | null {
  try {
    const { name, arguments: args } = JSON.parse(text) as { name?: unknown; arguments?: unknown };
    return typeof name === 'string' ? { name, args: JSON.stringify(args ?? {}) } : null;
  } catch {
    const name = /^\{\s*"name"\s*:\s*"([^"\\]+)"/.exec(text)?.[1];
    return name === undefined ? null : { name, args: text.slice(text.indexOf('"arguments"') + 12).replace(/^\s*:\s*/, '') };
  }
}
