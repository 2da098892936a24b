// "What the model saw": a pack reconstructed from the log, with its sections, dropped parts and messages.

import { AppError } from '../../contracts/errors.ts';
import type { AnyEvent, EventBodies } from '../../contracts/events.ts';
import type { ChatMessage } from '../../contracts/llm.ts';
import type { OpResult } from '../../contracts/ops.ts';
import { loadTranscript } from '../../runtime/turns/turns.ts';
import type { OpsParts } from './parts.ts';
import { summaryOf, textsOf } from './pack-texts.ts';

type Deps = Pick<OpsParts, 'agents' | 'continuity' | 'log' | 'packer' | 'tools'>;

export function readPackView(deps: Deps, packId: string): OpResult<'pack.get'> {
  const turnId = packId.slice(0, packId.lastIndexOf('-p'));
  const row = deps.log.index.turn(turnId);
  const events = row === null ? [] : deps.log.reads.turn(row.sessionId, turnId, row.firstSeq);
  const built = events.find((event) => event.type === 'pack.built' && event.body.packId === packId);
  if (built?.type !== 'pack.built') throw new AppError('not_found', `There is no pack ${packId}.`);
  const transcript = loadTranscript(deps, built.sessionId, built.sessionSeq);
  transcript.keepFrom(built.body.fromSessionSeq);
  const { tokens, budgetTokens, sections, dropped, truncated, parts } = built.body;
  const tail = tailOf(events, built.body);
  const workspace = events.find((event) => event.type === 'turn.started')?.body.workspace;
  const messages = [
    { role: 'system', text: deps.packer.systemText(workspace ?? null) },
    ...transcript.messages.map(show),
    ...(tail === undefined ? [] : [{ role: 'note', text: tail }]),
  ];
  const reported = reportedOf(events, packId);
  return {
    packId,
    turnId,
    tokens,
    budgetTokens,
    sections,
    dropped,
    truncated,
    messages,
    ...(parts === undefined ? {} : { parts }),
    reported,
    texts: textsOf(deps, built, events, tail),
    summary: summaryOf(deps, built),
  };
}

/** The tail is recorded once per turn, with the first pack that had it. */
function tailOf(events: readonly AnyEvent[], body: EventBodies['pack.built']): string | undefined {
  if (body.tailOf === undefined) return body.tail;
  const first = events.find((event) => event.type === 'pack.built' && event.body.packId === body.tailOf);
  return first?.type === 'pack.built' ? first.body.tail : undefined;
}

function reportedOf(events: readonly AnyEvent[], packId: string): { inputTokens: number; cachedInputTokens: number } | null {
  const asked = events.findLast((event) => event.type === 'model.requested' && event.body.packId === packId);
  const requestId = asked?.type === 'model.requested' ? asked.body.requestId : null;
  const end = events.find((event) => event.type === 'model.finished' && event.body.requestId === requestId);
  if (end?.type !== 'model.finished' || !end.body.usageReported) return null;
  const { inputTokens, cachedInputTokens } = end.body.usage;
  return { inputTokens, cachedInputTokens };
}

export function show(message: ChatMessage): { role: string; text: string } {
  if (message.role !== 'assistant') return { role: message.role, text: message.text };
  const calls = message.calls.map((call) => `→ ${call.tool} ${call.args}`).join('\n');
  return { role: 'assistant', text: [message.text, calls].filter((part) => part !== '').join('\n') };
}
