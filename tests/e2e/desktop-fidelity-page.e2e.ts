// Preload scripts, the bridge to the page, and IPC as Electron documents them, on whichever Electron the desktop specs use.

import type * as Electron from 'electron';
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
  await probe.driver.evaluate(async ({ BrowserWindow, ipcMain, protocol }, preload) => {
    const pages: Record<string, string> = { '/': '<title>probe</title><p>page</p>', '/two': '<title>two</title>' };
    protocol.handle('app', (request) => {
      const body = pages[new URL(request.url).pathname];
      return new Response(body ?? null, { status: body === undefined ? 404 : 200, headers: { 'content-type': 'text/html' } });
    });
    ipcMain.handle('echo', (_event, value: unknown) => [value, Object.prototype.toString.call(value)]);
    ipcMain.handle('fails', () => {
      throw Object.assign(new RangeError('too far'), { secret: 'kept' });
    });
    const window = new BrowserWindow({ show: false, width: 640, height: 480, webPreferences: { preload, sandbox: true } });
    await window.loadURL('app://probe/');
  }, probePreload);
});
afterAll(() => probe.close());

documented(
  'the page has none of the preload script’s names, and neither sees what the other leaves',
  'will only have access to its own dedicated `document` and `window` globals, as well as its own set of JavaScript builtins (`Array`, `Object`, `JSON`, etc.), which are all invisible to the loaded content.',
  async () => {
    expect(await inPage(`window.leftByThePage = 1; Array.prototype.addedByThePage = 1; probe.seesPage()`)).toEqual(['undefined', true]);
    const names = ['require', 'process', 'module', 'exports', 'canRequire', 'ipcRenderer', 'Point', '__host', '__fromHost'];
    expect(await inPage(`delete Array.prototype.addedByThePage; ${JSON.stringify(names)}.filter((name) => name in window)`)).toEqual([]);
  },
);

documented(
  'a sandboxed preload script can load a handful of modules and no file',
  'This is not the same as the `nodeIntegration` option and the APIs available to the preload script are more limited.',
  async () => {
    expect(await inPage('probe.modules')).toEqual({
      electron: true,
      events: true,
      timers: true,
      url: true,
      fs: 'module not found: fs',
      child_process: 'module not found: child_process',
      'node:path': 'module not found: node:path',
      './other.cjs': 'module not found: ./other.cjs',
    });
    expect(await inPage('probe.process')).toEqual({ type: 'renderer', sandboxed: true, contextIsolated: true });
  },
);

documented(
  'the bridge leaves frozen copies without prototypes, and functions that call across',
  'Refer to the table on how values are copied between worlds.',
  async () => {
    const seen = await inPage(`(async () => {
      'use strict';
      const attempt = (work) => { try { return work(); } catch (cause) { return [cause instanceof Error, cause.message]; } };
      return {
        frozen: [Object.isFrozen(probe), Object.isFrozen(probe.nested), Object.isFrozen(probe.nested.list)],
        changed: attempt(() => { probe.add = null; })?.[0],
        point: [probe.point.x, typeof probe.point.norm, Object.getPrototypeOf(probe.point) === Object.prototype],
        add: probe.add(2, 3),
        isOwnFunction: probe.add instanceof Function,
        fail: attempt(() => probe.fail()),
        calledBack: probe.callBack(({ from }) => from + ' and back'),
        later: await probe.later({ deep: [1] }),
        rejects: await probe.rejects().catch((cause) => [cause instanceof Error, cause.message]),
      };
    })()`);
    expect(seen).toEqual({
      frozen: [true, true, true],
      changed: true,
      point: [1, 'undefined', true],
      add: 5,
      isOwnFunction: true,
      fail: [true, 'thrown behind the bridge'],
      calledBack: 'preload and back',
      later: { deep: [1] },
      rejects: [true, 'rejected behind the bridge'],
    });
  },
);

