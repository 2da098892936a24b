// Neither the window nor an intruder in it can send from elsewhere, crash the shell with malformed messages, leave its page, open windows,
// or get permissions.

import { fileURLToPath } from 'node:url';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { askChannels } from '../../core/contracts/desktop-channels.ts';
import { opTable } from '../../core/contracts/ops.ts';
import { openableLink } from '../../main/desktop/external-links.ts';
import { soak } from '../soak.ts';
import { DesktopUnderTest } from './desktop-rig.ts';
import { oddMessages, type OddMessage } from './odd-messages.ts';

let app: DesktopUnderTest;
beforeAll(async () => {
  app = await DesktopUnderTest.start();
});
afterAll(() => app.close());

const own = { url: 'app://trayclaw/', isTopFrame: true, isOwn: true };
type AskChannel = (typeof askChannels)[keyof typeof askChannels];
const channels = Object.values(askChannels);
/** A valid message for each channel. */
const fitting: Readonly<Record<AskChannel, unknown>> = {
  [askChannels.op]: { name: 'health.check', params: {} },
  [askChannels.follow]: { followId: 7, after: 'latest' },
  [askChannels.unfollow]: { followId: 7 },
  [askChannels.ready]: {},
  [askChannels.loginStart]: { isOn: true },
  [askChannels.openLink]: { url: 'https://outside.invalid/' },
};
const refusal = 'AppError: This page may not talk to TrayClaw.';

test('the shell listens on these channels and no others', async () => {
  expect((await app.driver.desk()).channels.toSorted()).toEqual(channels.toSorted());
});

const foreign = {
  'a frame inside the page': { ...own, isTopFrame: false },
  'a foreign frame inside the page': { ...own, isTopFrame: false, url: 'https://outside.invalid/' },
  'another window with the same address': { ...own, isOwn: false },
  'another top frame of the same address': own,
  'a foreign address': { ...own, url: 'https://outside.invalid/' },
  'an address that looks like ours': { ...own, url: 'app://trayclaw.outside.invalid/' },
  'a frame that is gone': { ...own, isGone: true },
};
test.each(Object.entries(foreign))('%s is rejected on every channel', async (_name, from) => {
  for (const channel of channels) {
    await expect(app.driver.sendAs(channel, [fitting[channel]], from)).rejects.toThrow('This page may not talk to TrayClaw.');
  }
});

const rawPreload = fileURLToPath(new URL('../electron/fixtures/raw-preload.cjs', import.meta.url));
const outsidePage = `data:text/html,${encodeURIComponent('<title>outside</title>')}`;
test.each(['app://trayclaw/', outsidePage])('a second window at %s with full access to IPC is rejected on every channel', async (url) => {
  const said = await app.driver.evaluate(
    async ({ BrowserWindow }, { preload, address, messages }) => {
      const other = new BrowserWindow({ show: false, webPreferences: { preload, sandbox: true, contextIsolation: true } });
      await other.loadURL(address);
      const send = `Promise.all(${JSON.stringify(messages)}.map(([channel, message]) => raw.invoke(channel, message).then(() => 'taken', (cause) => cause.message)))`;
      const answers = (await other.webContents.executeJavaScript(send)) as string[];
      other.destroy();
      return answers;
    },
    { preload: rawPreload, address: url, messages: channels.map((channel) => [channel, fitting[channel]] as const) },
  );
  expect(said).toEqual(channels.map((channel) => `Error invoking remote method '${channel}': ${refusal}`));
  expect((await app.driver.desk()).openedLinks).toEqual([]);
});

test('a frame inside the page gets no bridge', async () => {
  const kinds = await app.page.evaluate<string[]>(`
    new Promise((resolve) => {
      const frame = document.createElement('iframe');
      frame.onload = () => resolve([typeof frame.contentWindow.trayclaw, typeof window.trayclaw]);
      document.body.append(frame);
    })`);
  expect(kinds).toEqual(['undefined', 'object']);
});

test('the preload script exposes these functions, frozen, and no others of Node', async () => {
  const seen = await app.page.evaluate<unknown>(`({
    bridge: Object.fromEntries(Object.entries(trayclaw).map(([key, value]) => [key, typeof value])),
    isFrozen: Object.isFrozen(trayclaw),
    leaks: ['require', 'process', 'module', 'Buffer', 'global', 'ipcRenderer', 'electron', '__host', '__fromHost'].filter((name) => name in window),
  })`);
  expect(seen).toEqual({
    bridge: {
      op: 'function',
      follow: 'function',
      onCommand: 'function',
      ready: 'function',
      setLoginStart: 'function',
      openLink: 'function',
    },
    isFrozen: true,
    leaks: [],
  });
});

