// The context windows that servers state for their models, each requested once per run of the program. Must not delay a turn whose window
// is known.

import { askWindow } from './ask-window.ts';
import type { ServerToAsk } from './model-catalog.ts';

export class ServerWindows {
  readonly #secrets: { resolve(ref: string): Promise<string> };
  /** By model; a promise while its server is being asked. */
  readonly #windows = new Map<string, number | null | Promise<void>>();

  constructor(secrets: { resolve(ref: string): Promise<string> }) {
    this.#secrets = secrets;
  }

  /** The window that the server stated; null while unknown. */
  of(ref: string): number | null {
    const known = this.#windows.get(ref);
    return typeof known === 'number' ? known : null;
  }

  clear(): void {
    this.#windows.clear();
  }

  /** Null if there is nothing to wait for; never rejects. */
  ask(ref: string, serverOf: () => ServerToAsk | null, signal: AbortSignal): Promise<void> | null {
    const known = this.#windows.get(ref);
    if (known !== undefined) return known instanceof Promise ? known : null;
    const server = serverOf();
    if (server === null) {
      this.#windows.set(ref, null);
      return null;
    }
    const asking = this.#askServer(server, signal).then((window) => {
      // A turn that was stopped meanwhile discarded the answer, so the server is asked again next time.
      if (window === null && signal.aborted) this.#windows.delete(ref);
      else this.#windows.set(ref, window);
    });
    this.#windows.set(ref, asking);
    return asking;
  }

  async #askServer({ keyRef, ...question }: ServerToAsk, signal: AbortSignal): Promise<number | null> {
    try {
      const key = keyRef === undefined ? null : (await this.#secrets.resolve(keyRef)).trim();
      const headers = { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...question.headers };
      return await askWindow({ ...question, headers }, signal);
    } catch {
      // The call itself reports a missing key.
      return null;
    }
  }
}
