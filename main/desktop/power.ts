// Sleep, wake and the end of the person's session. Before sleep everything is written to the disk. After it, clocks have jumped and
// connections are lost, which the runtime detects.

import type { Event, PowerMonitor } from 'electron';
import type { Logger } from '../../core/base/logger.ts';

export interface PowerOptions {
  readonly powerMonitor: Pick<PowerMonitor, 'on' | 'off'>;
  readonly logger: Logger;
  readonly onSuspend: () => void;
  readonly onResume: () => void;
  /** The system shuts down and waits a few seconds for the app to quit. */
  readonly onShutdown: () => void;
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
