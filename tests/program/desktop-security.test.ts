// Electron's security checklist, item by item, on the parts themselves and on the build output; SECURITY.md names these tests.

import { EventEmitter } from 'node:events';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import type { App, BrowserWindow, BrowserWindowConstructorOptions, Session } from 'electron';
import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../core/base/logger.ts';
import { appHeaders, appPage, appScheme, isAppPage, serveApp } from '../../main/desktop/app-protocol.ts';
import { guardContents } from '../../main/desktop/contents-guard.ts';
import { MainWindow } from '../../main/desktop/main-window.ts';
import { WindowPlaceFile } from '../../main/desktop/window-place.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

test('every item of the checklist has its test', () => {
  const rows = [...read('SECURITY.md').matchAll(/^\| +(\d+) +\| ([^|]+)\| ([^|]+)\| ([^|]+)\| ([^|]*)\|$/gm)].map((row) =>
    row.slice(1).map((cell) => cell.trim()),
  );
  expect(rows.map(([item]) => Number(item))).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  const missing = rows.filter(([, , how, name = '', file = '']) => {
    return (
      how !== 'open' &&
      !new RegExp(`^test(\\.each\\(\\w+\\))?\\('${name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}'`, 'm').test(
        read(file.replaceAll('`', '')),
      )
    );
  });
  expect(missing).toEqual([]);
  expect(rows.filter(([, , how]) => how === 'open').map(([item]) => item)).toEqual([]);
});

