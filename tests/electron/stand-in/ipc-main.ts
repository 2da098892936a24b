// ipcMain: handlers by channel, called with who sent. Values are cloned on the way in and out; an error keeps its message alone.
// "Errors thrown through handle in the main process are not transparent as they are serialized and only the message property from the
// original error is provided to the renderer process." (ipcMain)

import type { IpcMainInvokeEvent } from 'electron';

type Handler = (event: IpcMainInvokeEvent, ...args: unknown[]) => unknown;

const handlers = new Map<string, Handler>();

export const ipcMain = {
  handle(channel: string, handler: Handler): void {
    if (handlers.has(channel)) throw new Error(`Attempted to register a second handler for '${channel}'`);
    handlers.set(channel, handler);
  },
  removeHandler(channel: string): void {
    handlers.delete(channel);
  },
};

export async function invokeMain(
  event: IpcMainInvokeEvent,
  channel: string,
  args: readonly unknown[],
): Promise<{ value: unknown } | { error: string }> {
  const handler = handlers.get(channel);
  if (handler === undefined) return { error: `Error: No handler registered for '${channel}'` };
  try {
    return { value: structuredClone(await handler(event, ...structuredClone(args))) };
  } catch (cause) {
    return { error: String(cause) };
  }
}

export function handledChannels(): string[] {
  return [...handlers.keys()];
}
