// IPC: which senders are accepted, which messages are valid, how many streams may be open.

import type { IpcMainInvokeEvent, WebContents } from 'electron';
import { expect, test } from 'vitest';
import { FakeClaw } from '../../tests/doubles/fake-claw.ts';
import { askChannels, tellChannels } from '../../core/contracts/desktop-channels.ts';
import { isAppPage } from './app-protocol.ts';
import { RecordingLogger } from '../../tests/rigs/desktop-bench.ts';
import { IpcRouter } from './ipc-router.ts';

type Handler = (event: IpcMainInvokeEvent, message: unknown) => unknown;

interface Frame {
  readonly url: string;
}

function rig() {
  const handlers = new Map<string, Handler>();
  const sent: [string, unknown][] = [];
  const mainFrame: Frame = { url: 'app://trayclaw/#/chat' };
  const contents = { mainFrame, isDestroyed: () => false, send: (channel: string, value: unknown) => sent.push([channel, value]) };
  const claw = new FakeClaw({ 'panic.status': () => ({ engaged: false, sinceMs: null, reason: null, killed: 0, tookMs: null }) });
  const logger = new RecordingLogger();
  const login: boolean[] = [];
  const links: string[] = [];
  const router = new IpcRouter({
    ipcMain: {
      handle: (channel, handler) => void handlers.set(channel, handler as Handler),
      removeHandler: (channel) => void handlers.delete(channel),
    },
    claw,
    logger,
    windowContents: () => contents as unknown as WebContents,
    isOwnPage: isAppPage,
    shellFacts: () => ({ platform: 'linux', panicKeys: null, panicKeysProblem: null, startsAtLogin: login.at(-1) ?? false }),
    setLoginStart: (isOn) => login.push(isOn),
    openLink: (url) => links.push(url) === 1,
  });
  const from = (sender: unknown, senderFrame: Frame | null, channel: string, message: unknown): Promise<unknown> =>
    Promise.resolve().then(() => handlers.get(channel)?.({ sender, senderFrame } as unknown as IpcMainInvokeEvent, message));
  const ask = (channel: string, message: unknown): Promise<unknown> => from(contents, mainFrame, channel, message);
  return { handlers, sent, contents, mainFrame, claw, logger, router, login, links, from, ask };
}

const channels = Object.values(askChannels);
const good: Readonly<Record<string, unknown>> = {
  [askChannels.op]: { name: 'panic.status', params: {} },
  [askChannels.follow]: { followId: 1, after: 'latest' },
  [askChannels.unfollow]: { followId: 1 },
  [askChannels.ready]: {},
  [askChannels.loginStart]: { isOn: true },
  [askChannels.openLink]: { url: 'https://example.com/' },
};

test.each(channels)('%s answers only the page of the app', async (channel) => {
  const { contents, mainFrame, from, ask, claw, logger, login, links, router } = rig();
  const strangers: [unknown, Frame | null][] = [
    [contents, { url: mainFrame.url }],
    [contents, { url: 'https://evil.example/' }],
    [contents, null],
    [{ mainFrame }, mainFrame],
    [null, mainFrame],
  ];
  for (const [sender, frame] of strangers)
    await expect(from(sender, frame, channel, good[channel])).rejects.toMatchObject({ code: 'forbidden' });
  // Our own top frame, after it navigated to another page.
  Object.assign(mainFrame, { url: 'app://trayclaw.evil/' });
  await expect(ask(channel, good[channel])).rejects.toMatchObject({ code: 'forbidden' });
  expect([claw.calls, login, links, new Set(logger.lines)]).toEqual([
    [],
    [],
    [],
    new Set(['warn: a message from a foreign frame was refused']),
  ]);
  Object.assign(mainFrame, { url: 'app://trayclaw/' });
  await ask(channel, good[channel]);
  router.dispose();
});

