// Measures how long a page's main thread worked, not the elapsed time, since the machine may do other work.

import type { Page } from 'playwright-core';

/** Returns a function that reads the milliseconds since the page was opened; NaN if Chromium does not report them. */
export async function watchWork(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1000;
  };
}
