// Refusals are logged, for every page of the app and not only the first. tests/program tests the refusals themselves.

import { EventEmitter } from 'node:events';
import type { App } from 'electron';
import { expect, test } from 'vitest';
import { guardContents } from './contents-guard.ts';
import { RecordingLogger } from '../../tests/rigs/desktop-bench.ts';

test('guards every page that is created, and logs every refusal', () => {
  const app = new EventEmitter();
  const logger = new RecordingLogger();
  const nothing = (): undefined => undefined;
  guardContents({
    app: app as unknown as App,
    session: { setPermissionRequestHandler: nothing, setPermissionCheckHandler: nothing, setDevicePermissionHandler: nothing },
    logger,
  });
  for (let page = 0; page < 2; page += 1) {
    let openWindow: (details: { url: string }) => unknown = nothing;
    const contents = Object.assign(new EventEmitter(), { setWindowOpenHandler: (handler: typeof openWindow) => (openWindow = handler) });
    app.emit('web-contents-created', {}, contents);
    let prevented = 0;
    const details = { url: 'https://a.example/', isMainFrame: false, preventDefault: () => (prevented += 1) };
    for (const event of ['will-navigate', 'will-frame-navigate', 'will-redirect', 'will-attach-webview']) contents.emit(event, details);
    expect([prevented, openWindow({ url: 'https://a.example/' })]).toEqual([4, { action: 'deny' }]);
  }
  expect(logger.lines).toEqual(Array.from({ length: 10 }, () => 'warn: the window was kept from leaving its page'));
});
