// Runs one tool against its time limit and the caller's abort. Guarantees that a run ends when either occurs, at once or after the tool's
// grace period, even if the tool ignores its signal. Knows nothing about the content of results.

import type { ToolContext, ToolDefinition } from '../../contracts/tools.ts';

export type RaceEnd =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly cause: unknown }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'cancelled' };

export interface RaceOptions {
  readonly timeoutMs: number;
  /** How long to wait for the tool's own end after an abort or the time limit. */
  readonly abortGraceMs?: number;
  /** The maximum bytes of live output for one call; the rest is dropped. */
  readonly liveBytesMax: number;
  /** Called with a tool's error after its run was already over. */
  onLate(cause: unknown): void;
}

/** Never rejects. */
export function raceRun(tool: ToolDefinition, args: unknown, context: ToolContext, options: RaceOptions): Promise<RaceEnd> {
  if (context.signal.aborted) return Promise.resolve({ kind: 'cancelled' });
  return new Promise((resolve) => {
    const controller = new AbortController();
    const state = { over: false, liveBytes: 0 };
    const end = (result: RaceEnd): void => {
      if (state.over) return;
      state.over = true;
      clearTimeout(timer);
      clearTimeout(grace);
      context.signal.removeEventListener('abort', onAbort);
      resolve(result);
    };
    let grace: NodeJS.Timeout | undefined;
    const stop = (kind: 'timeout' | 'cancelled', reason: unknown): void => {
      const { abortGraceMs = 0 } = options;
      clearTimeout(timer);
      if (grace !== undefined) return;
      if (abortGraceMs === 0) end({ kind });
      else grace = setTimeout(() => end({ kind }), abortGraceMs);
      controller.abort(reason);
    };
    const onAbort = (): void => stop('cancelled', context.signal.reason);
    const timedOut = (): void => stop('timeout', new DOMException(`timed out after ${options.timeoutMs} ms`, 'TimeoutError'));
    const timer = setTimeout(timedOut, options.timeoutMs);
    context.signal.addEventListener('abort', onAbort, { once: true });
    const fail = (cause: unknown): void => {
      if (state.over) options.onLate(cause);
      else end({ kind: 'threw', cause });
    };
    try {
      tool.run(args, guardedContext(context, controller.signal, state, options.liveBytesMax)).then((value) => {
        end({ kind: 'returned', value });
      }, fail);
    } catch (cause) {
      fail(cause);
    }
  });
}

/** The tool's view of its context: the run's own signal, and live output that is bounded and ends with the run. */
function guardedContext(
  context: ToolContext,
  signal: AbortSignal,
  state: { over: boolean; liveBytes: number },
  liveBytesMax: number,
): ToolContext {
  return {
    ...context,
    signal,
    onOutput: (chunk) => {
      if (state.over || state.liveBytes >= liveBytesMax) return;
      state.liveBytes += chunk.length;
      context.onOutput(chunk);
    },
    // A child started late still has to be recorded, or a stop would not find it after a restart.
    onSpawn: (record) => context.onSpawn(record),
    searchSessions: (query, limit) => context.searchSessions(query, limit),
  };
}
