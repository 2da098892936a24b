// The live text of an answer, without calls that the model writes as text: these are held back until text-calls.ts has read the answer.
// Does not decide what is a call; held text that turns out not to be a call is shown at the end.

import type { ToolSchema } from '../../contracts/llm.ts';
import { callOpening } from './calls-in-text.ts';
import type { ProgressSink } from './reply-reader.ts';

/** Longer answers are never read as calls. */
const HELD_CHARS_MAX = 200_000;
/** This much of a JSON value or a code block is enough to tell whether it is a call. */
const UNDECIDED_CHARS_MAX = 64;

/** The beginnings of calls as models and servers write them. */
const marks: readonly string[] = [
  '<tool',
  '<function_call',
  '<function=',
  '<function name=',
  '<invoke name=',
  '<minimax:',
  '<｜DSML｜',
  '<｜tool',
  '<|tool_call',
  '<|python_tag|>',
  '<|START_ACTION|>',
  '<|channel|>',
  '<|start|>',
  '[TOOL_CALLS]',
  'functools[',
  'Thought:',
  'Action:',
];
const CALL_IN_JSON =
  /^(?:```\w*\s*)?\[?\s*\{\s*["'](?:name|tool|tool_name|tool_calls|function|function_name|action|arguments|parameters|args|id|type)["']\s*:/;
const CALL_IN_FENCE = /^```(?:tool_calls?|tool_code)\b|^```\w*\s*<(?:tool_call|function)/;

export class LiveWords implements ProgressSink {
  readonly #sink: ProgressSink;
  readonly #names: readonly string[];
  readonly #knowsMark: boolean;
  #part: 'begin' | 'words' | 'call' = 'begin';
  #held = '';
  /** The line being written, and whether a code block is open before it. */
  #line = '';
  #isInCode = false;

  constructor(sink: ProgressSink, tools: readonly ToolSchema[], knowsMark: boolean) {
    this.#sink = sink;
    this.#knowsMark = knowsMark;
    this.#names = namesOf(tools);
  }

  text(delta: string): void {
    this.#held += delta;
    if (this.#part === 'begin') this.#part = this.#begin();
    if (this.#part === 'words') this.#pass();
    if (this.#held.length > HELD_CHARS_MAX) this.#release();
    else if (this.#held !== '') this.#sink.began?.();
  }

  reasoning(delta: string): void {
    this.#sink.reasoning?.(delta);
  }

  alive(): void {
    this.#sink.alive?.();
  }

  began(): void {
    this.#sink.began?.();
  }

  ended(): void {
    this.#sink.ended?.();
  }

  /** The answer is complete. Held text is shown now unless it was calls. */
  finish(wasCalls: boolean): void {
    if (!wasCalls) this.#release();
  }

  #release(): void {
    if (this.#held !== '') this.#sink.text(this.#held);
    this.#held = '';
  }

  #begin(): 'begin' | 'words' | 'call' {
    const begun = this.#held.trimStart();
    const isSome = (fits: (mark: string) => boolean): boolean => marks.some(fits) || this.#names.some(fits);
    const isCall = isSome((mark) => begun.startsWith(mark)) || CALL_IN_JSON.test(begun) || CALL_IN_FENCE.test(begun);
    if (isCall || this.#isListOfCalls(begun)) return 'call';
    const isOpen = isSome((mark) => mark.startsWith(begun)) || (/^[[{`]/.test(begun) && begun.length < UNDECIDED_CHARS_MAX);
    return isOpen ? 'begin' : 'words';
  }

  /** Matches `[a(x=1)]`, also in a code block. */
  #isListOfCalls(begun: string): boolean {
    const [opening = ''] = /^(?:```\w*\s+)?\[?\s*/.exec(begun) ?? [];
    return opening !== '' && this.#names.some((name) => begun.startsWith(name, opening.length));
  }

  /** Shows everything except text that may be the opening tag of a call at the start of a line. */
  #pass(): void {
    if (!this.#knowsMark) return this.#release();
    let shown = 0;
    for (let at = 0; at < this.#held.length && this.#part === 'words'; at = shown) {
      const end = this.#held.indexOf('\n', at);
      const isWhole = end >= 0;
      const piece = this.#held.slice(at, isWhole ? end + 1 : undefined);
      const line = (this.#line + piece).trimStart();
      if (!this.#isInCode && line.startsWith(callOpening)) this.#part = 'call';
      else if (!this.#isInCode && !isWhole && callOpening.startsWith(line) && line !== '') break;
      else shown += this.#take(piece, isWhole);
    }
    if (shown > 0) this.#sink.text(this.#held.slice(0, shown));
    this.#held = this.#held.slice(shown);
  }

  #take(piece: string, isWhole: boolean): number {
    this.#line += piece;
    if (isWhole) {
      if (this.#line.split('```').length % 2 === 0) this.#isInCode = !this.#isInCode;
      this.#line = '';
    }
    return piece.length;
  }
}

/** Cached, because every request has the same tools. */
const namesKnown = new WeakMap<readonly ToolSchema[], readonly string[]>();

function namesOf(tools: readonly ToolSchema[]): readonly string[] {
  const before = namesKnown.get(tools);
  if (before !== undefined) return before;
  const names = tools.flatMap(({ name }) => ['', 'functions.', 'default_api.', 'tools.'].map((space) => `${space}${name}(`));
  namesKnown.set(tools, names);
  return names;
}
