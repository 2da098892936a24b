// Subagent calls from the host, reloaded whenever the log has an event about one.

import type { HelperListing } from '../../../core/contracts/features/helpers.ts';
import type { AnyEvent } from '../../../core/contracts/events.ts';
import type { OpClient } from '../client.ts';
import { soon } from './soon.ts';

export class Helpers {
  /** The newest first. */
  all = $state.raw<readonly HelperListing[]>([]);
  readonly #client: OpClient;
  readonly #loadSoon: () => void;

  constructor(client: OpClient, onError: (cause: unknown) => void) {
    this.#client = client;
    this.#loadSoon = soon(() => this.load(), onError);
  }

  async load(): Promise<void> {
    this.all = (await this.#client.op('helper.list', { all: true })).helpers;
  }

  /** Subagents called by a conversation; those called by another subagent are listed below it. */
  get roots(): readonly HelperListing[] {
    const known = new Set(this.all.map(({ helperSessionId }) => helperSessionId));
    return this.all.filter(({ from }) => !known.has(from.sessionId));
  }

  below({ helperSessionId }: HelperListing): readonly HelperListing[] {
    return helperSessionId === null ? [] : this.all.filter(({ from }) => from.sessionId === helperSessionId);
  }

  async cancel(jobId: string): Promise<void> {
    await this.#client.op('helper.cancel', { jobId });
    await this.load();
  }

  apply({ type }: AnyEvent): void {
    if (type.startsWith('a2a.')) this.#loadSoon();
  }
}
