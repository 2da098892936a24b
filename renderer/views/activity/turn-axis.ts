// The time axis of a turn: maps each moment to a position between 0 and 1, and each event to a span. Long waits for a person are shortened,
// so that work next to them stays visible. Pure.

import type { AnyEvent } from '../../../core/contracts/events.ts';
import type { TurnView } from '../../../core/contracts/turn-view.ts';

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface AxisPart extends Span {
  /** Positions on the axis, from 0 to 1. */
  readonly from: number;
  readonly to: number;
  readonly isWait: boolean;
}

export interface TimeAxis {
  readonly parts: readonly AxisPart[];
  readonly hasShortened: boolean;
  /** Times since the beginning, at the quarters of the axis. */
  readonly ticksMs: readonly number[];
  /** The position of a moment; outside the turn, the nearest end. */
  at(ms: number): number;
}

/** The maximum share of the axis for all waits together, and for one. */
const waitsShareMax = 0.3;
const waitShareMax = 0.08;
/** A wait up to this long is drawn at full length. */
const shortWaitMs = 1000;
const quarters = [0, 0.25, 0.5, 0.75, 1];

export function createAxis(turn: TurnView, untilMs = 0): TimeAxis {
  const startMs = turn.beganAtMs;
  const endMs = Math.max(untilMs, turn.lastAtMs, startMs + 1);
  const waits = turn.waits
    .map(({ fromMs, toMs }) => ({ fromMs, toMs: toMs ?? endMs }))
    .filter(({ fromMs, toMs }) => toMs - fromMs > shortWaitMs);
  const share = waits.length === 0 ? 0 : Math.min(waitShareMax, waitsShareMax / waits.length);
  const waited = waits.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
  const perMs = (1 - share * waits.length) / Math.max(1, endMs - startMs - waited);
  const parts: AxisPart[] = [];
  let ms = startMs;
  let place = 0;
  const add = (toMs: number, to: number, isWait: boolean): void => {
    parts.push({ fromMs: ms, toMs, from: place, to, isWait });
    ms = toMs;
    place = to;
  };
  for (const wait of waits) {
    if (wait.fromMs > ms) add(wait.fromMs, place + (wait.fromMs - ms) * perMs, false);
    add(wait.toMs, place + share, true);
  }
  if (endMs > ms || parts.length === 0) add(endMs, 1, false);
  const at = (moment: number): number => placeIn(parts, moment);
  return { parts, hasShortened: waits.length > 0, ticksMs: quarters.map((quarter) => momentAt(parts, quarter) - startMs), at };
}

/** The span of an event: an end event reaches back to its beginning, any other event is a moment. */
export function spansOf(events: readonly AnyEvent[], turn: TurnView): ReadonlyMap<number, Span> {
  const requests = new Map(turn.requests.map(({ requestId, askedAtMs }) => [requestId, askedAtMs]));
  const spans = new Map<number, Span>();
  for (const event of events) {
    const fromMs = beginningOf(event, turn, requests) ?? null;
    if (fromMs !== null) spans.set(event.seq, { fromMs, toMs: event.atMs });
  }
  return spans;
}

function beginningOf(event: AnyEvent, turn: TurnView, requests: ReadonlyMap<string, number>): number | null | undefined {
  switch (event.type) {
    case 'model.finished':
    case 'model.failed':
      return requests.get(event.body.requestId);
    case 'tool.finished':
      return turn.calls[event.body.callId]?.startedAtMs;
    case 'approval.decided':
      return turn.approvals[event.body.approvalId]?.createdAtMs;
    default:
      return null;
  }
}

function placeIn(parts: readonly AxisPart[], moment: number): number {
  const part = parts.find(({ toMs }) => moment <= toMs);
  if (part === undefined) return 1;
  const share = Math.max(0, moment - part.fromMs) / Math.max(1, part.toMs - part.fromMs);
  return part.from + share * (part.to - part.from);
}

function momentAt(parts: readonly AxisPart[], place: number): number {
  const part = parts.find(({ to }) => place <= to) ?? parts.at(-1);
  if (part === undefined) return 0;
  const share = (place - part.from) / Math.max(Number.EPSILON, part.to - part.from);
  return part.fromMs + share * (part.toMs - part.fromMs);
}
