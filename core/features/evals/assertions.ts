// Grades an outcome by rules: the answer, the calls and the cost. Pure. A judge grades rubrics elsewhere.

import { counted } from '../../base/counted.ts';
import { formatUsd } from '../../base/format-usd.ts';
import { isDeepStrictEqual } from 'node:util';
import { isPlainObject, parseJson, objectIn } from '../../base/json.ts';
import { toAppError } from '../../contracts/errors.ts';
import type { EvalAssert, EvalCase } from '../../contracts/features/evals.ts';
import { outputOfJsonSchema, valueIn } from '../../mind/asking/asking.ts';

/** The result of running a case, before it is graded. */
export interface Outcome {
  /** `done`, or the code of what ended the turn, such as over_budget. */
  readonly status: string;
  readonly text: string;
  readonly calls: readonly { readonly tool: string; readonly args: string }[];
  /** Files that the case wrote in its workspace, by path; null for a deleted file. */
  readonly files: Readonly<Record<string, string | null>>;
  readonly costUsd: number | null;
  readonly tookMs: number;
}

export type Check = EvalCase['checks'][number];

/** Null for an assertion that needs a judge. */
export function checkByRule(given: EvalAssert, outcome: Outcome): Check | null {
  const { type, value, threshold } = given;
  switch (type) {
    case 'is-json':
      return checkJson(outcome.text, value);
    case 'tool':
    case 'not-tool':
      return checkTool(type, value, outcome);
    case 'calls':
      return checkCalls(value, outcome);
    case 'file':
    case 'not-file':
      return checkFile(type, value, outcome);
    case 'ends':
      return { type, pass: outcome.status === value, reason: `It ended: ${outcome.status}.` };
    case 'cost':
    case 'latency':
      return checkLimit(type, threshold ?? Number(value), outcome);
    case 'llm-rubric':
      return null;
    default: {
      const { pass, reason } = textRules[type](outcome.text, value);
      return { type, pass, reason };
    }
  }
}

type TextRule = (text: string, value: unknown) => Omit<Check, 'type'>;
type OtherType = 'is-json' | 'tool' | 'not-tool' | 'calls' | 'file' | 'not-file' | 'ends' | 'cost' | 'latency' | 'llm-rubric';
type TextType = Exclude<EvalAssert['type'], OtherType>;

