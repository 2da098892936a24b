// Sleep, wake and the end of the session are passed on until the listener is removed.

import { EventEmitter } from 'node:events';
import type { BaseWindow, BaseWindowConstructorOptions, PowerMonitor } from 'electron';
import { expect, test } from 'vitest';
import { RecordingLogger } from '../../tests/rigs/desktop-bench.ts';
import { followPower, followSessionEnd } from './power.ts';

test('each event calls its handler, and none after removal', () => {
  const powerMonitor = new EventEmitter();
  const logger = new RecordingLogger();
  const did: string[] = [];
  const stop = followPower({
    powerMonitor: powerMonitor as unknown as PowerMonitor,
    logger,
    onSuspend: () => did.push('suspend'),
    onResume: () => did.push('resume'),
    onShutdown: () => did.push('shutdown'),
  });
  for (const event of ['suspend', 'resume', 'lock-screen', 'on-battery']) powerMonitor.emit(event);
  powerMonitor.emit('shutdown', { preventDefault: () => did.push('delayed') });
  expect([did, logger.lines]).toEqual([
    ['suspend', 'resume', 'delayed', 'shutdown'],
    ['info: the machine goes to sleep', 'info: the machine woke up', 'info: the session of the person ends'],
  ]);
  stop();
  powerMonitor.emit('suspend');
  expect([did.length, powerMonitor.eventNames()]).toEqual([4, []]);
});

test('a window that is never shown tells of the end of the session', () => {
  const did: string[] = [];
  const events = new EventEmitter();
  const create = (options: BaseWindowConstructorOptions): BaseWindow => {
    did.push(`shown: ${options.show}`);
    return Object.assign(events, { destroy: () => void did.push('destroyed') }) as unknown as BaseWindow;
  };
  const stop = followSessionEnd(create, { onSessionMayEnd: () => did.push('may end'), onSessionEnd: () => did.push('ends') });
  events.emit('query-session-end', {});
  events.emit('session-end', {});
  stop();
  expect(did).toEqual(['shown: false', 'may end', 'ends', 'destroyed']);
});