documented(
  'values cross to the main process and back by structured clone',
  'Arguments will be serialized with the Structured Clone Algorithm, just like `window.postMessage`, so prototype chains will not be included.',
  async () => {
    const kinds = ['undefined', 'null', 'date', 'map', 'bytes', 'words', 'error', 'big', 'nan', 'pattern'];
    const back = await inPage(
      `Promise.all(${JSON.stringify(kinds)}.map((name) => probe.roundTrip(name).then(({ isSameKind, description }) => [name, isSameKind, description])))`,
    );
    const tags = ['Undefined', 'Null', 'Date', 'Map', 'Uint8Array', 'Uint16Array', 'Error', 'BigInt', 'Number', 'RegExp'];
    expect(back).toEqual(kinds.map((name, index) => [name, true, `[object ${tags[index] ?? ''}]`]));
    expect(await inPage('probe.cyclic()')).toEqual([true, false]);
    const deep = await inPage(
      `Promise.all(['date', 'error', 'bytes'].map((name) => probe.roundTrip(name).then(({ back }) => name === 'date' ? back.getTime() : name === 'error' ? back.message : [...back])))`,
    );
    expect(deep).toEqual([86_400_000, 'too far', [0, 127, 255]]);
  },
);

documented(
  'what cannot be cloned is refused where it is sent',
  'Sending Functions, Promises, Symbols, WeakMaps, or WeakSets will throw an exception.',
  async () => {
    const refused = await inPage(`Promise.all(['function', 'promise', 'weakMap'].map((name) => probe.refusal(name)))`);
    expect(refused).toEqual(Array(3).fill('An object could not be cloned.'));
    const sent = probe.driver.evaluate(({ BrowserWindow }) => {
      BrowserWindow.getAllWindows()[0]?.webContents.send('tell', () => undefined);
    }, null);
    await expect(sent).rejects.toThrow('Failed to serialize arguments');
  },
);

documented(
  'a message to the page arrives whole',
  'Send an asynchronous message to the renderer process via `channel`, along with arguments.',
  async () => {
    await probe.driver.evaluate(({ BrowserWindow }) => {
      BrowserWindow.getAllWindows()[0]?.webContents.send('tell', new Date(0), new Map(), 'text');
    }, null);
    await expect
      .poll(() => inPage('probe.told()'))
      .toEqual([expect.stringMatching(/^\[object Date\]/), '[object Map] [object Map]', '[object String] text']);
  },
);

documented(
  'of an error only the message comes over; a channel nobody handles says so; a second handler is refused',
  'Errors thrown through `handle` in the main process are not transparent as they are serialized and only the `message` property from the original error is provided to the renderer process.',
  async () => {
    const failed = await inPage(
      `Promise.all(['fails', 'nobody'].map((channel) => probe.invoke(channel).catch((cause) => [cause.message, Object.keys(cause)])))`,
    );
    expect(failed).toEqual([
      ["Error invoking remote method 'fails': RangeError: too far", []],
      ["Error invoking remote method 'nobody': Error: No handler registered for 'nobody'", []],
    ]);
    const second = probe.driver.evaluate(({ ipcMain }) => ipcMain.handle('fails', () => undefined), null);
    await expect(second).rejects.toThrow("Attempted to register a second handler for 'fails'");
  },
);

documented(
  'a message tells its page and its frame, and the frame is null once it has navigated',
  'May be `null` if accessed after the frame has either navigated or been destroyed.',
  async () => {
    const identity = await probe.driver.evaluate(async ({ BrowserWindow, ipcMain }) => {
      const contents = BrowserWindow.getAllWindows()[0]?.webContents;
      if (contents === undefined) throw new Error('there is no window');
      const asked = new Promise<Electron.IpcMainInvokeEvent>((resolve) => ipcMain.handleOnce('who', (event) => resolve(event)));
      await contents.executeJavaScript('probe.invoke("who")');
      const event = await asked;
      const before = [
        event.sender === contents,
        event.senderFrame === contents.mainFrame,
        event.senderFrame?.url,
        event.senderFrame?.parent,
      ];
      const loaded = new Promise<void>((resolve) => contents.once('did-finish-load', () => resolve()));
      contents.reload();
      await loaded;
      return [...before, event.senderFrame];
    }, null);
    expect(identity).toEqual([true, true, 'app://probe/', null, null]);
  },
);

documented(
  'a frame inside the page gets no preload script',
  'Experimental option for enabling Node.js support in sub-frames such as iframes and child windows.',
  async () => {
    const inFrame = `new Promise((resolve) => { const frame = document.createElement('iframe'); frame.src = '/two'; frame.onload = () => resolve([typeof frame.contentWindow.probe, frame.contentDocument.title]); document.body.append(frame); })`;
    expect(await inPage(inFrame)).toEqual(['undefined', 'two']);
  },
);
