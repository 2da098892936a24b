// Reads calls that a model wrote as text, because its server has no parser for them or offers no tools: tags, special tokens, JSON, Python
// calls, Action and Action Input. Only an answer that consists of nothing but calls of offered tools is read as calls; surrounded by text
// they are an example or a quotation. Runs nothing, and the policy gate decides about each call as about any other.

import { isPlainObject, parseJson } from '../../base/json.ts';
import { readCallArguments, readLooseValue } from '../../base/loose-value.ts';
import type { ModelRequest, ReplyCall, ToolSchema } from '../../contracts/llm.ts';
import { callClosing, callOpening } from './calls-in-text.ts';
import type { RawReply } from './reply-reader.ts';

const CALLS_MAX = 64;
const ANSWER_CHARS_MAX = 200_000;

export interface TextCalls {
  /** The text before the calls. */
  readonly text: string;
  readonly calls: readonly ReplyCall[];
}

export interface TextCallOptions {
  readonly tools: readonly ToolSchema[];
  /** True if the request described the tag of a call: text may then precede it, outside a code block. */
  readonly knowsMark: boolean;
}

/** Tags around and between calls. They only indicate that a call may follow. */
const MARK =
  /\s+|;|Action:(?=\s*```)|<\/?(?:minimax:)?(?:tool_calls?|function_calls?|tools?|toolcall)>|<\/?｜DSML｜(?:function_calls|tool_calls)>|<\|?\/?tool_call\|?>|<\|(?:tool_calls_section_begin|tool_calls_section_end|tool_call_begin|tool_call_end|python_tag|START_ACTION|END_ACTION|start|end|call|im_end|im_start|eom_id|eot_id|end_of_text|endoftext|return)\|>|<｜(?:tool▁calls▁begin|tool▁calls▁end|tool▁call▁begin|tool▁call▁end|end▁of▁sentence)｜>|<\/s>|<end_of_turn>|\[TOOL_CALLS\]|\[\/TOOL_CALLS\]|functools(?=\s*\[)|```(?:json5?|tool_calls?|tool_code|python|py|xml)?(?![\w`])|function<｜tool▁sep｜>/y;
/** Separators between a name and its arguments. */
const BETWEEN =
  /(?::\d+)?\s*(?:\[CALL_ID\]\w+)?(?:\[ARGS\]|<｜tool▁sep｜>|<\|tool_call_argument_begin\|>|<\|message\|>)?\s*(?:```(?:json)?\s*)?(?=\{)/y;
const NAME = /([A-Za-z_][\w.-]*)/y;
const HARMONY =
  /(?:assistant)?(?:\s*to=functions\.([\w.-]+))?<\|channel\|>(?:commentary|analysis)(?:\s*to=functions\.([\w.-]+))?[^<{]*(?:<\|constrain\|>\w+)?<\|message\|>/y;
const FUNCTION = /<function(?:=|\s+name=)["']?([\w.-]+)["']?>([^]*?)<\/function>/y;
const INVOKE = /<(?:｜DSML｜)?invoke name=["']([\w.-]+)["'][^>]*>([^]*?)<\/(?:｜DSML｜)?invoke>/y;
const PARAMETER =
  /\s*<(?:｜DSML｜)?parameter(?:=([^\s<>"']+)|\s+name=["']([^"'<>]+)["'])[^>]*>([^]*?)<\/(?:｜DSML｜)?parameter>\s*|\s*<arg_key>([^<]+)<\/arg_key>\s*<arg_value>([^]*?)<\/arg_value>\s*/y;
const ACTION = /(?:Thought:(?:(?!\nAction:)[^])*\n)?Action:\s*`?([\w.-]+)`?\s*\nAction Input:[ \t]*/y;
/**
 * Returns the answer with the calls found in its text. An answer that is truncated or withdrawn, or that already has calls, is returned
 * unchanged.
 */
export function withTextCalls(raw: RawReply, { tools, messages }: ModelRequest, knowsMark: boolean): RawReply {
  const mayCall = raw.calls.length === 0 && raw.finishReason !== 'length' && raw.finishReason !== 'content_filter';
  if (!mayCall || tools.length === 0) return raw;
  const found = readTextCalls(raw.text, { tools, knowsMark });
  if (found === null) return raw;
  const said = messages.flatMap((message) => (message.role === 'assistant' ? [] : [message.text]));
  return isQuoted(raw.text, found.calls, said) ? raw : { ...raw, ...found, finishReason: 'tool_calls' };
}

/** Null if the answer is text. */
export function readTextCalls(answer: string, options: TextCallOptions): TextCalls | null {
  if (answer.length > ANSWER_CHARS_MAX) return null;
  const body = withoutInvented(answer.trim());
  const calls = readCalls(body, options);
  if (calls !== null) return { text: '', calls };
  const at = options.knowsMark ? markAt(body) : -1;
  const after = at < 0 ? null : readCalls(body.slice(at), options);
  return after === null ? null : { text: body.slice(0, at).trimEnd(), calls: after };
}

/** Returns whether the conversation already contains this call in a text by another author, so that the answer quotes it. */
export function isQuoted(answer: string, calls: readonly ReplyCall[], said: readonly string[]): boolean {
  const whole = packed(answer);
  return said.map(packed).some((text) => text.includes(whole) || calls.some(({ tool, args }) => quotes(text, tool, packed(args))));
}

function quotes(text: string, tool: string, args: string): boolean {
  return args !== '{}' && text.includes(args) && text.includes(tool);
}

/** Normalises white space, backslashes and quotes, because pages and JSON escape what they quote. */
function packed(text: string): string {
  return text.replace(/[\s\\]+/g, '').replace(/'|&quot;/g, '"');
}

/** Removes a result that a model invented after its calls, unless more text follows that result. */
function withoutInvented(body: string): string {
  const response = body.indexOf('<tool_response>');
  const close = body.indexOf('</tool_response>', response);
  if (response > 0 && (close < 0 || close + '</tool_response>'.length === body.length)) return body.slice(0, response).trimEnd();
  const at = body.startsWith('Thought:') || body.startsWith('Action:') ? body.indexOf('\nObservation:') : -1;
  const isLast = at >= 0 && /^\nObservation:[^\n]*(?:$|\n(?:Thought|Action|Final Answer):)/.test(body.slice(at));
  return isLast ? body.slice(0, at).trimEnd() : body;
}

/** The position of the first call tag, if it begins a line outside a code block; else -1. */
function markAt(body: string): number {
  const at = body.indexOf(callOpening);
  const before = body.slice(0, Math.max(0, at));
  return /\n[ \t]*$/.test(before) && before.split('```').length % 2 === 1 ? at : -1;
}

function readCalls(body: string, options: TextCallOptions): readonly ReplyCall[] | null {
  // Plain text starts differently, so most answers return here.
  if (!/^(?:[<[{`]|functools|Thought:|Action:|[\w.]+\()/.test(body)) return null;
  const reader = new CallReader(body, options);
  const calls = reader.all();
  return calls.length === 0 || calls.length > CALLS_MAX || !reader.isAtEnd ? null : calls;
}

class CallReader {
  readonly #text: string;
  readonly #tools: ReadonlyMap<string, ToolSchema>;
  readonly #knowsMark: boolean;
  #at = 0;
  #hasMark = false;
  /** True once a tag was seen that only calls have. */
  #isSure = false;

  constructor(text: string, { tools, knowsMark }: TextCallOptions) {
    this.#text = text;
    this.#knowsMark = knowsMark;
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  all(): ReplyCall[] {
    const calls: ReplyCall[] = [];
    for (;;) {
      this.#marks();
      const found = this.isAtEnd ? null : this.#next();
      if (found === null) return calls;
      calls.push(...found);
    }
  }

  #marks(): void {
    for (let mark = this.#eat(MARK); mark !== null; mark = this.#eat(MARK)) {
      this.#hasMark ||= mark[0].trim() !== '';
      this.#isSure ||= mark[0].startsWith('<') || mark[0] === '```tool_code';
    }
  }

  #next(): readonly ReplyCall[] | null {
    return (
      this.#list() ?? this.#value() ?? this.#harmony() ?? this.#tagged(FUNCTION) ?? this.#tagged(INVOKE) ?? this.#named() ?? this.#action()
    );
  }

  /** Reads JSON or near-JSON. */
  #value(): readonly ReplyCall[] | null {
    const sign = this.#text[this.#at];
    if (sign !== '{' && sign !== '[') return null;
    const read = readLooseValue(this.#text, this.#at);
    const calls = read === null ? null : this.#callsOf(read.value);
    if (read === null || calls === null) return null;
    this.#at = read.end;
    return calls;
  }

  /** Reads `[a(x=1), b()]`. */
  #list(): readonly ReplyCall[] | null {
    const begin = this.#at;
    if (this.#eat(/\[\s*(?=[A-Za-z_][\w.]*\()/y) === null) return null;
    const calls: ReplyCall[] = [];
    do {
      const call = this.#python(true);
      if (call === null) return this.#back(begin);
      calls.push(call);
    } while (this.#eat(/\s*,\s*(?!\])/y) !== null);
    return this.#eat(/\s*,?\s*\]/y) === null ? this.#back(begin) : calls;
  }

  #harmony(): readonly ReplyCall[] | null {
    const begin = this.#at;
    const found = this.#eat(HARMONY);
    if (found === null) return null;
    const name = found[1] ?? found[2];
    // The model's thoughts before the call; they end with a tag.
    if (name === undefined) return this.#eat(/[^]*?(?=<\|end\|>)/y) === null ? this.#back(begin) : [];
    return this.#object(name) ?? this.#back(begin);
  }

  #tagged(form: RegExp): readonly ReplyCall[] | null {
    const begin = this.#at;
    const [, name = '', inner = ''] = this.#eat(form) ?? [];
    if (name === '') return null;
    const json = readWhole(inner);
    const args = isPlainObject(json) ? json : this.#parameters(name, inner);
    return (args === null ? null : this.#call(name, args)) ?? this.#back(begin);
  }

  /** A name with arguments as an object, as tags, or in parentheses. */
  #named(): readonly ReplyCall[] | null {
    const begin = this.#at;
    const [, name = ''] = this.#eat(NAME) ?? [];
    if (this.#text[this.#at] === '(') {
      this.#at = begin;
      const call = this.#python(this.#knowsMark);
      return call === null ? null : [call];
    }
    if (name === '' || !this.#hasMark) return this.#back(begin);
    if (this.#eat(BETWEEN) !== null) return this.#object(name) ?? this.#back(begin);
    const end = this.#text.indexOf(callClosing, this.#at);
    const inner = this.#text.slice(this.#at, Math.max(end, this.#at));
    const args = end < 0 ? null : this.#parameters(name, inner);
    if (args === null) return this.#back(begin);
    this.#at += inner.length;
    return this.#call(name, args) ?? this.#back(begin);
  }

  #action(): readonly ReplyCall[] | null {
    const begin = this.#at;
    const [, name = ''] = this.#eat(ACTION) ?? [];
    const tool = this.#toolOf(name);
    if (tool === null) return this.#back(begin);
    if (this.#text[this.#at] === '{') return this.#object(name) ?? this.#back(begin);
    const rest = this.#text.slice(this.#at).trim();
    const [only, ...others] = propertiesOf(tool);
    if (only === undefined || others.length > 0 || rest === '' || /^[{[]|\n/.test(rest)) return this.#back(begin);
    this.#at = this.#text.length;
    return this.#call(name, { [only[0]]: typed(rest.replace(/^(["'`])(.*)\1$/, '$2'), only[1]) });
  }

  /**
   * Code has the same form, so without a tag only named arguments make it a call, and a single call counts only if calls are written as
   * text anyway.
   */
  #python(isPlausible: boolean): ReplyCall | null {
    const begin = this.#at;
    const [, name = ''] = this.#eat(/([A-Za-z_][\w.]*)(?=\()/y) ?? [];
    const tool = this.#toolOf(name);
    const read = tool === null ? null : readCallArguments(this.#text, this.#at);
    const keys = tool === null ? [] : propertiesOf(tool).map(([key]) => key);
    const plainMax = this.#isSure ? keys.length : 0;
    if (read === null || !(isPlausible || this.#isSure) || read.value.plain.length > plainMax) return this.#back(begin);
    const plain = read.value.plain.map((value, place): [string, unknown] => [keys[place] ?? '', value]);
    this.#at = read.end;
    return this.#call(name, { ...Object.fromEntries(plain), ...read.value.named })?.[0] ?? null;
  }

  #object(name: string): readonly ReplyCall[] | null {
    const read = readLooseValue(this.#text, this.#at);
    if (read === null || !isPlainObject(read.value)) return null;
    const call = this.#call(name, read.value);
    if (call !== null) this.#at = read.end;
    return call;
  }

  #parameters(name: string, inner: string): Record<string, unknown> | null {
    const tool = this.#toolOf(name);
    const kinds = new Map(tool === null ? [] : propertiesOf(tool));
    const found: [string, unknown][] = [];
    let at = 0;
    while (at < inner.length && inner.slice(at).trim() !== '') {
      PARAMETER.lastIndex = at;
      const match = PARAMETER.exec(inner);
      if (match === null) return null;
      at = PARAMETER.lastIndex;
      const key = (match[1] ?? match[2] ?? match[4] ?? '').trim();
      found.push([key, typed(match[3] ?? match[5] ?? '', kinds.get(key))]);
    }
    return Object.fromEntries(found);
  }

  /** Null if any value is not a call of an offered tool. */
  #callsOf(value: unknown): readonly ReplyCall[] | null {
    if (Array.isArray(value)) {
      const calls = (value as unknown[]).map((one) => (isPlainObject(one) ? this.#callsOf(one) : null));
      return calls.includes(null) ? null : calls.flatMap((one) => one ?? []);
    }
    if (!isPlainObject(value)) return null;
    if (Array.isArray(value['tool_calls']) && Object.keys(value).length <= 3) return this.#callsOf(value['tool_calls']);
    if (isPlainObject(value['function'])) return this.#callsOf(value['function']);
    const name = firstOf(value, nameKeys);
    const given = firstOf(value, argumentKeys);
    const args = typeof given === 'string' ? readWhole(given) : given;
    if (typeof name !== 'string' || Object.keys(value).some((key) => !callKeys.has(key))) return null;
    if (args === undefined && this.#hasMark) return this.#call(name, {});
    return isPlainObject(args) ? this.#call(name, args) : null;
  }

  #call(name: string, args: Record<string, unknown>): readonly ReplyCall[] | null {
    const tool = this.#toolOf(name);
    return tool === null ? null : [{ id: '', tool: tool.name, args: JSON.stringify(args) }];
  }

  /** Finds a tool by its full name, or by the part after a known namespace. */
  #toolOf(name: string): ToolSchema | null {
    return this.#tools.get(name) ?? this.#tools.get(name.replace(/^(?:functions|default_api|tools)[.:]/, '')) ?? null;
  }

  #eat(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found !== null) this.#at = pattern.lastIndex;
    return found;
  }

  #back(at: number): null {
    this.#at = at;
    return null;
  }
}

const nameKeys = ['name', 'tool_name', 'tool', 'function', 'function_name', 'action'];
const argumentKeys = ['arguments', 'parameters', 'args', 'input', 'tool_input', 'action_input', 'params'];
const callKeys: ReadonlySet<string> = new Set([...nameKeys, ...argumentKeys, 'id', 'type', 'index', 'call_id', 'tool_call_id']);

function firstOf(value: Record<string, unknown>, keys: readonly string[]): unknown {
  return value[keys.find((key) => Object.hasOwn(value, key)) ?? ''];
}

function readWhole(text: string): unknown {
  const strict = parseJson(text);
  if (strict.ok) return strict.value;
  const read = readLooseValue(text);
  return read !== null && text.slice(read.end).trim() === '' ? read.value : undefined;
}

function propertiesOf({ parameters }: ToolSchema): [string, unknown][] {
  const properties = isPlainObject(parameters) ? parameters['properties'] : undefined;
  return isPlainObject(properties) ? Object.entries(properties) : [];
}

/** Converts the text of a tag to a value of its schema. A string is kept as it is, except for the line breaks next to the tags. */
function typed(text: string, schema: unknown): unknown {
  const plain = text.replace(/^\r?\n|\r?\n$/g, '');
  if (isPlainObject(schema) && schema['type'] === 'string') return plain;
  const value = readWhole(plain.trim());
  return value === undefined ? plain : value;
}
