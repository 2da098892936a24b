// The cost of embedding: checks the budget of the day before texts are sent, and records the cost afterwards. Each batch of texts is one
// event. Questions, which are short and many, are combined until they are flushed.

import { counted } from '../../../base/counted.ts';
import type { Clock } from '../../../base/clock.ts';
import { AppError } from '../../../contracts/errors.ts';
import type { EventBodies } from '../../../contracts/events.ts';

export type EmbeddingUse = Omit<EventBodies['embedding.used'], 'model' | 'costUsd'>;

export interface EmbeddingLedgerDeps {
  readonly model: string;
  /** In US dollars. Null if the price is unknown, 0 for a local model. */
  readonly usdPerMillionTokens: number | null;
  readonly budget: {
    checkDay(
      nowMs: number,
      estimate: { readonly inputTokens: number; readonly inputUsd: number | null; readonly tokens: number; readonly usd: number | null },
    ): { readonly unit: 'usd' | 'tokens'; readonly limit: number } | null;
    recordDay(spent: { readonly nowMs: number; readonly costUsd: number | null; readonly tokens: number }): void;
  };
  readonly append: (used: EventBodies['embedding.used']) => void;
  readonly clock: Pick<Clock, 'nowMs'>;
}

const TOKENS_PER_PRICE = 1_000_000;
/** The number of combined questions at which they are recorded. */
const QUESTIONS_MAX = 50;

export class EmbeddingLedger {
  readonly #deps: EmbeddingLedgerDeps;
  #questions: EmbeddingUse | null = null;

  constructor(deps: EmbeddingLedgerDeps) {
    this.#deps = deps;
  }

  /** Why nothing is embedded for now, as a sentence; null if the budget allows it. */
  get problem(): string | null {
    const breach = this.#breach(0);
    if (breach === null) return null;
    const limit = breach.unit === 'usd' ? `$${breach.limit}` : counted(breach.limit, 'token');
    return `The budget of the day (${limit}) has no room for embedding; words alone are searched.`;
  }

  /** Called before texts are sent. Fails with over_budget. */
  admit(tokens: number): void {
    if (this.#breach(tokens) === null) return;
    const message = this.problem ?? 'What is left of the budget of the day is too little for embedding; words alone are searched.';
    throw new AppError('over_budget', message, { hint: 'Raise budget.perDayUsd or budget.perDayTokens, or wait for tomorrow.' });
  }

  /** Called for every answer, usable or not. */
  record(use: EmbeddingUse): void {
    const { budget, clock } = this.#deps;
    budget.recordDay({ nowMs: clock.nowMs(), costUsd: this.#cost(use.tokens), tokens: use.tokens });
    if (use.purpose === 'texts') {
      this.#write(use);
      return;
    }
    const before = this.#questions;
    this.#questions = before === null ? use : together(before, use);
    if (this.#questions.count >= QUESTIONS_MAX) this.flush();
  }

  /** Records the combined questions. */
  flush(): void {
    const gathered = this.#questions;
    this.#questions = null;
    if (gathered !== null) this.#write(gathered);
  }

  #write(use: EmbeddingUse): void {
    this.#deps.append({ model: this.#deps.model, ...use, costUsd: this.#cost(use.tokens) });
  }

  #breach(tokens: number) {
    const usd = this.#cost(tokens);
    return this.#deps.budget.checkDay(this.#deps.clock.nowMs(), { inputTokens: tokens, inputUsd: usd, tokens, usd });
  }

  #cost(tokens: number): number | null {
    const { usdPerMillionTokens } = this.#deps;
    return usdPerMillionTokens === null ? null : (tokens * usdPerMillionTokens) / TOKENS_PER_PRICE;
  }
}

function together(a: EmbeddingUse, b: EmbeddingUse): EmbeddingUse {
  return {
    purpose: a.purpose,
    count: a.count + b.count,
    tokens: a.tokens + b.tokens,
    tokensReported: a.tokensReported && b.tokensReported,
    tookMs: a.tookMs + b.tookMs,
  };
}