test('malformed messages are each rejected or answered in order, without harm', async () => {
  const count = soak(2_500, 10_000);
  const messages = oddMessages(count, Number(process.env['TRAYCLAW_FUZZ_SEED'] ?? 20_261_122));
  expect(messages).toHaveLength(count);
  const byName = new Set(messages.filter(({ way }) => way === 'op').map(({ name }) => name));
  expect(Object.keys(opTable).filter((name) => !byName.has(name))).toEqual([]);
  const ways = ['op', 'follow', 'setLoginStart', 'openLink', ...channels.map((channel) => `raw ${channel}`)];
  const used = new Set(messages.map(({ way, channel }) => (way === 'raw' ? `raw ${channel}` : way)));
  expect([...used].toSorted()).toEqual(ways.toSorted());
  const answers = await sendAll(messages);
  expect(answers).toHaveLength(count);
  const unexpected = answers.filter((answer) => !/^(?:refused|invalid_params|unknown_op|answered)/.test(answer));
  expect([...new Set(unexpected)].slice(0, 20)).toEqual([]);
  expect((await app.driver.desk()).openedLinks.filter((url) => openableLink(url) !== url)).toEqual([]);
  const inherited = await app.page.evaluate<{ ok: boolean; error: { code: string } }>(
    `trayclaw.op('session.get', JSON.parse('{"__proto__": {"sessionId": "s"}, "sessionId": {"__proto__": []}}'))`,
  );
  expect([inherited.ok, inherited.error.code]).toEqual([false, 'invalid_params']);
  const health = await app.page.evaluate<{ ok: boolean }>(`trayclaw.op('health.check', {})`);
  expect(health.ok).toBe(true);
  const log = app.readFile('logs/trayclaw.log') ?? '';
  expect(log.match(/nobody (?:expected|looked)/g)).toBe(null);
  expect(app.driver.errorOutput).toBe('');
  await app.page.evaluate(`trayclaw.setLoginStart(false)`);
  // Followed streams end together with the page.
  await app.page.reload();
  await app.usable();
});

/**
 * Sends each message through the page's own bridge, as a literal that the page can express, and past the bridge as the window's own frame.
 */
async function sendAll(messages: readonly OddMessage[]): Promise<string[]> {
  const answers: string[] = [];
  for (let start = 0; start < messages.length; start += 500) {
    const part = messages.slice(start, start + 500);
    const raw = part.filter(({ way }) => way === 'raw');
    const taken = raw.map(({ channel, body }) =>
      app.driver.sendAs(channel, [body], { ...own, isMainFrame: true }).then(
        () => 'answered',
        (cause: unknown) => `refused: ${String(cause)}`,
      ),
    );
    const bridged = part.filter(({ way }) => way !== 'raw');
    answers.push(...(await app.page.evaluate(sendByBridge, bridged)), ...(await Promise.all(taken)));
  }
  return answers;
}

/** Runs inside the page. */
function sendByBridge(batch: OddMessage[]): Promise<string[]> {
  interface Bridge {
    op(name: unknown, params: unknown): Promise<{ ok: boolean; error?: { code: string } }>;
    follow(after: unknown, listen: () => void): () => void;
    setLoginStart(isOn: unknown): Promise<unknown>;
    openLink(url: unknown): Promise<unknown>;
  }
  const bridge = (globalThis as unknown as { trayclaw: Bridge }).trayclaw;
  const send = async ({ way, name, body }: OddMessage): Promise<string> => {
    if (way === 'op') {
      const reply = await bridge.op(name, body);
      return reply.ok ? 'answered' : (reply.error?.code ?? 'no code');
    }
    if (way === 'follow') bridge.follow(body, () => undefined)();
    else if (way === 'setLoginStart') await bridge.setLoginStart(body);
    else await bridge.openLink(body);
    return 'answered';
  };
  return Promise.all(batch.map((one) => send(one).catch((cause: unknown) => `refused: ${String(cause)}`)));
}

