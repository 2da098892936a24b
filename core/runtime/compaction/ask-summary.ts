// One question of the summarizer to a model, for the budget of one summary. The demo writes no summaries; it is no model.

import type { AskModel } from '../../mind/compress/compress.ts';
import { askModel, type AskingDeps } from '../../mind/asking/asking.ts';

export interface SummaryPlace {
  readonly model: string;
  readonly sessionId: string;
  /** Used in place of a turn id: the cost of one summary counts as one unit of work. */
  readonly summaryId: string;
}

const demoPrefix = 'demo/';
/** A model that takes longer is left alone, and the summary put together by rule. */
const ANSWER_MS = 90_000;

export function createAskSummary(deps: AskingDeps, { model, sessionId, summaryId }: SummaryPlace): AskModel {
  return async ({ system, text, maxOutputTokens }, signal) => {
    if (model.startsWith(demoPrefix)) return { refused: 'the demo writes no summaries' };
    const place = { turnId: summaryId, sessionId };
    return askModel(deps, { model, place, system, text, maxOutputTokens, timeoutMs: ANSWER_MS }, signal);
  };
}
