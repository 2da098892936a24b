// The longest tasks of the page's main thread, from a trace, in processor time, so that other work of the machine does not count.

import * as z from 'zod';
import type { Browser, Page } from 'playwright-core';

const eventSchema = z.object({
  name: z.string(),
  pid: z.number(),
  tid: z.number(),
  tdur: z.number().optional(),
  args: z.unknown().optional(),
});
const traceSchema = z.object({ traceEvents: z.array(eventSchema) });
const US_PER_MS = 1000;
const TASK = /RunTask$/;

/** Milliseconds of the longest tasks while `work` ran, longest first. A frame never takes longer than the task that produces it. */
export async function longestTasks(browser: Browser, page: Page, work: () => Promise<void>): Promise<number[]> {
  await browser.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline', '__metadata'] });
  await work();
  const { traceEvents } = traceSchema.parse(JSON.parse((await browser.stopTracing()).toString('utf8')));
  const mains = new Set(
    traceEvents.filter(({ name, args }) => name === 'thread_name' && isMainThread(args)).map(({ pid, tid }) => `${pid}/${tid}`),
  );
  const byThread = new Map<string, number[]>();
  for (const { name, pid, tid, tdur } of traceEvents) {
    const thread = `${pid}/${tid}`;
    if (tdur === undefined || !TASK.test(name) || !mains.has(thread)) continue;
    const tasks = byThread.get(thread);
    if (tasks === undefined) byThread.set(thread, [tdur / US_PER_MS]);
    else tasks.push(tdur / US_PER_MS);
  }
  // The page that scrolled has the busiest main thread.
  const busiest = [...byThread.values()].sort((a, b) => sum(b) - sum(a))[0] ?? [];
  return busiest.sort((a, b) => b - a);
}

function isMainThread(args: unknown): boolean {
  return z.object({ name: z.literal('CrRendererMain') }).safeParse(args).success;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
