// Windows and the navigation of their pages as Electron documents them, on whichever Electron the desktop specs use.

import { afterAll, beforeAll, expect } from 'vitest';
import { documented } from '../electron/documented.ts';
import { Probe, probePreload } from './desktop-fidelity-rig.ts';

let probe: Probe;
/** Runs in the page's world, without user activation. */
const inPage = (code: string): Promise<unknown> =>
  probe.driver.evaluate(
    ({ BrowserWindow }, source) => BrowserWindow.getAllWindows()[0]?.webContents.executeJavaScript(source) as Promise<unknown>,
    code,
  );
beforeAll(async () => {
  probe = await Probe.start();
  await probe.driver.evaluate(async ({ BrowserWindow, protocol }, preload) => {
    const pages: Record<string, string> = { '/': '<title>probe</title><p>page</p>', '/two': '<title>two</title>' };
    protocol.handle('app', (request) => {
      const { pathname } = new URL(request.url);
      const body = pages[pathname];
      return body === undefined
        ? new Response(null, { status: 404 })
        : new Response(body, { headers: { 'content-type': 'text/html', 'x-asked': `${request.method} ${request.url}` } });
    });
    const window = new BrowserWindow({ show: false, width: 640, height: 480, webPreferences: { preload, sandbox: true } });
    await window.loadURL('app://probe/');
  }, probePreload);
});
afterAll(() => probe.close());

/** The page's navigation, the app's event, and the resulting address. */
async function navigate(code: string, prevents: string): Promise<unknown> {
  return probe.driver.evaluate(
    async ({ BrowserWindow }, { source, prevented }) => {
      const contents = BrowserWindow.getAllWindows()[0]?.webContents;
      if (contents === undefined) throw new Error('there is no window');
      const told: string[] = [];
      const names = ['will-navigate', 'will-frame-navigate', 'did-start-navigation', 'will-redirect'];
      // After preventing it, wait a moment for what must not follow.
      let prevent = (): void => undefined;
      const settled = new Promise<void>((resolve) => {
        contents.once('did-finish-load', () => resolve());
        prevent = () => void setTimeout(resolve, 50);
      });
      const listeners = names.map((name) => {
        const listener = (details: { url: string; isMainFrame?: boolean; preventDefault(): void }): void => {
          told.push(`${name} ${details.url}`);
          if (name !== prevented) return;
          details.preventDefault();
          prevent();
        };
        contents.on(name as 'will-navigate', listener as never);
        return () => contents.off(name as 'will-navigate', listener as never);
      });
      if (source === 'loadURL') await contents.loadURL('app://probe/');
      else await contents.executeJavaScript(source).catch(() => undefined);
      if (source !== 'loadURL') await settled;
      for (const stop of listeners) stop();
      return [told, contents.getURL()];
    },
    { source: code, prevented: prevents },
  );
}

documented(
  'the page’s own navigation is put to the app and can be prevented; that of the app is not',
  'This event will not emit when the navigation is started programmatically with APIs like `webContents.loadURL` and `webContents.back`.',
  async () => {
    expect(await navigate(`location.href = '/two'; 0`, 'will-navigate')).toEqual([
      ['will-navigate app://probe/two', 'will-frame-navigate app://probe/two'],
      'app://probe/',
    ]);
    expect(await navigate(`location.href = '/two'; 0`, '')).toEqual([
      ['will-navigate app://probe/two', 'will-frame-navigate app://probe/two', 'did-start-navigation app://probe/two'],
      'app://probe/two',
    ]);
    expect(await navigate('loadURL', '')).toEqual([['did-start-navigation app://probe/'], 'app://probe/']);
  },
);

