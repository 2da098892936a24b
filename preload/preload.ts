// The bridge between the page and the shell: six functions that exchange plain values. Bundled into one CommonJS file, because a sandboxed
// preload script cannot load modules. It decides nothing; the shell checks every message again.

import { contextBridge, ipcRenderer, type IpcRendererEvent } from 'electron';
import {
  askChannels,
  bridgeName,
  tellChannels,
  type DesktopBridge,
  type ShellCommand,
  type ShellFacts,
  type StreamMessage,
  type StreamNotice,
} from '../core/contracts/desktop-channels.ts';
import type { OpReply } from '../core/contracts/ops.ts';

/** The page's navigator; Node's types declare a different one. */
declare const navigator: { readonly userActivation: { readonly isActive: boolean } };

const streams = new Map<number, (notice: StreamNotice) => void>();
const commandListeners = new Set<(command: ShellCommand) => void>();
let lastFollowId = 0;

// Electron's event object is not passed on: it gives access to all of IPC.
ipcRenderer.on(tellChannels.notice, (_event: IpcRendererEvent, message: StreamMessage) => {
  streams.get(message.followId)?.(message.notice);
});
ipcRenderer.on(tellChannels.command, (_event: IpcRendererEvent, command: ShellCommand) => {
  for (const listener of commandListeners) listener(command);
});

const bridge: DesktopBridge = {
  op: (name, params) => ipcRenderer.invoke(askChannels.op, { name, params }) as Promise<OpReply>,
  follow: (after, onNotice) => {
    const followId = (lastFollowId += 1);
    streams.set(followId, onNotice);
    // If the shell rejects the stream, report it as closed; the window opens another one.
    ipcRenderer.invoke(askChannels.follow, { followId, after }).catch(() => streams.get(followId)?.({ kind: 'closed' }));
    return () => {
      streams.delete(followId);
      // The stream may already be closed; then there is nothing to end.
      ipcRenderer.invoke(askChannels.unfollow, { followId }).catch(() => undefined);
    };
  },
  onCommand: (listener) => {
    commandListeners.add(listener);
    return () => {
      commandListeners.delete(listener);
    };
  },
  ready: () => ipcRenderer.invoke(askChannels.ready, {}) as Promise<ShellFacts>,
  setLoginStart: (isOn) => ipcRenderer.invoke(askChannels.loginStart, { isOn }) as Promise<ShellFacts>,
  // A script cannot fake a click: only the browser sets this flag, for a few seconds.
  openLink: async (url) => navigator.userActivation.isActive && ((await ipcRenderer.invoke(askChannels.openLink, { url })) as boolean),
};

contextBridge.exposeInMainWorld(bridgeName, bridge);