test('permissions are denied, except copying from the conversation', async () => {
  const names = [
    'media',
    'geolocation',
    'notifications',
    'midi',
    'openExternal',
    'display-capture',
    'clipboard-read',
    'fullscreen',
    'hid',
    'usb',
  ];
  for (const name of names) expect({ name, isGranted: await app.driver.permission(name) }).toEqual({ name, isGranted: false });
  expect(await app.driver.permission('clipboard-sanitized-write')).toBe(true);
});

test('browser permissions of the page are denied: location, camera and others', async () => {
  // Only a page in front may copy.
  await app.page.bringToFront();
  const asked = await app.page.evaluate<unknown>(`(async () => {
    const told = (work) => work.then(() => 'given', (cause) => cause.name);
    const state = (name) => navigator.permissions.query({ name }).then(({ state }) => state);
    const names = ['geolocation', 'notifications', 'camera', 'microphone', 'midi', 'clipboard-read', 'idle-detection'];
    return {
      states: await Promise.all(names.map(state)),
      place: await new Promise((resolve) => navigator.geolocation.getCurrentPosition(() => resolve('given'), ({ code }) => resolve(code))),
      notices: [await Notification.requestPermission(), Notification.permission],
      camera: await told(navigator.mediaDevices.getUserMedia({ video: true })),
      microphone: await told(navigator.mediaDevices.getUserMedia({ audio: true })),
      instruments: await told(navigator.requestMIDIAccess()),
      clipboard: await told(navigator.clipboard.readText()),
      copying: await told(navigator.clipboard.writeText('copied')),
    };
  })()`);
  expect(asked).toEqual({
    states: Array.from({ length: 7 }, () => 'denied'),
    place: 1,
    notices: ['denied', 'denied'],
    // A machine without the device reports that instead.
    camera: expect.stringMatching(/^Not(?:Allowed|Found)Error$/) as string,
    microphone: expect.stringMatching(/^Not(?:Allowed|Found)Error$/) as string,
    instruments: 'NotAllowedError',
    clipboard: 'NotAllowedError',
    copying: 'given',
  });
});

test('a load that is redirected elsewhere ends at the redirect', async () => {
  const asked: string[] = [];
  const server: Server = createServer(({ url = '' }, response) => {
    asked.push(url);
    if (url === '/led') response.writeHead(302, { location: '/elsewhere' });
    else response.writeHead(200, { 'content-type': 'text/html' });
    response.end('<title>outside</title>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const loaded = await app.driver.evaluate(
    async ({ BrowserWindow }, urls) => {
      const other = new BrowserWindow({ show: false, webPreferences: { sandbox: true, contextIsolation: true } });
      const answers: string[] = [];
      for (const url of urls) {
        const answer = await other.loadURL(url).then(
          () => 'loaded',
          () => 'ended',
        );
        answers.push(answer);
      }
      other.destroy();
      return answers;
    },
    [`${origin}/straight`, `${origin}/led`],
  );
  expect([loaded, asked.filter((url) => url !== '/favicon.ico')]).toEqual([
    ['loaded', 'ended'],
    ['/straight', '/led'],
  ]);
  expect(app.readFile('logs/trayclaw.log')).toContain(`${origin}/elsewhere`);
});

test('the page cannot be navigated away, framed, or given another window', async () => {
  const before = await app.driver.desk();
  const tries = [
    `location.href = 'https://outside.invalid/'`,
    `location.assign('data:text/html,x')`,
    `location.replace('file:///etc/passwd')`,
    `document.body.appendChild(Object.assign(document.createElement('iframe'), { src: 'https://outside.invalid/' })) && undefined`,
    `document.body.appendChild(Object.assign(document.createElement('webview'), { src: 'https://outside.invalid/' })) && undefined`,
    `window.open('https://outside.invalid/', 'x', 'width=300,height=300') && undefined`,
    `window.open('https://outside.invalid/') && undefined`,
    `window.open('about:blank') && undefined`,
    `document.body.appendChild(Object.assign(document.createElement('form'), { action: 'https://outside.invalid/', target: '_blank' })).submit()`,
    `fetch('https://outside.invalid/').catch(() => undefined)`,
  ];
  for (const source of tries) await app.page.evaluate(source).catch(() => undefined);
  expect(await app.message.isVisible()).toBe(true);
  await app.deskShows(
    (desk) => desk.windows.map((window) => window.url),
    before.windows.map((window) => window.url),
  );
  expect((await app.driver.desk()).openedLinks).toEqual(before.openedLinks);
});
