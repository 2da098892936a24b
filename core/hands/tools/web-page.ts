// Reads pages and documents in a separate thread, so that a slow or malicious one blocks nothing else and can be stopped. Owns the thread; each
// job has its own.

import { Worker } from 'node:worker_threads';
import { sleep } from '../../base/waits.ts';
import { endThread } from '../../base/end-thread.ts';
import { AppError } from '../../contracts/errors.ts';
import type { DocumentText } from './document-text.ts';
import type { ReadablePage } from './web-readable.ts';
import type { ResultsPage } from './web-results-page.ts';

export interface PageJobs {
  readonly page: { readonly job: { readonly kind: 'page'; readonly html: string; readonly url: string }; readonly result: ReadablePage };
  readonly whole: { readonly job: { readonly kind: 'whole'; readonly html: string }; readonly result: string };
  /** Null if the text is not JSON. */
  readonly json: { readonly job: { readonly kind: 'json'; readonly text: string }; readonly result: string | null };
  readonly results: { readonly job: { readonly kind: 'results'; readonly html: string }; readonly result: ResultsPage };
  readonly document: { readonly job: { readonly kind: 'document'; readonly bytes: Uint8Array }; readonly result: DocumentText };
}
export type PageJob = PageJobs[keyof PageJobs]['job'];

export const pageTimeMaxMs = 10_000;
/** A book of a thousand pages takes some ten seconds. */
const DOCUMENT_TIME_MAX_MS = 60_000;
const MEMORY_MB_MAX = 512;
const GONE_WITHIN_MS = 1_000;

/** Fails with `tool_failed` if the page exceeds the thread's time or memory, and with `cancelled`. */
export function runPageJob<K extends keyof PageJobs>(
  job: PageJobs[K]['job'],
  signal: AbortSignal,
  timeMaxMs = pageTimeMaxMs,
): Promise<PageJobs[K]['result']> {
  const what = job.kind === 'document' ? 'document' : 'page';
  const unreadable = `The ${what} could not be made readable.`;
  const stopped = `Reading the ${what} was stopped.`;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new AppError('cancelled', stopped));
    const worker = new Worker(workerFile(), {
      workerData: job,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX },
    });
    let isOver = false;
    const end = (settle: () => void): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      // Settles when the thread has ended, so that nothing keeps running after a result; a slow thread is not awaited.
      const late = new AbortController();
      void Promise.race([endThread(worker), sleep(GONE_WITHIN_MS, late.signal)])
        .then(settle, settle)
        .finally(() => late.abort());
    };
    const fail = (message: string, cause?: unknown): void =>
      end(() => reject(new AppError('tool_failed', message, cause === undefined ? {} : { cause })));
    const onAbort = (): void => end(() => reject(new AppError('cancelled', stopped)));
    const timer = setTimeout(() => fail(`The ${what} takes too long to be made readable.`), timeMaxMs);
    signal.addEventListener('abort', onAbort, { once: true });
    worker.once('message', (result: PageJobs[K]['result']) => end(() => resolve(result)));
    worker.once('error', (cause) => fail(unreadable, cause));
    worker.once('exit', () => fail(unreadable));
  });
}

/** The readable text of a page at `url`. Fails as `runPageJob` does. */
export function readablePage(html: string, url: string, signal: AbortSignal): Promise<ReadablePage> {
  return runPageJob<'page'>({ kind: 'page', html, url }, signal);
}

/** All text of a mail that is HTML, without what is hidden from people. Fails as `runPageJob` does. */
export function textOfHtml(html: string, signal: AbortSignal): Promise<string> {
  return runPageJob<'whole'>({ kind: 'whole', html }, signal);
}

/** The text of a document, by `knownMediaType`. Fails as `runPageJob` does. */
export function documentText(bytes: Uint8Array, signal: AbortSignal): Promise<DocumentText> {
  return runPageJob<'document'>({ kind: 'document', bytes }, signal, DOCUMENT_TIME_MAX_MS);
}

/**
 * The text of a document, for tools that show text in parts; of one with pages or slides with a line `[page 2 of 9]` before each. If there
 * is not text, `problem` says why. Fails as `runPageJob` does.
 */
export async function documentLines(
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly problem: string | null }> {
  const { pages, unit, problem } = await documentText(bytes, signal);
  if (unit === null) return { text: pages.join('\n'), problem };
  const text = pages.map((page, index) => `[${unit} ${index + 1} of ${pages.length}]\n${page.trim()}\n`).join('');
  return { text, problem };
}

/** Next to this file in the checkout; a separate entry point in the build, where this file is part of a chunk. */
function workerFile(): URL {
  const here = import.meta.url;
  if (here.endsWith('.ts')) return new URL('./web-page-worker.ts', here);
  return new URL(here.includes('/chunks/') ? '../page-worker.js' : './page-worker.js', here);
}
