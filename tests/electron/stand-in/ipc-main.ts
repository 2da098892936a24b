// ipcMain: handlers by channel, called with the sender. Values are cloned on the way in and out; an error keeps only its message. "Errors
// thrown through handle in the main process are not transparent as they are serialized and only the message property from the original
// error is provided to the renderer process." (ipcMain)

import { EventEmitter } from 'node:events';
import type { IpcMainEvent, IpcMainInvokeEvent } from 'electron';
import { createCodec } from './structured.ts';

type Handler = (event: IpcMainInvokeEvent, ...args: unknown[]) => unknown;

const handlers = new Map<string, Handler>();
const codec = createCodec();

class IpcMain extends EventEmitter {
  handle(channel: string, handler: Handler): void {
    if (handlers.has(channel)) throw new Error(`Attempted to register a second handler for '${channel}'`);
    handlers.set(channel, handler);
  }

  /** "Handles a single invokeable IPC message, then removes the listener." */
  handleOnce(channel: string, handler: Handler): void {
    this.handle(channel, (event, ...args) => {
      this.removeHandler(channel);
      return handler(event, ...args);
    });
  }

  removeHandler(channel: string): void {
    handlers.delete(channel);
  }
}

export const ipcMain = new IpcMain();

export type Reply = { readonly body: string } | { readonly error: string };

/** `body` contains the encoded arguments. */
export async function invokeMain(event: IpcMainInvokeEvent, channel: string, body: string): Promise<Reply> {
  const handler = handlers.get(channel);
  if (handler === undefined) return { error: `Error: No handler registered for '${channel}'` };
  try {
    return { body: encodeOr(await handler(event, ...(codec.decode(body) as unknown[])), 'An object could not be cloned.') };
  } catch (cause) {
    return { error: String(cause) };
  }
}

export function sendMain(event: IpcMainEvent, channel: string, body: string): void {
  ipcMain.emit(channel, event, ...(codec.decode(body) as unknown[]));
}

/** Encodes the value; throws Electron's message instead of the platform's. */
export function encodeOr(value: unknown, refusal: string): string {
  try {
    return codec.encode(value);
  } catch {
    throw new Error(refusal);
  }
}

export function handledChannels(): string[] {
  return [...handlers.keys()];
}
