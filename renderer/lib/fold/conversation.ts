// Folds one session's events into its conversation: turns in order, messages matched to the turn they started, live text on top.

import type { AnyEvent, DeltaNotice } from '../../../core/contracts/events.ts';
import type { OpResult } from '../../../core/contracts/ops.ts';
import { applyToTurnView, userMessageOf } from '../../../core/contracts/turn-view-fold.ts';
import { markOf, type SummaryMark } from './summaries.ts';
import { createTurnView, isOpen, type TurnView, type UserMessage } from '../../../core/contracts/turn-view.ts';

export interface Conversation {
  readonly sessionId: string;
  turns: TurnView[];
  /** Messages recorded before a turn started with them. */
  waiting: UserMessage[];
  /** Oldest first; the last one replaces the covered messages in requests. */
  summaries: SummaryMark[];
}

/** Live output kept per call; older text is cut from the front. */
export const outputCharsMax = 32_000;
const reasoningCharsMax = 4000;

export function createConversation(sessionId: string): Conversation {
  return { sessionId, turns: [], waiting: [], summaries: [] };
}

export function applyToConversation(conversation: Conversation, event: AnyEvent): void {
  if (event.type === 'summary.written') conversation.summaries.push(markOf(event));
  if (event.turnId === null) {
    if (event.type === 'user.message') conversation.waiting.push(userMessageOf(event));
    return;
  }
  const turn = turnOf(conversation, event.turnId, event.atMs);
  if (event.type === 'turn.started' && turn.messages.length === 0 && event.body.kind === 'chat') {
    turn.messages.push(...conversation.waiting.splice(0, 1));
  }
  applyToTurnView(turn, event);
}

/**
 * Adds streamed text. Ignores text of a finished turn, of a model call whose answer is recorded, and of an ended tool call. Returns false if
 * the text arrived before the event that announces its call, because the two streams of the host may overtake each other; the caller adds it
 * after that event.
 */
export function applyDelta(conversation: Conversation, delta: DeltaNotice): boolean {
  const turn = findTurn(conversation, delta.turnId);
  if (turn === undefined) return false;
  if (!isOpen(turn)) return true;
  if (delta.kind === 'output') return addOutput(turn, delta);
  const isAnnounced = delta.requestId === undefined || turn.requests.some(({ requestId }) => requestId === delta.requestId);
  if (!isAnnounced) return false;
  const isOfNewest = delta.requestId === undefined || turn.requests.at(-1)?.requestId === delta.requestId;
  if (turn.askedAtMs === null || !isOfNewest) return true;
  if (delta.kind === 'text') addText(turn, delta);
  else turn.liveReasoning = (turn.liveReasoning + delta.text).slice(-reasoningCharsMax);
  return true;
}

function addOutput(turn: TurnView, { callId, text }: DeltaNotice): boolean {
  const call = callId === null ? undefined : turn.calls[callId];
  // It has not begun yet as far as the events say; its beginning empties the output.
  if (callId !== null && (call === undefined || call.state === 'proposed' || call.state === 'waiting')) return false;
  if (call?.state === 'running') call.output = (call.output + text).slice(-outputCharsMax);
  return true;
}

/** `from` is the position in the streamed text at which this piece starts. */
function addText(turn: TurnView, { text, continues, from = turn.liveTo }: DeltaNotice): void {
  const fresh = text.slice(Math.max(0, turn.liveTo - from));
  if (fresh === '') return;
  const missesStart = turn.live === '' && (from > 0 || continues === true);
  turn.live += missesStart ? `${unseen}${fresh}` : fresh;
  turn.liveTo = from + text.length;
}

/** Inserts the text that was streamed so far before the text that arrives from now on. */
export function takeLive(conversation: Conversation, turnId: string, texts: OpResult<'turn.live'>['texts']): void {
  const turn = findTurn(conversation, turnId);
  if (turn === undefined || !isOpen(turn)) return;
  for (const { kind, callId, text } of texts) {
    const call = callId === null ? undefined : turn.calls[callId];
    if (kind === 'output' && call?.state === 'running' && call.output === '') call.output = text.slice(-outputCharsMax);
    if (kind !== 'text' || turn.askedAtMs === null) continue;
    turn.live = text;
    turn.liveTo = text.length;
  }
}

/** Marks a gap in the streamed text. */
const missing = '\n\n…\n\n';
/** Precedes text whose beginning was sent before the window listened. The recorded text will be complete. */
const unseen = '… ';
/** The stream was cut: later text of a running answer does not connect to the earlier text. The recorded text will be complete. */
export function markMissing(conversation: Conversation): void {
  for (const turn of conversation.turns) {
    if (isOpen(turn) && turn.live !== '' && !turn.live.endsWith(missing)) turn.live += missing;
    for (const call of Object.values(turn.calls)) {
      if (call.state === 'running' && call.output !== '' && !call.output.endsWith(missing)) call.output += missing;
    }
  }
}

export function findTurn(conversation: Conversation, turnId: string): TurnView | undefined {
  // Nearly every event belongs to the newest turn, so search from the end.
  for (let i = conversation.turns.length - 1; i >= 0; i--) {
    const turn = conversation.turns[i];
    if (turn?.turnId === turnId) return turn;
  }
  return undefined;
}

function turnOf(conversation: Conversation, turnId: string, atMs: number): TurnView {
  const known = findTurn(conversation, turnId);
  if (known !== undefined) return known;
  const created = createTurnView(turnId, atMs);
  conversation.turns.push(created);
  // Read back through the proxy, as in callOf.
  return conversation.turns.at(-1) ?? created;
}
