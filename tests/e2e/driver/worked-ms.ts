// How long a page's own thread has worked: not the time that passed, since the machine may do other things as well.

import type { Page } from 'playwright-core';

/** Returns a reader of the milliseconds since the page was opened; NaN where Chromium does not say. */
export async function watchWork(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1000;
  };
}
