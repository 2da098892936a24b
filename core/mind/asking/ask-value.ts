// Asks a question whose answer is a value of a schema. The schema is part of the prompt, and enforced by servers that support it. The
// answer is always validated here, and the model may correct a wrong one once. A missing value is a result with a reason and a cost, not a
// failure.

import * as z from 'zod';
import { parseJson } from '../../base/json.ts';
import { sendableSchema, type SendableSchema } from '../../base/sendable-schema.ts';
import { describeIssues } from '../../contracts/describe-issues.ts';
import { toAppError } from '../../contracts/errors.ts';
import { noUsage, type OutputForm } from '../../contracts/llm.ts';
import { addSpending } from '../../contracts/spending.ts';
import { askModel, type AskingDeps, type ModelAnswer, type ModelQuestion, type Spent } from './ask-model.ts';

/** The wanted value: the schema that decides, and its form for models. */
export interface Output<T> {
  readonly schema: z.ZodType<T>;
  readonly form: OutputForm;
  readonly fromModel: SendableSchema['fromModel'];
  /** The text for the system prompt. */
  readonly words: string;
}

/** `spent` is undefined if no model was asked. */
export type ValueAnswer<T> = ({ readonly value: T } | { readonly refused: string }) & { readonly spent?: Spent };

/** The reason why an answer is unusable. `note` asks the model to correct it, and is absent if a second answer would be no better. */
interface Flaw {
  readonly refused: string;
  readonly note?: string;
}

type Answered = Exclude<ModelAnswer, { refused: string }>;

/** At most this much of a wrong answer is sent back to the model. */
const AGAIN_CHARS_MAX = 8_000;

/** `json` is the JSON schema that the person gave, if any; it may say more than the schema library keeps. */
export function outputOf<T>(
  name: string,
  schema: z.ZodType<T>,
  json: unknown = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }),
): Output<T> {
  const { parameters, note, fromModel } = sendableSchema(json);
  const about = note === '' ? '' : ` ${note}`;
  const words = `Answer with one JSON object and nothing else: no words around it, no code fence. It follows this JSON schema:${about}\n${JSON.stringify(parameters)}`;
  return { schema, form: { name, schema: parameters }, fromModel, words };
}

/** Fails as `askModel` does while the first answer is pending. After that, fails only with `cancelled`. */
export async function askValue<T>(
  deps: AskingDeps,
  question: Omit<ModelQuestion, 'output' | 'again'>,
  output: Output<T>,
  signal: AbortSignal,
): Promise<ValueAnswer<T>> {
  const asked = { ...question, system: `${question.system}\n\n${output.words}`, output: output.form };
  const first = await askModel(deps, asked, signal);
  if ('refused' in first) return first;
  const read = readOutput(first, output);
  if ('value' in read || read.note === undefined) return { ...result(read), spent: spentOf([first]) };
  const again = { answer: first.text.slice(0, AGAIN_CHARS_MAX), note: read.note };
  const second = await askModel(deps, { ...asked, again }, signal).catch((cause: unknown) => {
    if (signal.aborted) throw cause;
    return { refused: toAppError(cause).message };
  });
  if ('refused' in second) return { refused: `${read.refused}; it was not asked again: ${second.refused}`, spent: spentOf([first]) };
  return { ...result(readOutput(second, output)), spent: spentOf([first, second]) };
}

/** Extracts the value from a text that was obtained elsewhere. Undefined if the text contains no valid value. */
export function valueIn<T>(text: string, output: Output<T>): { readonly value: T } | undefined {
  const read = readText(text, output);
  return 'value' in read ? read : undefined;
}

function result<T>(read: { readonly value: T } | Flaw): { readonly value: T } | { readonly refused: string } {
  return 'value' in read ? { value: read.value } : { refused: read.refused };
}

function readOutput<T>({ text, finishReason }: Answered, output: Output<T>): { readonly value: T } | Flaw {
  if (finishReason === 'content_filter') return { refused: 'the model refused to answer' };
  // A truncated answer has no value, and a second answer would be just as long.
  if (finishReason === 'length') return { refused: 'its answer is longer than it may be, and was cut off' };
  return readText(text, output);
}

function readText<T>(text: string, { schema, fromModel, form }: Output<T>): { readonly value: T } | Flaw {
  const json = jsonIn(text);
  if (json === undefined) return flaw(['it is not one JSON object']);
  try {
    const given = fromModel(json);
    const checked = schema.safeParse(given);
    if (checked.success) return { value: checked.data };
    return flaw(describeIssues(checked.error.issues, { given, whole: 'the answer as a whole', told: form.schema.properties }));
  } catch (cause) {
    // Only an answer nested thousands of levels deep gets here: the recursive check overflows the stack.
    if (cause instanceof RangeError) return flaw(['it is nested too deeply']);
    throw cause;
  }
}

function flaw(problems: readonly string[]): Flaw {
  const listed = problems.join('; ');
  const note = `That answer does not follow the schema: ${listed}. Answer again with the corrected JSON object, and nothing else.`;
  return { refused: `its answer does not follow the schema: ${listed}`, note };
}

function spentOf(answers: readonly Answered[]): Spent {
  return answers.reduce<Spent>((sum, answer) => ({ ...addSpending(sum, answer), tookMs: sum.tookMs + answer.tookMs }), {
    usage: noUsage,
    costUsd: 0,
    tookMs: 0,
  });
}

/**
 * Parses the one JSON value of an answer, even if the model put text or a code fence around it. An answer with two objects has no value:
 * the first may be quoted from the input.
 */
function jsonIn(text: string): unknown {
  const bare = text.trim().replace(/^```\w*\s*\n([\s\S]*)\n\s*```$/, '$1');
  const whole = parseJson(bare);
  if (whole.ok) return whole.value;
  const from = text.indexOf('{');
  const to = text.lastIndexOf('}');
  const parsed = from === -1 || to < from ? whole : parseJson(text.slice(from, to + 1));
  return parsed.ok ? parsed.value : undefined;
}
