// Questions that a server asks a person during a call. They wait for a bounded time and are answered from any door that answers approvals,
// never by the model; the answer goes to the server and nowhere else.

import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/client';
import type { Clock } from '../../base/clock.ts';
import { Deferred, sleep } from '../../base/deferred.ts';
import type { IdSource } from '../../base/ids.ts';
import { isPlainObject } from '../../base/json.ts';
import { AppError } from '../../contracts/errors.ts';
import type { McpQuestion } from '../../contracts/features/mcp.ts';
import type { ToolContext } from '../../contracts/tools.ts';
import { isLoopback } from './http-link.ts';
import { shown } from './tool-pins.ts';

export const questionMs = 5 * 60_000;
const OPEN_MAX = 5;
const FIELDS_MAX = 30;

type Content = NonNullable<ElicitResult['content']>;

interface Open {
  readonly question: McpQuestion;
  readonly answered: Deferred<ElicitResult>;
}

export interface Asking {
  readonly server: string;
  readonly tool: string;
  readonly call: Pick<ToolContext, 'sessionId' | 'turnId' | 'callId'>;
  readonly signal: AbortSignal;
}

export class Questions {
  readonly #clock: Clock;
  readonly #ids: IdSource;
  readonly #onAsked: (question: McpQuestion) => void;
  readonly #open = new Map<string, Open>();

  constructor(clock: Clock, ids: IdSource, onAsked: (question: McpQuestion) => void) {
    this.#clock = clock;
    this.#ids = ids;
    this.#onAsked = onAsked;
  }

  list(): McpQuestion[] {
    return [...this.#open.values()].map(({ question }) => question);
  }

  /** Declined at once where it cannot be shown to a person; cancelled after its time limit. */
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
    const answered = new Deferred<ElicitResult>();
    this.#open.set(question.questionId, { question, answered });
    const over = new AbortController();
    this.#onAsked(question);
    try {
      const late = sleep(questionMs, AbortSignal.any([over.signal, asking.signal]));
      return await Promise.race([answered.promise, late.then((): ElicitResult => ({ action: 'cancel' }))]);
    } finally {
      over.abort();
      this.#open.delete(question.questionId);
    }
  }

  /** Fails with not_found, or with invalid_params where the content does not fit; the question is then still open. */
  answer(questionId: string, action: ElicitResult['action'], content: Content | undefined): McpQuestion {
    const open = this.#open.get(questionId);
    if (open === undefined) throw new AppError('not_found', `There is no open question ${questionId}.`);
    const { question } = open;
    if (action !== 'accept' || question.schema === null) open.answered.resolve({ action });
    else open.answered.resolve({ action, content: fitting(question.schema, content ?? {}) });
    this.#open.delete(questionId);
    return question;
  }
}

function formOf(params: ElicitRequest['params']): Pick<McpQuestion, 'schema' | 'url'> | null {
  if (params.mode === 'url') {
    const url = URL.parse(params.url);
    if (url === null || !(url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)))) return null;
    return { schema: null, url: url.href };
  }
  const schema = params.requestedSchema;
  const isFit =
    isPlainObject(schema.properties) && Object.keys(schema.properties).length <= FIELDS_MAX && JSON.stringify(schema).length < 32_000;
  return isFit ? { schema, url: null } : null;
}

/** The content with defaults for what is left out. Fails with invalid_params. */
function fitting(schema: Readonly<Record<string, unknown>>, content: Content): Content {
  const properties = isPlainObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const unknown = Object.keys(content).find((name) => !Object.hasOwn(properties, name));
  if (unknown !== undefined) throw unfit(`there is no field ${unknown}`);
  const entries = Object.entries(properties).flatMap(([name, field]): [string, Content[string]][] => {
    const about = isPlainObject(field) ? field : {};
    const value = content[name] ?? (about['default'] as Content[string] | undefined);
    if (value === undefined) {
      if (required.includes(name)) throw unfit(`${name} is missing`);
      return [];
    }
    const problem = problemOf(about, value);
    if (problem !== null) throw unfit(`${name} must be ${problem}`);
    return [[name, value]];
  });
  return Object.fromEntries(entries);
}

function problemOf(field: Readonly<Record<string, unknown>>, value: Content[string]): string | null {
  switch (field['type']) {
    case 'boolean':
      return typeof value === 'boolean' ? null : 'true or false';
    case 'integer':
    case 'number':
      return typeof value === 'number' && (field['type'] === 'number' || Number.isInteger(value)) ? null : 'a number';
    case 'array':
      return problemOfList(field['items'], value);
    default:
      return problemOfText(field, value);
  }
}

function problemOfList(of: unknown, value: Content[string]): string | null {
  const items = valuesOf(isPlainObject(of) ? of : {});
  const isFit = Array.isArray(value) && value.every((one) => items === null || items.includes(one));
  return isFit ? null : `a list of ${items?.join(', ') ?? 'texts'}`;
}

function problemOfText(field: Readonly<Record<string, unknown>>, value: Content[string]): string | null {
  const allowed = valuesOf(field);
  if (typeof value !== 'string') return 'a text';
  return allowed === null || allowed.includes(value) ? null : `one of ${allowed.join(', ')}`;
}

function valuesOf(field: Readonly<Record<string, unknown>>): readonly unknown[] | null {
  if (Array.isArray(field['enum'])) return field['enum'];
  const named = field['oneOf'] ?? field['anyOf'];
  return Array.isArray(named) ? named.map((one: unknown) => (isPlainObject(one) ? one['const'] : undefined)) : null;
}

function unfit(what: string): AppError {
  return new AppError('invalid_params', `The answer does not fit: ${what}.`, { data: { hint: 'The question is still open.' } });
}
