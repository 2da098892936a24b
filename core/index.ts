// The library: the runtime in your own process.

import { createTrayClaw as createRuntime, type HostedClaw, type TrayClawOptions } from './compose.ts';
import type { Claw } from './contracts/claw.ts';
import type { AskResult } from './contracts/ops.ts';

export type { TrayClawOptions } from './compose.ts';
export type { Claw } from './contracts/claw.ts';
export type { AnyEvent, DeltaNotice } from './contracts/events.ts';
export type { AskResult, OpName, OpParams, OpResult } from './contracts/ops.ts';
export type { ToolContext, ToolDefinition, ToolResult } from './contracts/tools.ts';
export { AppError } from './contracts/errors.ts';
export { defineTool } from './hands/tools/tools.ts';

export interface AskOptions {
  readonly sessionId?: string;
  readonly agentId?: string;
  /** Aborting cancels the turn. */
  readonly signal?: AbortSignal;
  /** Called with the answer's text as it streams. */
  onText?(delta: string): void;
}

export interface TrayClaw extends HostedClaw {
  /** Sends a message and waits until the turn ends or needs an approval (`status: 'waiting'`). */
  ask(text: string, options?: AskOptions): Promise<AskResult>;
}

/** Starts TrayClaw on a data folder. See `TrayClawOptions`; `config` has the shape of config.yaml. */
export async function createTrayClaw(options: TrayClawOptions): Promise<TrayClaw> {
  const claw = await createRuntime(options);
  return {
    op: (name, params, caller) => claw.op(name, params, caller),
    events: (query) => claw.events(query),
    onDelta: (listener) => claw.onDelta(listener),
    syncMeter: () => claw.syncMeter(),
    close: () => claw.close(),
    ask: (text, askOptions) => ask(claw, text, askOptions ?? {}),
  };
}

async function ask(claw: Claw, text: string, options: AskOptions): Promise<AskResult> {
  const { signal, sessionId, agentId } = options;
  let turnId = '';
  const stopText =
    options.onText === undefined
      ? null
      : claw.onDelta((delta) => {
          if (delta.kind === 'text' && delta.turnId === turnId) options.onText?.(delta.text);
        });
  const sent = await claw.op('message.send', {
    text,
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(agentId === undefined ? {} : { agentId }),
  });
  turnId = sent.turnId;
  const onAbort = (): void => {
    // The turn may end by itself at the same moment.
    void claw.op('turn.cancel', { turnId }).catch(() => undefined);
  };
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted === true) onAbort();
  try {
    return await claw.op('turn.wait', { turnId });
  } finally {
    signal?.removeEventListener('abort', onAbort);
    stopText?.();
  }
}
