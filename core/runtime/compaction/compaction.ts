// Compaction: watches the log for conversations that have grown long, summarises the messages before their last exchanges in the
// background, and records the summary. Blocks no turn, is paid for from the budget, ends with the panic stop, and resumes after a crash.
// The summarizer writes the text.

import type { AgentRegistry } from '../../agent/registry/registry.ts';
import type { Clock, Later } from '../../base/clock.ts';
import type { IdSource } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { Config } from '../../contracts/config.ts';
import type { SummaryReason } from '../../contracts/continuity-events.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import { type AnyDraft, type AnyEvent, type EventBodies, systemSessionId } from '../../contracts/events.ts';
import type { ChatMessage } from '../../contracts/llm.ts';
import type { PromptText } from '../../contracts/own-prompts.ts';
import { type AskingDeps, askModel } from '../../mind/asking/asking.ts';
import {
  type AskModel,
  noBill,
  planCut,
  Summarizer,
  type SummaryBill,
  type SummaryDraft,
  type SummaryJob,
} from '../../mind/compress/compress.ts';
import type { ModelRouter } from '../../mind/llm/llm.ts';
import type { ContinuityRows } from '../../store/continuity/continuity.ts';
import type { SessionLog } from '../../store/session/session.ts';

/** A conversation in its current form. */
export interface HeldConversation {
  /** The first message is a summary if there is one. */
  readonly messages: readonly ChatMessage[];
  readonly boundaries: readonly number[];
  readonly summary: { readonly summaryId: string; readonly text: string } | null;
  readonly fromSessionSeq: number;
  at(index: number): { readonly sessionSeq: number; readonly turnId: string | null };
}

export interface CompactionDeps {
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly later: Later;
  readonly logger: Logger;
  readonly config: Config['context']['summaries'];
  readonly panic: { readonly engaged: boolean };
  onCommitted(listener: (events: readonly AnyEvent[]) => void): () => void;
  openJobs(): readonly { readonly summaryId: string; readonly sessionId: string }[];
  /** The size of the unsummarised messages of an active session, which costs nothing to read. Null for an inactive session. */
  unsummed(sessionId: string): { readonly messages: number; readonly tokens: number } | null;
  /** The complete conversation since the last summary. Null if the session does not exist. */
  conversation(sessionId: string): HeldConversation | null;
  model(sessionId: string): { readonly ref: string; readonly contextTokens: number } | null;
  /** Records events in the log, and in the conversation if it is in use. */
  record(sessionId: string, drafts: readonly AnyDraft[]): void;
  /** Fails only with `cancelled`, once the signal aborts. */
  write(
    job: SummaryJob,
    about: { readonly model: string; readonly sessionId: string; readonly summaryId: string },
    run: { readonly signal: AbortSignal; readonly onSpent: (bill: SummaryBill) => void },
  ): Promise<SummaryDraft>;
  redact(text: string): string;
}

/** The delay before a summary starts, so that a turn that follows immediately goes first. */
const QUIET_MS = 400;
const AT_ONCE = 2;
const WAITING_MAX = 200;

export class Compaction {
  readonly #deps: CompactionDeps;
  readonly #stopListening: () => void;
  readonly #running = new Map<string, AbortController>();
  readonly #waiting = new Map<string, SummaryReason>();
  readonly #idle = new Set<() => void>();
  #callOff: (() => void) | null = null;
  #hasBegun = false;
  #isClosed = false;

