// One session's conversation from its events: turns in order, messages matched to the turn they began, live text laid over it.

import type { AnyEvent, DeltaNotice } from '../../../core/contracts/events.ts';
import { applyToTurn } from './fold-turn.ts';
import { createTurn, isOpen, type Turn, type UserMessage } from './turn.ts';

export interface Conversation {
  readonly sessionId: string;
  turns: Turn[];
  /** Messages recorded before any turn took them up. */
  waiting: UserMessage[];
}

/** Live output kept per call; older text is cut from the front. */
export const outputCharsMax = 32_000;
const reasoningCharsMax = 4000;

export function createConversation(sessionId: string): Conversation {
  return { sessionId, turns: [], waiting: [] };
}

export function applyToConversation(conversation: Conversation, event: AnyEvent): void {
  if (event.turnId === null) {
    if (event.type === 'user.message') {
      const { seq, body, atMs } = event;
      conversation.waiting.push({ seq, text: body.text, channel: body.channel, atMs });
    }
    return;
  }
  const turn = turnOf(conversation, event.turnId, event.atMs);
  if (event.type === 'turn.started' && turn.messages.length === 0 && event.body.kind === 'chat') {
    turn.messages.push(...conversation.waiting.splice(0, 1));
  }
  applyToTurn(turn, event);
}

/** Adds streamed text. Text for a turn that is over, or that is not loaded, is dropped. */
export function applyDelta(conversation: Conversation, delta: DeltaNotice): void {
  const turn = findTurn(conversation, delta.turnId);
  if (turn === undefined || !isOpen(turn)) return;
  if (delta.kind === 'text') turn.live += delta.text;
  else if (delta.kind === 'reasoning') turn.liveReasoning = (turn.liveReasoning + delta.text).slice(-reasoningCharsMax);
  else if (delta.callId !== null) {
    const call = turn.calls[delta.callId];
    if (call?.state === 'running') call.output = (call.output + delta.text).slice(-outputCharsMax);
  }
}

export function findTurn(conversation: Conversation, turnId: string): Turn | undefined {
  // Nearly every event belongs to the newest turn.
  for (let i = conversation.turns.length - 1; i >= 0; i--) {
    const turn = conversation.turns[i];
    if (turn?.turnId === turnId) return turn;
  }
  return undefined;
}

function turnOf(conversation: Conversation, turnId: string, atMs: number): Turn {
  const known = findTurn(conversation, turnId);
  if (known !== undefined) return known;
  const created = createTurn(turnId, atMs);
  conversation.turns.push(created);
  // Read back for the proxy, as in callOf.
  return conversation.turns.at(-1) ?? created;
}
