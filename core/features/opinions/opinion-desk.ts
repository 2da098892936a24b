// Asks for second opinions, one request at a time per turn. Each answer is recorded as soon as it arrives, so that a spent budget, a stop
// or the end of the program keeps the earlier answers.

import type { Clock } from '../../base/clock.ts';
import { AppError, noSuch, noTurn, toAppError } from '../../contracts/errors.ts';
import type { AnyDraft, AnyEvent, EventBodies } from '../../contracts/events.ts';
import type { Opinion, Panels } from '../../contracts/features/opinions.ts';
import { noUsage } from '../../contracts/llm.ts';
import { addCost } from '../../contracts/spending.ts';
import { askModel, askValue, type ModelQuestion, type Spent, type ValueAnswer } from '../../mind/asking/asking.ts';
import type { TurnPort } from '../../runtime/turns/turns.ts';
import type { SessionLog } from '../../store/session/session.ts';
import type { Spine } from '../feature.ts';
import { type Judgement, judgementOutput, shuffle, wordDisagreement } from './judgement.ts';
import { judgeInstructions, judgeText, memberInstructions, memberText, type OpinionQuestion, questionOf } from './question.ts';

export interface OpinionDeskDeps extends Pick<Spine, 'ids' | 'logger' | 'closing' | 'panic' | 'asking'> {
  readonly panels: Panels;
  readonly models: KnownModels;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly log: Pick<SessionLog, 'reads' | 'index'>;
  readonly turns: Pick<TurnPort, 'appendToTurn'>;
  /** Redacts secrets from the answers of models. */
  redactPrompt(text: string): string;
  /** A number from 0 (inclusive) to 1 (exclusive). */
  random(): number;
}

export interface OpinionRequest {
  readonly turnId: string;
  /** A panel or a model. Null lets `choosePanel` decide. */
  readonly of: string | null;
  readonly by: string;
  readonly signal?: AbortSignal;
}

interface Asked {
  readonly opinionId: string;
  readonly sessionId: string;
  readonly turnId: string;
  readonly question: OpinionQuestion;
  readonly panel: Panel;
  readonly signal: AbortSignal;
}

type Given = EventBodies['opinion.given'];

const MEMBER_TOKENS = 2_000;
const JUDGE_TOKENS = 2_500;
const ANSWER_MS = 180_000;
/** Marks the answer that the person got, in the order that the judge sees. */
const given = 'given';

export class OpinionDesk {
  readonly #deps: OpinionDeskDeps;
  readonly #running = new Map<string, { readonly done: Promise<Opinion>; readonly abort: AbortController }>();

  constructor(deps: OpinionDeskDeps) {
    this.#deps = deps;
  }