const textRules: Readonly<Record<TextType, TextRule>> = {
  contains: (text, value) => found(text.includes(String(value)), value),
  'not-contains': (text, value) => unwanted(text.includes(String(value)), value),
  icontains: (text, value) => found(text.toLowerCase().includes(String(value).toLowerCase()), value),
  'contains-any': (text, value) => {
    const pass = textsIn(value).some((one) => text.includes(one));
    return { pass, reason: `Looked for any of ${textsIn(value).join(', ')}.` };
  },
  'contains-all': (text, value) => {
    const missing = textsIn(value).filter((one) => !text.includes(one));
    return { pass: missing.length === 0, reason: missing.length === 0 ? 'All are in the answer.' : `Missing: ${missing.join(', ')}.` };
  },
  equals: (text, value) => ({
    pass: isEqual(text, value),
    reason: `Wanted exactly: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  }),
  'starts-with': (text, value) => ({
    pass: text.trimStart().startsWith(String(value)),
    reason: `Wanted at the beginning: ${String(value)}`,
  }),
  regex: (text, value) => found(new RegExp(String(value), 'u').test(text), value),
  'not-regex': (text, value) => unwanted(new RegExp(String(value), 'u').test(text), value),
};

function found(pass: boolean, value: unknown): Omit<Check, 'type'> {
  return { pass, reason: `"${String(value)}" is ${pass ? '' : 'not '}in the answer.` };
}

function unwanted(isThere: boolean, value: unknown): Omit<Check, 'type'> {
  return { pass: !isThere, reason: `"${String(value)}" is ${isThere ? '' : 'not '}in the answer.` };
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function checkLimit(type: 'cost' | 'latency', limit: number, { costUsd, tookMs }: Outcome): Check {
  if (type === 'latency') return { type, pass: tookMs <= limit, reason: `It took ${Math.round(tookMs)} ms.` };
  if (costUsd === null) return { type, pass: false, reason: 'The price of the model is unknown.' };
  return { type, pass: costUsd <= limit, reason: `It cost ${formatUsd(costUsd)}.` };
}

function isEqual(text: string, value: unknown): boolean {
  if (typeof value === 'string') return text.trim() === value.trim();
  const parsed = parseJson(text.trim());
  return parsed.ok && isDeepStrictEqual(parsed.value, value);
}

function checkJson(text: string, schema: unknown): Check {
  const type = 'is-json';
  if (!isPlainObject(schema)) {
    const { ok } = parseJson(text.trim());
    return { type, pass: ok, reason: ok ? 'It is JSON.' : 'It is not JSON.' };
  }
  try {
    const pass = valueIn(text, outputOfJsonSchema(schema)) !== undefined;
    return { type, pass, reason: pass ? 'It follows the schema.' : 'It is no JSON value of the schema.' };
  } catch (cause) {
    return { type, pass: false, reason: toAppError(cause).message };
  }
}

interface WantedCall {
  readonly name: string;
  readonly args?: Readonly<Record<string, unknown>>;
  /** The accepted values by argument. An empty string among them makes the argument optional. No other argument may be given. */
  readonly oneOf?: Readonly<Record<string, readonly unknown[]>>;
}

/** Arguments in `args` must be equal and all others are ignored. With `oneOf`, every argument is checked. */
function checkTool(type: 'tool' | 'not-tool', value: unknown, { calls }: Outcome): Check {
  const wanted: WantedCall = typeof value === 'string' ? { name: value } : (value as WantedCall);
  const made = calls.filter(({ tool, args }) => tool === wanted.name && holds(args, wanted));
  const listed = calls.map(({ tool, args }) => `${tool} ${args.slice(0, 200)}`).join('; ');
  const isMade = made.length > 0;
  return {
    type,
    pass: isMade === (type === 'tool'),
    reason: `${wanted.name} was ${isMade ? '' : 'not '}called so. Calls: ${listed || 'none'}.`,
  };
}

function holds(args: string, { args: wanted = {}, oneOf }: WantedCall): boolean {
  const given = objectIn(args === '' ? '{}' : args);
  if (given === null) return false;
  const isEqualThere = Object.entries(wanted).every(([key, value]) => isDeepStrictEqual(given[key], value));
  return isEqualThere && (oneOf === undefined || fitsChoices(given, oneOf));
}

function fitsChoices(given: Readonly<Record<string, unknown>>, choices: Readonly<Record<string, unknown>>): boolean {
  const isKnown = Object.keys(given).every((key) => Object.hasOwn(choices, key));
  return isKnown && Object.entries(choices).every(([key, right]) => fitsOne(given[key], Array.isArray(right) ? right : [right]));
}

function fitsOne(given: unknown, right: readonly unknown[]): boolean {
  return given === undefined ? right.length === 0 || right.includes('') : right.some((one) => isAlike(given, one));
}

/** Compares strings without case, spaces and punctuation, as the Berkeley leaderboard does. */
function isAlike(given: unknown, right: unknown): boolean {
  if (typeof given === 'string' && typeof right === 'string') return plain(given) === plain(right);
  if (Array.isArray(given) && Array.isArray(right))
    return given.length === right.length && given.every((one, index) => isAlike(one, right[index]));
  if (isPlainObject(given) && isPlainObject(right)) return fitsChoices(given, right);
  return given === right;
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[ ,./_*^-]/g, '')
    .replaceAll("'", '"');
}

function checkCalls(value: unknown, { calls }: Outcome): Check {
  const { count, tools } = typeof value === 'number' ? { count: value } : (value as { count: number; tools?: readonly string[] });
  const made = calls.filter(({ tool }) => tools === undefined || tools.includes(tool));
  return { type: 'calls', pass: made.length === count, reason: `Wanted ${counted(count, 'call')}, got ${made.length}.` };
}

function checkFile(type: 'file' | 'not-file', value: unknown, { files }: Outcome): Check {
  const wanted = typeof value === 'string' ? { path: value } : (value as { path: string; contains?: string; gone?: boolean });
  const { path, contains = '', gone = false } = wanted;
  const text = files[path];
  if (gone) return { type, pass: (text === null) === (type === 'file'), reason: `${path} is ${text === null ? '' : 'not '}gone.` };
  const isSo = text?.includes(contains) === true;
  const said = typeof text !== 'string' ? `${path} was not written.` : `${path} was written${isSo ? '' : `, without "${contains}"`}.`;
  return { type, pass: isSo === (type === 'file'), reason: said };
}