documented(
  'a new window is asked about with its address and kind; denied, the page gets none',
  'Called before creating a window when a new window is requested by the renderer',
  async () => {
    const asked = await probe.driver.evaluate(async ({ BrowserWindow }) => {
      const contents = BrowserWindow.getAllWindows()[0]?.webContents;
      const details: unknown[] = [];
      contents?.setWindowOpenHandler(({ url, disposition, frameName }) => {
        details.push([url, disposition, frameName]);
        return { action: 'deny' };
      });
      const results = (await contents?.executeJavaScript(
        `[window.open('/two'), window.open('/two', 'name', 'width=200,height=200')]`,
        true,
      )) as unknown[];
      return [details, results, BrowserWindow.getAllWindows().length];
    }, null);
    expect(asked).toEqual([
      [
        ['app://probe/two', 'foreground-tab', ''],
        ['app://probe/two', 'new-window', 'name'],
      ],
      [null, null],
      1,
    ]);
  },
);

documented(
  'a handled scheme answers with status, headers and body, and the page has its origin',
  'Requests made to URLs with this scheme will delegate to this handler to determine what response should be sent.',
  async () => {
    const answers = await inPage(
      `Promise.all(['/two', '/missing'].map((path) => fetch(path).then(async (reply) => [reply.status, reply.headers.get('x-asked'), await reply.text()])))`,
    );
    expect(answers).toEqual([
      [200, 'GET app://probe/two', '<title>two</title>'],
      [404, null, ''],
    ]);
    const handled = await probe.driver.evaluate(
      ({ protocol }) => [protocol.isProtocolHandled('app'), protocol.isProtocolHandled('other')],
      null,
    );
    expect(handled).toEqual([true, false]);
  },
);

documented(
  'code runs in the page and its promise is waited for, also a failing one',
  'A promise that resolves with the result of the executed code or is rejected if the result of the code is a rejected promise.',
  async () => {
    expect(await inPage('Promise.resolve({ answer: 42 })')).toEqual({ answer: 42 });
    await expect(inPage(`Promise.reject(new Error('no'))`)).rejects.toThrow('no');
  },
);

documented(
  'the window’s size is what the page is laid out in, never below its least; moves and sizes are told',
  'this function always returns the position and size of the window in normal state.',
  async () => {
    const told = await probe.driver.evaluate(({ BrowserWindow }) => {
      const window = new BrowserWindow({ show: false, width: 500, height: 400, minWidth: 300, minHeight: 200 });
      const events: string[] = [];
      window.on('resize', () => events.push('resize'));
      window.on('move', () => events.push('move'));
      window.setBounds({ x: 10, y: 20, width: 100, height: 250 });
      const normal = window.getNormalBounds();
      window.maximize();
      const { width } = window.getNormalBounds();
      const isMaximized = window.isMaximized();
      window.destroy();
      return { events, normal, width, isMaximized };
    }, null);
    expect(told).toEqual({ events: ['resize', 'move'], normal: { x: 10, y: 20, width: 300, height: 250 }, width: 300, isMaximized: true });
    await probe.driver.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.setBounds({ width: 720, height: 540 }), null);
    await expect.poll(() => inPage('[innerWidth, innerHeight]')).toEqual([720, 540]);
  },
);

documented(
  'shown, hidden and minimised, the window and its page agree on whether it is seen',
  'This also affects the Page Visibility API.',
  async () => {
    const states: unknown[] = [];
    const look = async (call: 'show' | 'hide' | 'minimize' | 'restore'): Promise<void> => {
      const seen = await probe.driver.evaluate(({ BrowserWindow }, name) => {
        const window = BrowserWindow.getAllWindows()[0];
        window?.[name]();
        return [window?.isVisible(), window?.isMinimized()];
      }, call);
      states.push([call, ...seen]);
      await expect.poll(() => inPage('document.visibilityState')).toBe(call === 'show' || call === 'restore' ? 'visible' : 'hidden');
    };
    for (const call of ['show', 'minimize', 'restore', 'hide'] as const) await look(call);
    expect(states).toEqual([
      ['show', true, false],
      ['minimize', false, true],
      ['restore', true, false],
      ['hide', false, false],
    ]);
  },
);