test.each(channels)('%s rejects invalid messages', async (channel) => {
  const { ask, claw, login, links, router } = rig();
  const bad: unknown[] = [
    undefined,
    null,
    0,
    '',
    [],
    [{}],
    { followId: 0 },
    { followId: 1.5, after: 0 },
    { isOn: 'true' },
    { url: 1 },
    { url: `https://a/${'x'.repeat(2_000)}` },
    { extra: 1 },
  ];
  for (const message of bad) await expect(ask(channel, message)).rejects.toMatchObject({ code: 'invalid_params' });
  expect([claw.calls, login, links]).toEqual([[], [], []]);
  router.dispose();
});

test('returns errors for unknown operations, bad parameters and prototype names', async () => {
  const { ask, claw, router } = rig();
  const op = (name: string, params: unknown = {}): Promise<unknown> => ask(askChannels.op, { name, params });
  expect(await op('panic.status')).toMatchObject({ ok: true, result: { engaged: false } });
  expect(claw.calls[0]?.caller).toEqual({ channel: 'window', actor: 'window' });
  expect(await op('panic.status', { extra: 1 })).toMatchObject({ ok: false, error: { code: 'invalid_params' } });
  for (const name of ['nope', 'constructor', '__proto__', 'toString'])
    expect(await op(name)).toMatchObject({ ok: false, error: { code: 'unknown_op' } });
  router.dispose();
});

test('streams: 16 at once, unique ids, closed together with their page', async () => {
  const { ask, router, sent, claw } = rig();
  for (let followId = 1; followId <= 16; followId += 1) await ask(askChannels.follow, { followId, after: 'latest' });
  await expect(ask(askChannels.follow, { followId: 17, after: 'latest' })).rejects.toMatchObject({ code: 'conflict' });
  await ask(askChannels.unfollow, { followId: 3 });
  await expect(ask(askChannels.follow, { followId: 4, after: 'latest' })).rejects.toMatchObject({ code: 'conflict' });
  await ask(askChannels.follow, { followId: 3, after: 0 });
  expect(sent.filter(([channel]) => channel === tellChannels.notice)).toHaveLength(17);
  router.forgetPage();
  sent.length = 0;
  claw.emitDelta({ sessionId: 's', turnId: 't', requestId: 'r', kind: 'text', text: 'x' } as never);
  await Promise.resolve();
  expect(sent).toEqual([]);
  router.dispose();
});

test('sends a stop to a listening page, and does not queue it for others', async () => {
  const { ask, router, sent } = rig();
  router.command({ kind: 'stopping' });
  await ask(askChannels.ready, {});
  expect(sent).toEqual([]);
  router.command({ kind: 'stopping' });
  expect(sent).toEqual([[tellChannels.command, { kind: 'stopping' }]]);
  router.dispose();
});

test('passes a link on and returns whether it was opened', async () => {
  const { ask, router, links } = rig();
  const url = 'https://example.com/';
  expect([await ask(askChannels.openLink, { url }), await ask(askChannels.openLink, { url }), links]).toEqual([true, false, [url, url]]);
  router.dispose();
});

test('queues up to a hundred commands until the window listens', async () => {
  const { ask, router, sent, handlers, login } = rig();
  for (let i = 0; i < 150; i += 1) router.command({ kind: 'show', view: 'health' });
  expect(sent).toEqual([]);
  expect(await ask(askChannels.ready, {})).toEqual({ platform: 'linux', panicKeys: null, panicKeysProblem: null, startsAtLogin: false });
  expect(sent).toHaveLength(100);
  router.command({ kind: 'show', view: 'chat' });
  expect(sent.at(-1)).toEqual([tellChannels.command, { kind: 'show', view: 'chat' }]);
  expect([await ask(askChannels.loginStart, { isOn: true }), login]).toEqual([expect.objectContaining({ startsAtLogin: true }), [true]]);
  router.dispose();
  expect(handlers.size).toBe(0);
});