test('every promise about the engine has its test', () => {
  const section =
    read('SECURITY.md')
      .split('\n# ')
      .find((part) => part.startsWith('The engine')) ?? '';
  const rows = [...section.matchAll(/^\| [^|]+\| [^|]+\| ([^|]+)\| `([^|`]+)` +\|$/gm)];
  expect(rows.length).toBeGreaterThan(5);
  expect(rows.filter(([, name = '', file = '']) => !read(file).includes(`('${name.trim()}'`)).map(([row]) => row)).toEqual([]);
});

function windowSettings(): BrowserWindowConstructorOptions {
  const made: BrowserWindowConstructorOptions[] = [];
  const nothing = (): void => undefined;
  const create = (settings: BrowserWindowConstructorOptions): BrowserWindow => {
    made.push(settings);
    const contents = new EventEmitter();
    const calls = { webContents: contents, isMinimized: () => false, show: nothing, focus: nothing, loadURL: () => Promise.resolve() };
    return Object.assign(new EventEmitter(), calls) as unknown as BrowserWindow;
  };
  const events = {
    onPage: nothing,
    onPageGone: nothing,
    onPageFailed: nothing,
    onAttentionChanged: nothing,
    onSessionMayEnd: nothing,
    onSessionEnd: nothing,
  };
  const about = { preloadFile: '/app/preload.cjs', page: appPage, iconFile: null, place: new WindowPlaceFile('/nowhere') };
  new MainWindow({ ...events, ...about, create, screens: () => [], isQuitting: () => false, isDark: () => true }).show();
  expect(made).toHaveLength(1);
  return made[0] ?? {};
}

test('the settings of the window are pinned', () => {
  expect(windowSettings().webPreferences).toEqual({
    preload: '/app/preload.cjs',
    sandbox: true,
    contextIsolation: true,
    nodeIntegration: false,
    nodeIntegrationInWorker: false,
    nodeIntegrationInSubFrames: false,
    webSecurity: true,
    allowRunningInsecureContent: false,
    experimentalFeatures: false,
    webviewTag: false,
    navigateOnDragDrop: false,
    spellcheck: process.platform === 'darwin',
  });
});

test('the content policy is pinned', () => {
  expect(appHeaders['content-security-policy']?.split('; ')).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'none'",
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types svelte-trusted-html dompurify trayclaw-worker',
  ]);
});

test('the sandbox is on for every process, before the app is ready', () => {
  const entry = read('main/desktop.ts');
  // Only the switch leaves it off, as when the superuser starts the app: pages could not start with the call and the switch together.
  const call = "if (!app.commandLine.hasSwitch('no-sandbox')) app.enableSandbox();";
  expect(entry.indexOf(call)).toBeGreaterThan(0);
  expect(entry.indexOf(call)).toBeLessThan(entry.indexOf('whenReady()'));
});

test('copying is the only permission, and only for our own page', () => {
  let request: Parameters<Session['setPermissionRequestHandler']>[0] = null;
  let check: Parameters<Session['setPermissionCheckHandler']>[0] = null;
  let device: Parameters<Session['setDevicePermissionHandler']>[0] = null;
  guardContents({
    app: { on: () => undefined } as unknown as App,
    session: {
      setPermissionRequestHandler: (handler) => (request = handler),
      setPermissionCheckHandler: (handler) => (check = handler),
      setDevicePermissionHandler: (handler) => (device = handler),
    },
    logger: silentLogger,
  });
  const pages = { own: { getURL: () => appPage }, other: { getURL: () => 'https://evil.example/' } };
  const names =
    'media geolocation notifications midi midiSysex pointerLock fullscreen openExternal clipboard-read clipboard-sanitized-write display-capture hid usb serial idle-detection storage-access window-management unknown fileSystem'.split(
      ' ',
    );
  const granted: string[] = [];
  for (const [page, contents] of Object.entries(pages))
    for (const name of names) {
      const ask = request as unknown as (contents: unknown, name: string, answer: (is: boolean) => void) => void;
      ask(contents, name, (is) => is && granted.push(`${page} asks ${name}`));
      if ((check as unknown as (contents: unknown, name: string) => boolean)(contents, name)) granted.push(`${page} has ${name}`);
    }
  expect(granted).toEqual(['own asks clipboard-sanitized-write', 'own has clipboard-sanitized-write']);
  expect((check as unknown as (contents: null, name: string) => boolean)(null, 'clipboard-sanitized-write')).toBe(false);
  expect((device as unknown as (details: unknown) => boolean)({ deviceType: 'usb' })).toBe(false);
});

test('a page cannot leave, open or embed anything', () => {
  const app = new EventEmitter();
  const handlers = {
    setPermissionRequestHandler: () => undefined,
    setPermissionCheckHandler: () => undefined,
    setDevicePermissionHandler: () => undefined,
  };
  guardContents({ app: app as unknown as App, session: handlers, logger: silentLogger });
  let openWindow: (details: { url: string; disposition: string }) => unknown = () => null;
  const contents = Object.assign(new EventEmitter(), { setWindowOpenHandler: (handler: typeof openWindow) => (openWindow = handler) });
  app.emit('web-contents-created', {}, contents);
  const goes = (event: string, url: string, isMainFrame = true): boolean => {
    let prevented = false;
    contents.emit(event, { url, isMainFrame, preventDefault: () => (prevented = true) }, {});
    return !prevented;
  };
  const urls = [
    'https://evil.example/',
    'file:///etc/passwd',
    'app://evil/',
    'app://trayclaw/other.html',
    'javascript:1',
    'data:text/html,x',
    'app://trayclaw:1/',
  ];
  expect(urls.filter((url) => goes('will-navigate', url) || goes('will-redirect', url) || goes('will-frame-navigate', url, false))).toEqual(
    [],
  );
  expect([goes('will-navigate', appPage), goes('will-attach-webview', ''), goes('will-frame-navigate', appPage, false)]).toEqual([
    true,
    false,
    false,
  ]);
  const framed = `${appPage}diagram.html`;
  expect([goes('will-frame-navigate', framed, false), goes('will-navigate', framed), goes('will-redirect', framed)]).toEqual([
    true,
    false,
    false,
  ]);
  expect([`${framed}?x`, `${framed}#x`, `${framed}/`].filter((url) => goes('will-frame-navigate', url, false))).toEqual([]);
  expect(
    ['new-window', 'default', 'foreground-tab', 'background-tab'].map((disposition) =>
      openWindow({ url: 'https://a.example/', disposition }),
    ),
  ).toEqual(Array.from({ length: 4 }, () => ({ action: 'deny' })));
});

test('Electron is pinned to one version', () => {
  const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: Record<string, string> };
  expect(devDependencies['electron']).toMatch(/^\d+\.\d+\.\d+$/);
  const installed = JSON.parse(read('node_modules/electron/package.json')) as { version: string };
  expect(installed.version).toBe(devDependencies['electron']);
});

test('the protocol serves the built window and nothing else', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-protocol-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'renderer'));
  writeFileSync(join(folder, 'renderer', 'index.html'), '<p>window');
  writeFileSync(join(folder, 'secret.txt'), 'secret');
  let handle: (request: Request) => Promise<Response> = () => Promise.reject(new Error('no handler'));
  serveApp({ handle: (_scheme: string, handler: typeof handle) => (handle = handler) }, join(folder, 'renderer'));
  const status = async (url: string, method = 'GET'): Promise<number> => (await handle(new Request(url, { method }))).status;
  expect([await status(appPage), await status(appPage, 'POST')]).toEqual([200, 404]);
  const beside = [
    '../secret.txt',
    '..%2fsecret.txt',
    '%2e%2e/secret.txt',
    '..\\secret.txt',
    '%5c..%5csecret.txt',
    '/etc/passwd',
    'secret.txt',
    '%00',
    '%',
  ];
  for (const path of beside) expect([path, [404, 500].includes(await status(`${appPage}${path}`))]).toEqual([path, true]);
  expect(await status('app://other/')).toBe(404);
  expect((await handle(new Request(`${appPage}none.js`))).headers.get('content-security-policy')).toBe(
    appHeaders['content-security-policy'],
  );
  expect(appScheme.privileges).toEqual({ standard: true, secure: true, supportFetchAPI: true, codeCache: true });
  expect(
    ['app://trayclaw/#/x', 'app://trayclaw.evil/', 'app://evil@trayclaw:1/', 'https://trayclaw/', 'app://trayclaw/index.html'].map(
      isAppPage,
    ),
  ).toEqual([true, false, false, false, false]);
});

