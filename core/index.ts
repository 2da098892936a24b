// The library: the runtime in your own process.

import { versions } from 'node:process';
import { describeOldNode } from './base/node-floor.ts';
import { createTrayClaw as createRuntime, type HostedClaw, type TrayClawOptions } from './compose.ts';
import type { Claw } from './contracts/claw.ts';
import { AppError } from './contracts/errors.ts';
import type { DeltaNotice } from './contracts/events.ts';
import type { AskResult } from './contracts/op-results.ts';

export type { TrayClawOptions } from './compose.ts';
export type { Claw } from './contracts/claw.ts';
export type { AnyEvent, DeltaNotice } from './contracts/events.ts';
export type { AskResult } from './contracts/op-results.ts';
export type { OpName, OpParams, OpResult } from './contracts/ops.ts';
export type { HookAnswer, HookSubject, LibraryHook } from './contracts/hooks.ts';
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
  const oldNode = describeOldNode(versions.node);
  if (oldNode !== null) throw new AppError('store_failed', oldNode, { data: { hint: 'Install Node 22.19 or newer.' } });
  const claw = await createRuntime(options);
  return {
    op: (name, params, caller) => claw.op(name, params, caller),
    events: (query) => claw.events(query),
    onDelta: (listener) => claw.onDelta(listener),
    syncMeter: () => claw.syncMeter(),
    runningTurns: () => claw.runningTurns(),
    whenIdle: () => claw.whenIdle(),
    redact: (text) => claw.redact(text),
    sync: () => claw.sync(),
    notices: claw.notices,
    close: () => claw.close(),
    ask: (text, askOptions) => ask(claw, text, askOptions ?? {}),
  };
}

async function ask(claw: Claw, text: string, options: AskOptions): Promise<AskResult> {
  const { signal, sessionId, agentId } = options;
  const stream = options.onText === undefined ? null : new TurnText((delta) => options.onText?.(delta));
  const stopText = stream === null ? null : claw.onDelta((delta) => stream.take(delta));
  let onAbort = (): void => undefined;
  try {
    const { turnId } = await claw.op('message.send', {
      text,
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(agentId === undefined ? {} : { agentId }),
    });
    stream?.follow(turnId);
    onAbort = () => {
      // The turn may end by itself at the same moment.
      void claw.op('turn.cancel', { turnId }).catch(() => undefined);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted === true) onAbort();
    return await claw.op('turn.wait', { turnId });
  } finally {
    signal?.removeEventListener('abort', onAbort);
    stopText?.();
  }
}

/** The text of one turn as it streams. A quick model begins to answer before the sender knows the turn's id: that is kept until then. */
class TurnText {
  readonly #onText: (delta: string) => void;
  #turnId: string | null = null;
  #early: DeltaNotice[] = [];

  constructor(onText: (delta: string) => void) {
    this.#onText = onText;
  }

  take(delta: DeltaNotice): void {
    if (this.#turnId === null) this.#early.push(delta);
    else if (delta.kind === 'text' && delta.turnId === this.#turnId) this.#onText(delta.text);
  }

  follow(turnId: string): void {
    this.#turnId = turnId;
    for (const delta of this.#early.splice(0)) this.take(delta);
  }
}
