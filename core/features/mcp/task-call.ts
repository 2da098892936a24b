// A call that its server runs as a task of revision 2025-11-25: started once, polled at the interval the server wants, cancelled with the
// call, and found again by its id after a restart of either side. If the server no longer knows the task, its outcome is unknown; it is
// never started again.

import type { CallToolResult, Task } from '@modelcontextprotocol/client';
import { sleep } from '../../base/waits.ts';
import type { McpConnection } from './connection.ts';

export interface TaskCall {
  /** Starts the task and records its id before the first poll. */
  readonly begin: (connection: McpConnection) => Promise<Task>;
  /** The id of a task that an earlier run started; otherwise null. */
  readonly taskId: string | null;
  readonly connect: () => Promise<McpConnection>;
  readonly result: (connection: McpConnection, taskId: string) => Promise<CallToolResult>;
  readonly onStatus: (status: string) => void;
  readonly signal: AbortSignal;
  /** False while the program closes; the task is continued after the next start. */
  readonly mayCancel: () => boolean;
}

export type TaskEnd = { readonly result: CallToolResult } | { readonly ended: 'cancelled' | 'unknown' };

export const taskEnds = {
  cancelled: 'The MCP server cancelled the task.',
  unknown: 'The MCP server no longer knows the task it began. Whether it was done is not known; it was not begun again.',
} as const;

const POLL_MS = 1000;
const POLL_LEAST_MS = 100;
const POLL_MOST_MS = 30_000;
/** How often in a row the server may fail to respond. An error response means that it does not know the task. */
const TRIES = 5;

/** Fails as a request does, or with the task's error if the task failed. */
export async function callAsTask(call: TaskCall): Promise<TaskEnd> {
  const connection = await call.connect();
  const taskId = call.taskId ?? (await call.begin(connection)).taskId;
  const cancel = (): void => {
    // A server that cannot be reached ends the task by its own limit.
    if (call.mayCancel())
      void call
        .connect()
        .then(
          (now) => now.cancelTask(taskId),
          () => undefined,
        )
        .catch(() => undefined);
  };
  call.signal.addEventListener('abort', cancel, { once: true });
  if (call.signal.aborted) cancel();
  try {
    return await follow(call, taskId);
  } finally {
    call.signal.removeEventListener('abort', cancel);
  }
}

async function follow(call: TaskCall, taskId: string): Promise<TaskEnd> {
  let shown = '';
  for (let tries = 1; ; tries += 1) {
    const task = await look(call, taskId);
    if (task === 'gone' || (task === 'away' && tries >= TRIES)) return { ended: 'unknown' };
    if (task !== 'away') {
      tries = 0;
      const status = task.statusMessage ?? (task.status === 'working' ? '' : task.status.replace('_', ' '));
      if (status !== shown && status !== '') call.onStatus(status);
      shown = status;
      if (task.status === 'cancelled') return { ended: 'cancelled' };
      // The request for the result also delivers the questions of a task that needs input.
      if (task.status !== 'working') return { result: await call.result(await call.connect(), taskId) };
    }
    const wishMs = task === 'away' ? POLL_MS * 2 ** (tries - 1) : (task.pollInterval ?? POLL_MS);
    await sleep(Math.min(POLL_MOST_MS, Math.max(POLL_LEAST_MS, wishMs)), call.signal);
    call.signal.throwIfAborted();
  }
}

/** `gone` means that the server responds and does not know the task. `away` means that it does not respond. */
async function look({ connect, signal }: TaskCall, taskId: string): Promise<Task | 'gone' | 'away'> {
  const { ProtocolError } = await import('@modelcontextprotocol/client');
  try {
    return await (await connect()).getTask(taskId, signal);
  } catch (cause) {
    signal.throwIfAborted();
    return ProtocolError.isInstance(cause) ? 'gone' : 'away';
  }
}
