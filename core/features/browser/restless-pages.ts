// Finds pages that navigate again and again, as a page does that resists being left, and holds one still while it is read.

import type { CDPSession, Page } from 'playwright-core';
import { AppError } from '../../contracts/errors.ts';
import { settlesWithin } from '../../base/waits.ts';

const NAVIGATIONS = 4;
const WITHIN_MS = 2_000;
const READ_MS = 15_000;
const RESUME_MS = 3_000;

export class RestlessPages {
  /** Times of each page's recent navigations, also of blocked ones. */
  readonly #navigations = new WeakMap<Page, readonly number[]>();
  #onRestless: (page: Page) => void = () => undefined;

  navigated(page: Page): void {
    this.#navigations.set(page, [...(this.#navigations.get(page) ?? []), performance.now()].slice(-NAVIGATIONS));
    if (this.has(page)) this.#onRestless(page);
  }

  has(page: Page): boolean {
    const times = this.#navigations.get(page) ?? [];
    return times.length === NAVIGATIONS && performance.now() - (times[0] ?? 0) < WITHIN_MS;
  }

  forget(page: Page): void {
    this.#navigations.delete(page);
  }

  /**
   * Reads the page, one at a time. Pauses its scripts for as long if it is or becomes restless: no reading would succeed otherwise. Fails
   * with tool_failed if the page cannot be read in time.
   */
  async read<T>(page: Page, work: () => Promise<T>): Promise<T> {
    let paused: Promise<CDPSession | null> | null = null;
    this.#onRestless = (restless) => {
      if (restless === page) paused ??= pauseScripts(page).catch(() => null);
    };
    if (this.has(page)) this.#onRestless(page);
    try {
      const reading = work();
      if (await settlesWithin(reading, READ_MS)) return await reading;
      reading.catch(() => undefined);
      throw new AppError('tool_failed', `${page.url().slice(0, 200)} could not be read in ${READ_MS / 1000} seconds: it keeps changing.`, {
        hint: 'Take a snapshot later, or open another page.',
      });
    } finally {
      this.#onRestless = () => undefined;
      await settlesWithin(resume(paused), RESUME_MS);
    }
  }
}

async function pauseScripts(page: Page): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setScriptExecutionDisabled', { value: true });
  return session;
}

/** Ending the session resumes the scripts. */
async function resume(paused: Promise<CDPSession | null> | null): Promise<void> {
  await (await paused)?.detach().catch(() => undefined);
}
