// Sums the cost of a run: its turns, and the judgements it asked for. Reads the ends of turns, decides nothing.

import { addCost } from '../../contracts/spending.ts';
import type { SessionLog } from '../../store/session/session.ts';

export interface RunFigures {
  readonly modelCalls: number;
  readonly toolCalls: number;
  readonly tokens: number;
  /** Null if a price is unknown. */
  readonly costUsd: number | null;
}

interface Judged {
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number } | undefined;
  readonly costUsd?: number | null | undefined;
}

/** A turn that has not ended counts nothing yet. */
export function sumSpent(
  log: Pick<SessionLog, 'reads'>,
  turns: Iterable<{ readonly sessionId: string; readonly turnId: string }>,
  judged: Iterable<Judged>,
): RunFigures {
  const sum = { modelCalls: 0, toolCalls: 0, tokens: 0, costUsd: 0 as number | null };
  const add = ({
    usage,
    costUsd = null,
    modelCalls = 1,
    toolCalls = 0,
  }: Judged & Partial<Pick<RunFigures, 'modelCalls' | 'toolCalls'>>): void => {
    if (usage === undefined) return;
    sum.modelCalls += modelCalls;
    sum.toolCalls += toolCalls;
    sum.tokens += usage.inputTokens + usage.outputTokens;
    sum.costUsd = addCost(sum.costUsd, costUsd);
  };
  // A turn that was found again after a restart is listed twice but ran once.
  for (const [turnId, { sessionId }] of new Map([...turns].map((turn) => [turn.turnId, turn]))) {
    const end = log.reads.turnEnd(sessionId, turnId);
    if (end !== null) add(end);
  }
  for (const one of judged) add(one);
  return sum;
}

/** The rest of a budget, for one more turn; null means no limit. */
export function restOf(
  { usd, tokens }: { readonly usd?: number | null | undefined; readonly tokens?: number | null | undefined },
  spent: Pick<RunFigures, 'costUsd' | 'tokens'>,
): { readonly usd: number | null; readonly tokens: number | null } {
  const rest = (most: number | null | undefined, used: number): number | null =>
    typeof most === 'number' ? Math.max(0, most - used) : null;
  return { usd: rest(usd, spent.costUsd ?? 0), tokens: rest(tokens, spent.tokens) };
}
