// The rows telemetry hands out: what one context pack, one model call and one turn came to. Types only.

import type { EventBodies, TurnStatus } from '../../contracts/events.ts';
import type { Percentiles } from './latency-histogram.ts';

export interface PackRow {
  readonly kind: 'context.pack';
  readonly packId: string;
  readonly seq: number;
  readonly sessionId: string;
  readonly turnId: string | null;
  readonly atMs: number;
  readonly tokens: number;
  readonly budgetTokens: number;
  /** How many kinds of content were dropped, and how many items truncated. */
  readonly dropped: number;
  readonly truncated: number;
  /** Only on the way to a sink: what was in it, what was left out and why. */
  readonly sections?: EventBodies['pack.built']['sections'];
  readonly leftOut?: EventBodies['pack.built']['dropped'];
  readonly shortened?: EventBodies['pack.built']['truncated'];
  readonly parts?: EventBodies['pack.built']['parts'];
  readonly summaryId?: string;
}

/** A pack, and what the server said of the request it became. */
export interface ListedPack {
  readonly packId: string;
  readonly sessionId: string;
  readonly turnId: string | null;
  readonly atMs: number;
  readonly tokens: number;
  readonly budgetTokens: number;
  readonly dropped: number;
  readonly truncated: number;
  readonly model: string | null;
  readonly inputTokens: number | null;
  readonly cachedInputTokens: number | null;
}

export interface ModelCallRow {
  readonly kind: 'llm.usage';
  readonly requestId: string;
  readonly seq: number;
  readonly sessionId: string;
  readonly turnId: string | null;
  readonly packId: string;
  readonly model: string;
  readonly status: 'finished' | 'failed';
  readonly atMs: number;
  readonly retries: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  readonly usageReported: boolean;
  readonly costUsd: number | null;
  readonly tookMs: number;
  readonly firstTokenMs: number | null;
}

export interface TurnOutcomeRow {
  readonly kind: 'turn.outcome';
  readonly turnId: string;
  readonly seq: number;
  readonly sessionId: string;
  readonly status: TurnStatus;
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
  readonly modelCalls: number;
  readonly toolCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  readonly costUsd: number | null;
}

export type TelemetryRow = PackRow | ModelCallRow | TurnOutcomeRow;

/** Where finished rows go besides the tables. Must not throw: telemetry may be lost, a turn may not. */
export interface TelemetrySink {
  write(rows: readonly TelemetryRow[]): void;
}

/** What was spent. `usd` sums the known costs; `unknownCostCalls` counts the calls whose cost nobody knows. */
export interface Spent {
  readonly usd: number;
  /** Input and output together. */
  readonly tokens: number;
  readonly unknownCostCalls: number;
}

export interface UsageRow {
  /** A local day, a model or a session id. */
  readonly key: string;
  readonly turns: number;
  readonly modelCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  /** Sum of the known costs; null where calls were made and no cost is known. */
  readonly costUsd: number | null;
  readonly unknownCostCalls: number;
  /** How long finished calls took, and until the first word; within 5 %. Null where none finished. */
  readonly tookMs: Percentiles | null;
  readonly firstTokenMs: Percentiles | null;
}