documented(
  'closing can be prevented, destroying cannot; what is destroyed throws',
  'Once a window is destroyed, accessing most of its other properties and methods throws `Object has been destroyed`',
  async () => {
    const lived = await probe.driver.evaluate(({ BrowserWindow }) => {
      const window = new BrowserWindow({ show: false });
      const contents = window.webContents;
      const events: string[] = [];
      window.on('close', (event) => {
        events.push('close');
        event.preventDefault();
      });
      window.on('closed', () => events.push('closed'));
      window.close();
      const survived = !window.isDestroyed();
      window.destroy();
      const thrown = [() => window.show(), () => window.getNormalBounds(), () => contents.send('x'), () => contents.getURL()].map(
        (call) => {
          try {
            call();
            return 'allowed';
          } catch (cause) {
            return (cause as Error).message;
          }
        },
      );
      return { events, survived, isDestroyed: [window.isDestroyed(), contents.isDestroyed()], thrown: [...new Set(thrown)] };
    }, null);
    expect(lived).toEqual({
      events: ['close', 'closed'],
      survived: true,
      isDestroyed: [true, true],
      thrown: ['Object has been destroyed'],
    });
  },
);

documented(
  'a page that asks for a permission gets the app’s answer',
  'Calling `callback(true)` will allow the permission and `callback(false)` will reject it.',
  async () => {
    await probe.driver.evaluate(({ session }) => {
      session.defaultSession.setPermissionRequestHandler((_contents, permission, answer) => answer(permission === 'media'));
    }, null);
    expect([await probe.driver.permission('media'), await probe.driver.permission('geolocation')]).toEqual([true, false]);
    await probe.driver.evaluate(({ session }) => session.defaultSession.setPermissionRequestHandler(null), null);
    expect(await probe.driver.permission('geolocation')).toBe(true);
  },
);

documented(
  'a page meets the answers of both handlers as its browser’s own',
  'Most web APIs do a permission check and then make a permission request if the check is denied.',
  async () => {
    const states = (): Promise<unknown> =>
      inPage(
        `Promise.all(['geolocation', 'notifications', 'midi'].map((name) => navigator.permissions.query({ name }).then(({ state }) => state)))`,
      );
    const load = (answers: 'none' | 'some'): Promise<void> =>
      probe.driver.evaluate(async ({ session, BrowserWindow }, which) => {
        const { defaultSession } = session;
        const some = which === 'some';
        defaultSession.setPermissionCheckHandler(some ? (_contents, permission) => permission === 'notifications' : null);
        defaultSession.setPermissionRequestHandler(some ? (_contents, permission, answer) => answer(permission === 'geolocation') : null);
        await BrowserWindow.getAllWindows()[0]?.loadURL('app://probe/');
      }, answers);
    await load('some');
    expect(await states()).toEqual(['granted', 'granted', 'denied']);
    await load('none');
    expect(await states()).toEqual(['granted', 'granted', 'granted']);
  },
);

documented(
  'the end of a page’s process is told with its reason, and a reload brings the page back',
  'Emitted when the renderer process unexpectedly disappears. This is normally because it was crashed or killed.',
  async () => {
    await probe.driver.evaluate(({ BrowserWindow }) => {
      const contents = BrowserWindow.getAllWindows()[0]?.webContents;
      contents?.once('render-process-gone', (_event, details) =>
        Object.assign(globalThis, { gone: [details.reason, contents.isCrashed()] }),
      );
    }, null);
    await probe.driver.crashPage();
    expect(await probe.driver.evaluate(() => (globalThis as unknown as { gone: unknown }).gone, null)).toEqual(['crashed', true]);
    await probe.driver.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.webContents.reload(), null);
    await expect.poll(() => inPage('[document.title, typeof probe]').catch(() => null)).toEqual(['probe', 'object']);
  },
);
