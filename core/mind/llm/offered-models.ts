// The models that providers' servers last offered: kept in memory for a few minutes, refreshed only on request. Must never make a request
// on a turn's path; a lookup reads memory only.

import { toAppError, type AppError } from '../../contracts/errors.ts';
import type { ServerModel } from './server-models.ts';

const GOOD_FOR_MS = 5 * 60_000;
const FAILURE_GOOD_FOR_MS = 15_000;
const PROVIDERS_MAX = 50;

export type Offered = { readonly ok: true; readonly models: readonly ServerModel[] } | { readonly ok: false; readonly error: AppError };

export interface OfferedModelsDeps {
  readonly nowMs: () => number;
  /** Fails with an AppError. */
  list(provider: string, signal: AbortSignal): Promise<readonly ServerModel[]>;
}

export class OfferedModels {
  readonly #deps: OfferedModelsDeps;
  readonly #known = new Map<string, { readonly offered: Offered; readonly atMs: number }>();
  readonly #asking = new Map<string, Promise<void>>();

  constructor(deps: OfferedModelsDeps) {
    this.#deps = deps;
  }

  /** The last answer, however old; null before the first. */
  of(provider: string): Offered | null {
    return this.#known.get(provider)?.offered ?? null;
  }

  find(provider: string, modelId: string): ServerModel | null {
    const offered = this.of(provider);
    return offered?.ok === true ? (offered.models.find((model) => model.modelId === modelId) ?? null) : null;
  }

  /** Refreshes expired lists in parallel, with at most one request per provider at a time. Never rejects. */
  async look(providers: readonly string[], signal: AbortSignal, isForced = false): Promise<void> {
    const due = providers.slice(0, PROVIDERS_MAX).filter((provider) => isForced || !this.#isFresh(provider));
    await Promise.all(due.map((provider) => this.#ask(provider, signal)));
  }

  /** Called when the provider's settings changed or it was removed. */
  forget(provider: string): void {
    this.#known.delete(provider);
    this.#asking.delete(provider);
  }

  #ask(provider: string, signal: AbortSignal): Promise<void> {
    const running = this.#asking.get(provider);
    if (running !== undefined) return running;
    const asked: Promise<void> = this.#deps
      .list(provider, signal)
      .then(
        (models): Offered => ({ ok: true, models }),
        (cause: unknown): Offered => ({ ok: false, error: toAppError(cause) }),
      )
      .then((offered) => {
        // The provider was forgotten in the meantime: the answer belongs to old settings.
        if (this.#asking.get(provider) !== asked) return;
        this.#asking.delete(provider);
        if (!signal.aborted) this.#known.set(provider, { offered, atMs: this.#deps.nowMs() });
      });
    this.#asking.set(provider, asked);
    return asked;
  }

  #isFresh(provider: string): boolean {
    const known = this.#known.get(provider);
    if (known === undefined) return false;
    return this.#deps.nowMs() - known.atMs < (known.offered.ok ? GOOD_FOR_MS : FAILURE_GOOD_FOR_MS);
  }
}
