// Questions that a server asks a person during a call. They wait for a bounded time and are answered from any door that answers approvals,
// never by the model. The answer goes only to the server.

import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/client';
import { NewestMap } from '../../base/newest-map.ts';
import type { Clock } from '../../base/clock.ts';
import { settlesWithin } from '../../base/waits.ts';
import type { IdSource } from '../../base/ids.ts';
import { isPlainObject } from '../../base/json.ts';
import { isLoopbackHost } from '../../base/loopback.ts';
import { AppError } from '../../contracts/errors.ts';
import type { EndedQuestion, McpQuestion } from '../../contracts/features/mcp.ts';
import { fieldsOf, type QuestionField } from '../../contracts/question-fields.ts';
import type { ToolContext } from '../../contracts/tools.ts';
import type { OpParsed } from '../../contracts/ops.ts';
import { shown } from './tool-pins.ts';

export const questionMs = 5 * 60_000;
const OPEN_MAX = 5;
const FIELDS_MAX = 30;
/** How many ended questions are remembered with their outcome. */
const ENDED_MAX = 50;

type Content = NonNullable<ElicitResult['content']>;

interface Open {
  readonly question: McpQuestion;
  readonly answered: PromiseWithResolvers<ElicitResult>;
}

/** Called after the question was added to the list, or removed from it. */
export interface QuestionNews {
  asked(question: McpQuestion): void;
  ended(end: EndedQuestion): void;
}

type Answer = OpParsed<'mcp.answer'>;

export interface Asking {
  readonly server: string;
  readonly tool: string;
  readonly call: Pick<ToolContext, 'sessionId' | 'turnId' | 'callId'>;
  readonly signal: AbortSignal;
}

export class Questions {
  readonly #clock: Clock;
  readonly #ids: IdSource;
  readonly #news: QuestionNews;
  readonly #open = new Map<string, Open>();
  readonly #ended = new NewestMap<string, EndedQuestion>(ENDED_MAX);

  constructor(clock: Clock, ids: IdSource, news: QuestionNews) {
    this.#clock = clock;
    this.#ids = ids;
    this.#news = news;
  }

  list(): McpQuestion[] {
    return [...this.#open.values()].map(({ question }) => question);
  }

  /** Null for a question that is open, unknown, or ended long ago. */
  ended(questionId: string): EndedQuestion | null {
    return this.#ended.get(questionId) ?? null;
  }

  /** Declines at once if the question cannot be shown to a person; cancels after the time limit. */
  async ask(asking: Asking, params: ElicitRequest['params']): Promise<ElicitResult> {
    const form = formOf(params);
    if (form === null || this.#open.size >= OPEN_MAX || asking.signal.aborted) return { action: 'decline' };
    const nowMs = this.#clock.nowMs();
    const { sessionId, turnId, callId } = asking.call;
    const question = {
      questionId: this.#ids.next('qst'),
      server: asking.server,
      tool: asking.tool,
      sessionId,
      turnId,
      callId,
      message: shown(params.message, 2000),
      askedAtMs: nowMs,
      dueAtMs: nowMs + questionMs,
      ...form,
    };
    const answered = Promise.withResolvers<ElicitResult>();
    this.#open.set(question.questionId, { question, answered });
    this.#news.asked(question);
    try {
      const isAnswered = await settlesWithin(answered.promise, questionMs, asking.signal);
      return isAnswered ? await answered.promise : { action: 'cancel' };
    } finally {
      if (this.#open.has(question.questionId))
        this.#end({ question, action: 'cancel', fields: [], by: asking.signal.aborted ? 'the end of the call' : 'timeout' });
    }
  }

  #end(end: EndedQuestion): void {
    const { questionId } = end.question;
    this.#open.delete(questionId);
    this.#ended.set(questionId, end);
    this.#news.ended(end);
  }

  /** Fails with not_found, or with invalid_params if the content is not valid; the question then stays open. */
  answer({ questionId, action, content }: Answer, by: string): McpQuestion {
    const open = this.#open.get(questionId);
    if (open === undefined) throw new AppError('not_found', `There is no open question ${questionId}.`);
    const { question } = open;
    if (action !== 'accept' || question.schema === null) open.answered.resolve({ action });
    else open.answered.resolve({ action, content: fitting(question.schema, content ?? {}) });
    this.#end({ question, action, fields: Object.keys(content ?? {}), by });
    return question;
  }
}

function formOf(params: ElicitRequest['params']): Pick<McpQuestion, 'schema' | 'url'> | null {
  if (params.mode === 'url') {
    const url = URL.parse(params.url);
    // A name before an @ can be mistaken for the host.
    const isPlain = url?.username === '' && url.password === '';
    if (url === null || !isPlain || !(url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname)))) return null;
    return { schema: null, url: url.href };
  }
  const schema = params.requestedSchema;
  const isFit =
    isPlainObject(schema.properties) && Object.keys(schema.properties).length <= FIELDS_MAX && JSON.stringify(schema).length < 32_000;
  return isFit ? { schema, url: null } : null;
}

/** The content, with defaults for omitted fields. Fails with invalid_params. */
function fitting(schema: Readonly<Record<string, unknown>>, content: Content): Content {
  const fields = fieldsOf(schema);
  const unknown = Object.keys(content).find((name) => !fields.some((field) => field.name === name));
  if (unknown !== undefined) throw unfit(`there is no field ${unknown}`);
  const entries = fields.flatMap((field): [string, Content[string]][] => {
    const { name, isNeeded, standard } = field;
    const value = content[name] ?? (standard as Content[string] | undefined);
    if (value === undefined) {
      if (isNeeded) throw unfit(`${name} is missing`);
      return [];
    }
    const wanted = wantedBy(field, value);
    if (wanted !== null) throw unfit(`${name} must be ${wanted}`);
    return [[name, value]];
  });
  return Object.fromEntries(entries);
}

/** The expected form; null if the value fits. */
function wantedBy({ kind, isWhole, choices }: QuestionField, value: Content[string]): string | null {
  const values = choices.map((choice) => choice.value);
  const isOffered = (one: string): boolean => values.length === 0 || values.includes(one);
  switch (kind) {
    case 'yes':
      return unless(typeof value === 'boolean', 'true or false');
    case 'number':
      return unless(typeof value === 'number' && (!isWhole || Number.isInteger(value)), isWhole ? 'a whole number' : 'a number');
    case 'several':
      return unless(Array.isArray(value) && value.every(isOffered), `a list of ${values.join(', ') || 'texts'}`);
    case 'one':
    case 'text':
      return unless(typeof value === 'string' && isOffered(value), values.length === 0 ? 'a text' : `one of ${values.join(', ')}`);
  }
}

function unless(fits: boolean, wanted: string): string | null {
  return fits ? null : wanted;
}

function unfit(what: string): AppError {
  return new AppError('invalid_params', `The answer is not valid: ${what}.`, { hint: 'The question is still open.' });
}