test('the preload script exposes six functions and nothing of Electron', async () => {
  const file = join(root, 'dist/preload.cjs');
  const source = readFileSync(file, 'utf8');
  expect(statSync(file).size).toBeLessThan(2_500);
  expect([...source.matchAll(/require\(([^)]*)\)/g)].map(([, name]) => name)).toEqual(['"electron"']);
  expect([...new Set([...source.matchAll(/electron\.(\w+\.?\w*)/g)].map(([, use]) => use ?? ''))].sort()).toEqual([
    'contextBridge.exposeInMainWorld',
    'ipcRenderer.invoke',
    'ipcRenderer.on',
  ]);
  const listeners = new Map<string, (event: unknown, message: unknown) => void>();
  const exposed: Record<string, Record<string, (...args: unknown[]) => unknown>> = {};
  const sent: unknown[] = [];
  const navigator = { userActivation: { isActive: false } };
  const electron = {
    contextBridge: { exposeInMainWorld: (name: string, api: never) => (exposed[name] = api) },
    ipcRenderer: {
      invoke: (...said: unknown[]) => (sent.push(said), Promise.resolve(true)),
      on: (channel: string, listener: never) => listeners.set(channel, listener),
    },
  };
  runInNewContext(source, { require: () => electron, module: { exports: {} }, exports: {}, navigator, Map, Set, Promise });
  expect([Object.keys(exposed), Object.keys(exposed['trayclaw'] ?? {}).sort()]).toEqual([
    ['trayclaw'],
    ['follow', 'onCommand', 'op', 'openLink', 'ready', 'setLoginStart'],
  ]);
  const got: unknown[][] = [];
  exposed['trayclaw']?.['onCommand']?.((...args: unknown[]) => got.push(args));
  exposed['trayclaw']?.['follow']?.('latest', (...args: unknown[]) => got.push(args));
  const event = { sender: electron.ipcRenderer };
  listeners.get('trayclaw:command')?.(event, 'command');
  listeners.get('trayclaw:notice')?.(event, { followId: 1, notice: 'notice' });
  // Electron's event gives access to all of IPC and must never reach the page.
  expect(got).toEqual([['command'], ['notice']]);
  // A link is opened only with a click; without one, no request is sent.
  sent.length = 0;
  const open = exposed['trayclaw']?.['openLink'];
  expect([await open?.('https://a.example/'), sent]).toEqual([false, []]);
  navigator.userActivation.isActive = true;
  expect([await open?.('https://a.example/'), sent]).toEqual([true, [['trayclaw:open-link', { url: 'https://a.example/' }]]]);
});

test('every explained finding of Electronegativity has a reason and its file', () => {
  const explained = JSON.parse(read('build/electronegativity.json')) as { id: string; file: string; why: string }[];
  expect(explained.filter(({ id, why }) => !/^[A-Z_]+$/.test(id) || why.length < 40)).toEqual([]);
  // A built script is examined under the name it would have as plain JavaScript.
  const exists = (file: string): boolean => [file, file.replace(/\.js$/, '.cjs')].some((path) => existsSync(join(root, path)));
  expect(explained.filter(({ file }) => file !== 'N/A' && !exists(file))).toEqual([]);
  expect(new Set(explained.map(({ id, file }) => `${id} ${file}`)).size).toBe(explained.length);
});

test('the audit installs from a lock file with one version of each package', () => {
  const { dependencies } = JSON.parse(read('build/audit/package.json')) as { dependencies: Record<string, string> };
  const { packages } = JSON.parse(read('build/audit/package-lock.json')) as { packages: Record<string, Record<string, unknown>> };
  expect(dependencies).toEqual({ '@doyensec/electronegativity': '1.10.3' });
  expect(packages['node_modules/@doyensec/electronegativity']?.['version']).toBe('1.10.3');
  const loose = Object.entries(packages).filter(([place, { integrity }]) => place !== '' && typeof integrity !== 'string');
  expect(loose.map(([place]) => place)).toEqual([]);
});

test('Electronegativity finds nothing that is not explained', { timeout: 300_000 }, ({ skip }) => {
  const ran = spawnSync(process.execPath, [join(root, 'build/audit-electron.ts')], { encoding: 'utf8' });
  if (ran.status === 3) skip(ran.stdout.trim());
  expect([ran.status, ran.stdout]).toEqual([0, expect.stringMatching(/, 0 not explained\n$/)]);
});
