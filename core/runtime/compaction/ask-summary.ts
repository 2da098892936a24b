// Asks a model for a summary within the budget of one summary. The demo is refused, because it is not a model.

import type { AskModel } from '../../mind/compress/compress.ts';
import { askModel, type AskingDeps } from '../../mind/asking/asking.ts';

export interface SummaryPlace {
  readonly model: string;
  readonly sessionId: string;
  /** Used in place of a turn id: the cost of one summary counts as one unit of work. */
  readonly summaryId: string;
}

const demoPrefix = 'demo/';
/** If a model takes longer, the summary is built by rule instead. */
const ANSWER_MS = 90_000;

export function createAskSummary(deps: AskingDeps, { model, sessionId, summaryId }: SummaryPlace): AskModel {
  return async ({ system, text, maxOutputTokens }, signal) => {
    if (model.startsWith(demoPrefix)) return { refused: 'the demo writes no summaries' };
    const place = { turnId: summaryId, sessionId };
    return askModel(deps, { model, place, system, text, maxOutputTokens, timeoutMs: ANSWER_MS }, signal);
  };
}