  /** Fails with not_found, conflict, panic_engaged or no_model before any model is asked. Later failures are recorded in the opinion. */
  ask(request: OpinionRequest): Promise<Opinion> {
    if (this.#deps.panic.engaged) return Promise.reject(new AppError('panic_engaged', 'Everything is stopped by the panic stop.'));
    if (this.#running.has(request.turnId))
      return Promise.reject(
        new AppError('conflict', 'A second opinion on this turn is already being asked for.', { hint: 'Wait until it is there.' }),
      );
    const abort = new AbortController();
    const signals = [abort.signal, this.#deps.closing, this.#deps.panic.signal, ...(request.signal === undefined ? [] : [request.signal])];
    const done = this.#askAll(request, AbortSignal.any(signals)).finally(() => this.#running.delete(request.turnId));
    this.#running.set(request.turnId, { done, abort });
    return done;
  }

  /** Reads the opinions from the log; asks no model. Fails with not_found. */
  list(turnId: string): Opinion[] {
    return foldOpinions(turnId, this.eventsOf(turnId));
  }

  eventsOf(turnId: string): AnyEvent[] {
    const { log } = this.#deps;
    const row = log.index.turn(turnId);
    if (row === null) throw noTurn(turnId);
    return log.reads.turn(row.sessionId, turnId, row.firstSeq);
  }

  async dispose(): Promise<void> {
    for (const { abort } of this.#running.values()) abort.abort();
    await Promise.allSettled([...this.#running.values()].map(({ done }) => done));
  }

  async #askAll({ turnId, of, by }: OpinionRequest, signal: AbortSignal): Promise<Opinion> {
    const { panels, models, ids } = this.#deps;
    const question = questionOf(this.eventsOf(turnId));
    if (!question.isEnded || question.answer === '') {
      const hint = question.isEnded ? 'Only an answer can be compared.' : 'Wait until it has ended.';
      throw new AppError('conflict', `The turn ${turnId} has no answer${question.isEnded ? '' : ' yet'}.`, { hint });
    }
    const panel = choosePanel(of, question.model, { panels, models });
    const sessionId = this.#deps.log.index.turn(turnId)?.sessionId ?? '';
    const asked: Asked = { opinionId: ids.next('opn'), sessionId, turnId, question, panel, signal };
    const { opinionId } = asked;
    const begun = { opinionId, panel: panel.name, members: [...panel.members], judge: panel.judge, by };
    this.#record(asked, { type: 'opinion.requested', turnId, body: begun });
    const opinions = await Promise.all(panel.members.map((model) => this.#askMember(asked, model)));
    await this.#askJudge(
      asked,
      opinions.filter(({ error }) => error === undefined),
    );
    const opinion = this.list(turnId).find((one) => one.opinionId === opinionId);
    if (opinion === undefined) throw new AppError('internal', `The opinion ${opinionId} is not in the log.`);
    return opinion;
  }

  async #askMember(asked: Asked, model: string): Promise<Given> {
    const { opinionId, turnId, question, signal } = asked;
    const about = { model, system: memberInstructions, text: memberText(question), maxOutputTokens: MEMBER_TOKENS };
    const answer = await this.#tried(asked, (place) => askModel(this.#deps.asking, { ...about, ...place }, signal));
    const told =
      'refused' in answer ? { text: '', error: this.#deps.redactPrompt(answer.refused) } : { text: this.#deps.redactPrompt(answer.text) };
    const body: Given = { opinionId, model, ...told, ...spentIn('refused' in answer ? undefined : answer) };
    this.#record(asked, { type: 'opinion.given', turnId, body });
    return body;
  }

  async #askJudge(asked: Asked, opinions: readonly Given[]): Promise<void> {
    const { opinionId, turnId, question, panel, signal } = asked;
    const redactPrompt = (text: string): string => this.#deps.redactPrompt(text);
    const own = { model: given, text: question.answer };
    const mixed = shuffle([own, ...opinions], () => this.#deps.random());
    const candidates = mixed.map((one, index) => ({ letter: letterAt(index), text: one.text, isGiven: one === own }));
    const about = {
      model: panel.judge,
      system: judgeInstructions,
      text: judgeText(question, candidates),
      maxOutputTokens: JUDGE_TOKENS,
    };
    const output = judgementOutput(candidates.map(({ letter }) => letter));
    const answer: ValueAnswer<Judgement> =
      opinions.length > 0
        ? await this.#tried(asked, (place) => askValue(this.#deps.asking, { ...about, ...place }, output, signal))
        : { refused: 'no other model answered' };
    const judged = 'refused' in answer ? { error: redactPrompt(answer.refused) } : redacted(answer.value, redactPrompt);
    // Without a judgement nothing shows that the answers agree. A person decides, and sees how far the words differ.
    const open = {
      verdict: 'ask' as const,
      best: null,
      text: '',
      reason: '',
      disagreement: wordDisagreement([own, ...opinions].map((one) => one.text)),
    };
    const body: EventBodies['opinion.judged'] = {
      opinionId,
      model: panel.judge,
      order: mixed.map(({ model }) => model),
      ...open,
      ...judged,
      ...spentIn(answer.spent),
    };
    this.#record(asked, { type: 'opinion.judged', turnId, body });
  }

  /** Never throws; returns the reason of a failure instead. */
  async #tried<T>(
    { sessionId, turnId, question, signal }: Asked,
    ask: (about: Pick<ModelQuestion, 'place' | 'timeoutMs'>) => Promise<T>,
  ): Promise<T | { refused: string }> {
    try {
      return await ask({ place: { sessionId, turnId, continues: question.continues }, timeoutMs: ANSWER_MS });
    } catch (cause) {
      const { code, message } = toAppError(cause);
      if (code === 'internal') this.#deps.logger.log('error', 'a model could not be asked for its opinion', { cause: String(cause) });
      return { refused: signal.aborted ? 'it was stopped' : message };
    }
  }

  #record({ sessionId, turnId }: Asked, draft: AnyDraft): void {
    this.#deps.turns.appendToTurn(sessionId, turnId, [draft]);
  }
}

function spentIn(spent: Spent | undefined): Spent {
  if (spent === undefined) return { usage: noUsage, costUsd: 0, tookMs: 0 };
  const { usage, costUsd, tookMs } = spent;
  return { usage, costUsd, tookMs };
}

function redacted(judgement: Judgement, redact: (text: string) => string): Judgement {
  return { ...judgement, text: redact(judgement.text), reason: redact(judgement.reason) };
}

function letterAt(index: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + index);
}

// Chooses the models for a second opinion: a panel of config.yaml, a named model, or a model other than the one that answered. Pure.

interface Panel {
  /** Null if a single model is asked. */
  readonly name: string | null;
  readonly members: readonly string[];
  readonly judge: string;
}

interface KnownModels {
  /** Lists the known models without contacting a server. */
  list(): { readonly models: readonly { readonly ref: string }[] };
}

const demoPrefix = 'demo/';

/** Fails with `not_found` if there is no such panel, and with `no_model` if no other model is known. */
export function choosePanel(
  wanted: string | null,
  answeredBy: string | null,
  { panels, models }: { panels: Panels; models: KnownModels },
): Panel {
  if (wanted !== null && Object.hasOwn(panels, wanted)) return panelOf(wanted, panels[wanted]);
  if (wanted?.includes('/') === true) return single(wanted);
  if (wanted !== null) {
    const names = Object.keys(panels);
    const hint = names.length === 0 ? 'Set one up in config.yaml: models.panels.' : `There are: ${names.join(', ')}.`;
    throw noSuch('panel', wanted, names, hint);
  }
  const [first] = Object.keys(panels);
  if (first !== undefined) return panelOf(first, panels[first]);
  const others = models
    .list()
    .models.map(({ ref }) => ref)
    .filter((ref) => ref !== answeredBy && !ref.startsWith(demoPrefix));
  const vendor = answeredBy?.split('/')[0];
  // A model of another vendor is preferred, because it makes different mistakes.
  const other = others.find((ref) => ref.split('/')[0] !== vendor) ?? others[0];
  if (other !== undefined) return single(other);
  throw new AppError('no_model', 'There is no other model that could give a second opinion.', {
    hint: 'Add a provider, or name models in config.yaml: models.panels.',
  });
}

function panelOf(name: string, panel: Panels[string] | undefined): Panel {
  const members = [...new Set(panel?.members ?? [])];
  return { name, members, judge: panel?.judge ?? members[0] ?? '' };
}

function single(model: string): Panel {
  return { name: null, members: [model], judge: model };
}

// Folds the opinions on a turn from its events, so that the log always gives the result that the operation returned. Pure.
function foldOpinions(turnId: string, events: readonly AnyEvent[]): Opinion[] {
  const found = new Map<string, Opinion>();
  const places = new Map<string, readonly string[]>();
  for (const event of events) {
    if (event.type === 'opinion.requested') {
      const { opinionId, panel, judge, by, members } = event.body;
      places.set(opinionId, members);
      const open = { verdict: 'ask', opinions: [], disagreement: 1, best: null, text: '', reason: '', costUsd: 0 } as const;
      found.set(opinionId, { opinionId, turnId, panel, judge, by, atMs: event.atMs, finished: false, ...open, opinions: [] });
    }
    if (event.type === 'opinion.given') {
      const { opinionId, model, text, error, costUsd } = event.body;
      change(found, opinionId, ({ opinions, costUsd: before }) => ({
        // In the order of the panel, not of arrival.
        opinions: [...opinions, { model, text, ...(error === undefined ? {} : { error }) }].toSorted(byPlace(places.get(opinionId) ?? [])),
        costUsd: addCost(before, costUsd),
      }));
    }
    if (event.type === 'opinion.judged') {
      const { opinionId, verdict, disagreement, order, best, text, reason, error, costUsd } = event.body;
      const preferred = best === null ? null : (order[best.charCodeAt(0) - 'A'.charCodeAt(0)] ?? null);
      change(found, opinionId, ({ costUsd: before }) => ({
        finished: true,
        verdict,
        disagreement,
        best: preferred,
        text,
        reason,
        costUsd: addCost(before, costUsd),
        ...(error === undefined ? {} : { stopped: error }),
      }));
    }
  }
  return [...found.values()];
}

function byPlace(members: readonly string[]): (one: { model: string }, other: { model: string }) => number {
  return (one, other) => members.indexOf(one.model) - members.indexOf(other.model);
}

function change(found: Map<string, Opinion>, opinionId: string, what: (opinion: Opinion) => Partial<Opinion>): void {
  const known = found.get(opinionId);
  if (known !== undefined) found.set(opinionId, { ...known, ...what(known) });
}
