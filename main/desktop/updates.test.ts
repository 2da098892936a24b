// Updates: none without a feed, never to an older version, never over HTTP; a forged update is reported as forged. The fake has the event
// names and settings of electron-updater's own updater, which the types enforce.

import { EventEmitter } from 'node:events';
import type { AppUpdater, UpdaterEvents } from 'electron-updater';
import { expect, test } from 'vitest';
import { RecordingLogger } from '../../tests/rigs/desktop-bench.ts';
import { Updates, updatesCheck, type UpdaterCalls, type UpdatesOptions } from './updates.ts';

type Settings = Pick<AppUpdater, 'autoDownload' | 'autoInstallOnAppQuit' | 'allowDowngrade' | 'allowPrerelease' | 'disableWebInstaller'>;

class FakeUpdater extends EventEmitter implements Settings {
  // The defaults of electron-updater.
  autoDownload = true;
  autoInstallOnAppQuit = true;
  allowDowngrade = true;
  allowPrerelease = true;
  disableWebInstaller = false;
  feed: unknown = null;
  checks = 0;
  failure: Error | null = null;

  setFeedURL(feed: unknown): void {
    this.feed = feed;
    this.allowDowngrade = true;
  }

  checkForUpdates(): Promise<null> {
    this.checks += 1;
    if (this.failure === null) return Promise.resolve(null);
    this.emit('error', this.failure);
    return Promise.reject(this.failure);
  }

  tell(event: UpdaterEvents, about: unknown): void {
    this.emit(event, about);
  }
}

function rig(feedUrl: string | null = 'https://updates.example/', changes: Partial<UpdatesOptions> = {}) {
  const updater = new FakeUpdater();
  const logger = new RecordingLogger();
  let loads = 0;
  let timer: { readonly ms: number; readonly work: () => void } | null = null;
  const updates = new Updates({
    feedUrl,
    logger,
    load: () => ((loads += 1), Promise.resolve(updater as unknown as UpdaterCalls)),
    later: (ms, work) => {
      timer = { ms, work };
      return () => (timer = null);
    },
    ...changes,
  });
  /** Triggers the next check; returns the delay it was scheduled with. */
  const wait = async (): Promise<number | null> => {
    const due = timer;
    due?.work();
    await new Promise((resolve) => setImmediate(resolve));
    return due?.ms ?? null;
  };
  return { updates, updater, logger, wait, loads: () => loads };
}

test('without a feed nothing is loaded or scheduled', async () => {
  const { updates, wait, loads } = rig(null);
  expect([await wait(), loads(), updates.state, updatesCheck(updates.state)]).toEqual([null, 0, { kind: 'off' }, null]);
});

test('checks after a minute, then every six hours, with safe updater settings', async () => {
  const { updates, updater, wait, loads } = rig();
  expect([await wait(), await wait(), await wait()]).toEqual([60_000, 21_600_000, 21_600_000]);
  const { autoDownload, autoInstallOnAppQuit, allowDowngrade, allowPrerelease, disableWebInstaller, feed, checks } = updater;
  expect({
    autoDownload,
    autoInstallOnAppQuit,
    allowDowngrade,
    allowPrerelease,
    disableWebInstaller,
    feed,
    checks,
    loads: loads(),
  }).toEqual({
    autoDownload: true,
    autoInstallOnAppQuit: true,
    allowDowngrade: false,
    allowPrerelease: false,
    disableWebInstaller: true,
    feed: { provider: 'generic', url: 'https://updates.example/' },
    checks: 3,
    loads: 1,
  });
  updates.dispose();
  expect(await wait()).toBeNull();
});

test('a downloaded version waits for the app to quit, and checks stop', async () => {
  const { updates, updater, wait, logger } = rig();
  await wait();
  updater.tell('update-available', { version: '2.0.0' });
  expect(updates.state).toEqual({ kind: 'loading', version: '2.0.0' });
  updater.tell('update-downloaded', { version: '2.0.0' });
  await wait();
  expect([updates.state, updater.checks, updatesCheck(updates.state)?.ok, logger.lines]).toEqual([
    { kind: 'ready', version: '2.0.0' },
    1,
    true,
    ['info: an update is ready and is installed when the app quits'],
  ]);
});

test.each(['ERR_UPDATER_INVALID_SIGNATURE', 'ERR_CHECKSUM_MISMATCH'])(
  '%s is reported as a forged update and not tried again',
  async (code) => {
    const { updates, updater, wait, logger } = rig();
    await wait();
    updater.tell('update-available', { version: '2.0.0' });
    updater.tell('error', Object.assign(new Error('New version 2.0.0 is not signed by the application owner'), { code }));
    await wait();
    expect([updatesCheck(updates.state), updater.checks, logger.lines]).toEqual([
      {
        id: 'updates',
        ok: false,
        detail: 'What the feed sent is not what its makers signed or announced. It was thrown away.',
        fix: 'Do not install it by hand. Take desktop.updateFeed out of config.yaml and ask who runs the feed.',
      },
      1,
      ['error: an update failed'],
    ]);
  },
);

test('reports an unreachable feed once per check, and retries later', async () => {
  const { updates, updater, wait, logger } = rig();
  updater.failure = new Error('net::ERR_CONNECTION_REFUSED');
  await wait();
  expect([updates.state, logger.lines]).toEqual([
    { kind: 'failed', why: 'net::ERR_CONNECTION_REFUSED', isForged: false },
    ['warn: an update failed'],
  ]);
  updater.failure = null;
  await wait();
  updater.tell('update-not-available', { version: '1.0.0' });
  expect(updates.state).toEqual({ kind: 'current' });
});

test('an updater that cannot be loaded is reported like any failure', async () => {
  const { updates, wait } = rig('https://updates.example/', { load: () => Promise.reject(new Error('no such module')) });
  await wait();
  expect(updates.state).toEqual({ kind: 'failed', why: 'no such module', isForged: false });
});

test.each(['http://updates.example/', 'file:///updates', 'not an address'])('%s is not accepted as a feed', async (feed) => {
  const { updates, wait, loads } = rig(feed);
  expect([await wait(), loads(), updatesCheck(updates.state)?.detail]).toEqual([null, 0, 'Updates are taken over https only.']);
});
