// The wording of each tool's calls, as the tools define it. Loaded at the start, and again for each unknown tool.

import type { ToolShown } from '../../../core/contracts/tools.ts';
import type { OpClient } from '../client.ts';

export class ToolLooks {
  #known = $state.raw<ReadonlyMap<string, ToolShown>>(new Map());
  readonly #client: OpClient;
  readonly #asked = new Set<string>();
  #isAsking = false;

  constructor(client: OpClient) {
    this.#client = client;
  }

  async load(): Promise<void> {
    const { shows = {} } = await this.#client.op('tool.list', {});
    this.#known = new Map(Object.entries(shows));
  }

  /** Null if the tool has no wording or no longer exists. */
  of(tool: string): ToolShown | null {
    const known = this.#known.get(tool) ?? null;
    if (known === null && this.#known.size > 0 && !this.#asked.has(tool)) this.#ask(tool);
    return known;
  }

  /** Requests a tool added since the start, such as document search. Without an answer its name is shown. */
  #ask(tool: string): void {
    this.#asked.add(tool);
    if (this.#isAsking) return;
    this.#isAsking = true;
    void Promise.resolve()
      .then(() => this.load())
      .catch(() => undefined)
      .finally(() => (this.#isAsking = false));
  }
}
