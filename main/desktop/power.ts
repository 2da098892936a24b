// Sleep, wake and the end of the person's session. Before sleep everything is written to the disk. After it, clocks have jumped and
// connections are lost, which the runtime detects.

import type { BaseWindow, BaseWindowConstructorOptions, Event, PowerMonitor } from 'electron';
import type { Logger } from '../../core/base/logger.ts';

export interface PowerOptions {
  readonly powerMonitor: Pick<PowerMonitor, 'on' | 'off'>;
  readonly logger: Logger;
  readonly onSuspend: () => void;
  readonly onResume: () => void;
  /** The system shuts down and waits a few seconds for the app to quit. */
  readonly onShutdown: () => void;
}

/**
 * Windows tells an app about the end of the session only through a window. One that is never shown hears it too, so that an app that was
 * started at login without its window can stop its work. Returns the function that removes the window.
 */
export function followSessionEnd(
  create: (options: BaseWindowConstructorOptions) => Pick<BaseWindow, 'on' | 'destroy'>,
  { onSessionMayEnd, onSessionEnd }: { onSessionMayEnd: () => void; onSessionEnd: () => void },
): () => void {
  const window = create({ show: false });
  window.on('query-session-end', onSessionMayEnd);
  window.on('session-end', onSessionEnd);
  return () => window.destroy();
}

export function followPower({ powerMonitor, logger, onSuspend, onResume, onShutdown }: PowerOptions): () => void {
  const suspend = (): void => {
    logger.log('info', 'the machine goes to sleep');
    onSuspend();
  };
  const resume = (): void => {
    logger.log('info', 'the machine woke up');
    onResume();
  };
  // Electron's types leave out the event, which its documentation names.
  const shutdown = (event?: Pick<Event, 'preventDefault'>): void => {
    // Otherwise Linux and macOS continue at once, and the log is not closed.
    event?.preventDefault();
    logger.log('info', 'the session of the person ends');
    onShutdown();
  };
  powerMonitor.on('suspend', suspend);
  powerMonitor.on('resume', resume);
  powerMonitor.on('shutdown', shutdown);
  return () => {
    powerMonitor.off('suspend', suspend);
    powerMonitor.off('resume', resume);
    powerMonitor.off('shutdown', shutdown);
  };
}