  constructor(deps: CompactionDeps) {
    this.#deps = deps;
    this.#stopListening = deps.onCommitted((events) => {
      for (const event of events) this.#follow(event);
    });
  }

  /** Restarts each summary that an earlier run left unfinished, once. */
  begin(): void {
    this.#hasBegun = true;
    for (const { summaryId, sessionId } of this.#deps.openJobs()) {
      if (this.#running.has(sessionId)) continue;
      this.#deps.record(sessionId, [
        failed(summaryId, new AppError('cancelled', 'The program ended before the summary was written.'), { ...noBill, model: null }),
      ]);
      this.#want(sessionId, 'messages');
    }
  }

  /**
   * Summarises a session immediately. Null if no messages are old enough. Fails with conflict, panic_engaged, shutting_down or not_found.
   */
  async compact(sessionId: string, by: string): Promise<EventBodies['summary.written'] | null> {
    if (this.#deps.panic.engaged) throw new AppError('panic_engaged', 'Everything is stopped by the panic stop.');
    if (this.#isClosed) throw new AppError('shutting_down', 'TrayClaw is closing.');
    if (this.#running.has(sessionId)) {
      throw new AppError('conflict', `Session ${sessionId} is already being summarized.`, { hint: 'Wait a moment and look again.' });
    }
    this.#waiting.delete(sessionId);
    return this.#run(sessionId, 'asked', by);
  }

  /** Resolves when no summary is being written or pending. */
  async whenIdle(): Promise<void> {
    while (this.#running.size > 0 || this.#waiting.size > 0) await new Promise<void>((resolve) => this.#idle.add(resolve));
  }

  /** Unfinished summaries stay recorded as begun, and the next start resumes them. */
  async dispose(): Promise<void> {
    this.#isClosed = true;
    this.#stopListening();
    this.#callOff?.();
    this.#waiting.clear();
    for (const running of this.#running.values()) running.abort(new AppError('cancelled', 'TrayClaw is closing.'));
    await this.whenIdle();
  }

  #follow(event: AnyEvent): void {
    if (event.sessionId === systemSessionId && event.type === 'panic.engaged') {
      this.#waiting.clear();
      for (const running of this.#running.values()) running.abort(new AppError('cancelled', 'The panic stop was pressed.'));
      this.#wakeIdle();
      return;
    }
    if (event.type !== 'turn.finished' && event.type !== 'pack.built') return;
    const reason = this.#reasonFor(event.sessionId);
    if (reason !== null) this.#want(event.sessionId, reason);
  }

  #reasonFor(sessionId: string): SummaryReason | null {
    const { config } = this.#deps;
    if (config.mode === 'off') return null;
    const held = this.#deps.unsummed(sessionId);
    if (held === null || held.messages <= config.keepMessages) return null;
    if (held.messages > config.messages) return 'messages';
    const known = this.#deps.model(sessionId);
    return known !== null && held.tokens > known.contextTokens * config.windowShare ? 'window' : null;
  }

  #want(sessionId: string, reason: SummaryReason): void {
    if (this.#isClosed || this.#deps.panic.engaged || this.#running.has(sessionId)) return;
    if (this.#waiting.size >= WAITING_MAX && !this.#waiting.has(sessionId)) return;
    this.#waiting.set(sessionId, reason);
    this.#arm();
  }

  #arm(): void {
    if (!this.#hasBegun || this.#callOff !== null || this.#waiting.size === 0) return;
    this.#callOff = this.#deps.later(QUIET_MS, () => {
      this.#callOff = null;
      this.#startWaiting();
    });
  }

  #startWaiting(): void {
    for (const [sessionId, reason] of this.#waiting) {
      if (this.#running.size >= AT_ONCE) return;
      this.#waiting.delete(sessionId);
      // Another request may have summarised it meanwhile, or everything was stopped.
      if (this.#deps.panic.engaged || this.#running.has(sessionId)) continue;
      void this.#run(sessionId, reason, 'compaction').catch((cause: unknown) => {
        this.#deps.logger.log('warn', 'a conversation could not be summed up', { sessionId, cause: String(cause) });
      });
    }
    this.#wakeIdle();
  }

  async #run(sessionId: string, reason: SummaryReason, by: string): Promise<EventBodies['summary.written'] | null> {
    const plan = this.#plan(sessionId);
    if (plan === null) return null;
    const { ids, clock } = this.#deps;
    const stop = new AbortController();
    this.#running.set(sessionId, stop);
    const summaryId = ids.next('sum');
    const startedMs = clock.monotonicMs();
    let isRecorded = false;
    let bill = noBill;
    const onSpent = (spent: SummaryBill): void => {
      bill = spent;
    };
    try {
      this.#deps.record(sessionId, [{ type: 'summary.started', body: { summaryId, reason, model: plan.model, by } }]);
      const draft = await this.#deps.write(plan.job, { model: plan.model, sessionId, summaryId }, { signal: stop.signal, onSpent });
      const { text, tokens, method, fallback, source, quality, modelCalls, usage, costUsd } = draft;
      const body: EventBodies['summary.written'] = {
        summaryId,
        text: this.#deps.redact(text),
        covers: plan.covers,
        replaces: plan.replaces,
        reason,
        method,
        ...(fallback === null ? {} : { fallback: this.#deps.redact(fallback) }),
        model: method === 'model' || modelCalls > 0 ? plan.model : null,
        source: { ...source, turns: plan.turns },
        tokens,
        keptMessages: plan.kept,
        quality: { ...quality, missing: quality.missing.map((item) => this.#deps.redact(item)) },
        modelCalls,
        usage,
        costUsd,
        tookMs: clock.monotonicMs() - startedMs,
      };
      this.#deps.record(sessionId, [{ type: 'summary.written', body }]);
      isRecorded = true;
      return body;
    } catch (cause) {
      // If the program is closing, the summary stays open for the next start.
      if (!this.#isClosed && !isRecorded)
        this.#deps.record(sessionId, [failed(summaryId, toAppError(cause), { ...bill, model: plan.model })]);
      throw cause;
    } finally {
      this.#running.delete(sessionId);
      this.#arm();
      this.#wakeIdle();
    }
  }

  #plan(sessionId: string) {
    const held = this.#deps.conversation(sessionId);
    const model = this.#deps.model(sessionId);
    if (held === null || model === null) return null;
    const head = held.summary === null ? 0 : 1;
    const cut = planCut(held.boundaries, held.messages.length, this.#deps.config.keepMessages);
    if (cut === null || cut <= head) return null;
    const messages = held.messages.slice(head, cut);
    const turns = new Set(messages.map((_, index) => held.at(head + index).turnId)).size;
    const job: SummaryJob = {
      messages,
      boundaries: held.boundaries.filter((index) => index < cut).map((index) => index - head),
      previous: held.summary?.text ?? null,
      contextTokens: model.contextTokens,
    };
    return {
      job,
      turns,
      model: model.ref,
      replaces: held.summary?.summaryId ?? null,
      kept: held.messages.length - cut,
      covers: { fromSessionSeq: held.fromSessionSeq, toSessionSeq: held.at(cut).sessionSeq - 1 },
    };
  }

  #wakeIdle(): void {
    if (this.#running.size > 0 || this.#waiting.size > 0) return;
    const waiting = [...this.#idle];
    this.#idle.clear();
    for (const wake of waiting) wake();
  }
}

function failed(summaryId: string, error: AppError, { model, ...bill }: SummaryBill & { readonly model: string | null }): AnyDraft {
  const isPaid = bill.modelCalls > 0;
  return {
    type: 'summary.failed',
    body: { summaryId, error: error.toBody(), ...bill, model: isPaid ? model : null, costUsd: isPaid ? bill.costUsd : null },
  };
}

interface ProgramParts extends Pick<CompactionDeps, 'clock' | 'ids' | 'later' | 'logger' | 'panic' | 'redact'> {
  readonly config: Pick<Config, 'context'>;
  readonly log: SessionLog;
  readonly continuity: ContinuityRows;
  readonly agents: AgentRegistry;
  readonly models: ModelRouter;
  /** Asks models, within the budget. */
  readonly asking: AskingDeps;
  readonly prompt: PromptText;
  readonly turns: {
    readonly conversations: { unsummed: CompactionDeps['unsummed']; whole: CompactionDeps['conversation'] };
    record(sessionId: string, drafts: readonly AnyDraft[]): unknown;
  };
}

/** Creates the compaction over the log, with the model of the conversation or the one that the settings name. */
export function createCompaction(deps: ProgramParts): Compaction {
  const { log, agents, models, asking, prompt, turns } = deps;
  const config = deps.config.context.summaries;
  return new Compaction({
    ...deps,
    config,
    onCommitted: (listener) => log.onCommitted(listener),
    openJobs: () => deps.continuity.openJobs(),
    unsummed: (sessionId) => turns.conversations.unsummed(sessionId),
    conversation: (sessionId) => turns.conversations.whole(sessionId),
    record: (sessionId, drafts) => void turns.record(sessionId, drafts),
    model: (sessionId) => {
      const session = log.index.session(sessionId);
      const reader = session === null ? null : (session.model ?? agents.modelOf(session.agentId) ?? models.defaultRef());
      const ref = config.model ?? reader;
      if (ref === null || reader === null) return null;
      return { ref, contextTokens: Math.min(models.info(ref).contextTokens, models.info(reader).contextTokens) };
    },
    write: (job, place, { signal, onSpent }) => {
      const asks = createAskSummary(asking, place);
      const ask = config.mode === 'model' ? asks : () => Promise.resolve({ refused: 'the settings want no model for it' });
      return new Summarizer({ count: asking.count, ask, prompt, onSpent }).write(job, signal);
    },
  });
}

// Asks a model for a summary within the budget of one summary. The demo is refused, because it is not a model.

interface SummaryPlace {
  readonly model: string;
  readonly sessionId: string;
  /** Used in place of a turn id: the cost of one summary counts as one unit of work. */
  readonly summaryId: string;
}

const demoPrefix = 'demo/';
/** If a model takes longer, the summary is built by rule instead. */
const ANSWER_MS = 90_000;

export function createAskSummary(deps: AskingDeps, { model, sessionId, summaryId }: SummaryPlace): AskModel {
  return async ({ system, text, maxOutputTokens }, signal) => {
    if (model.startsWith(demoPrefix)) return { refused: 'the demo writes no summaries' };
    const place = { turnId: summaryId, sessionId };
    return askModel(deps, { model, place, system, text, maxOutputTokens, timeoutMs: ANSWER_MS }, signal);
  };
}
