// The parts of a pack besides the conversation: parts chosen for the person's last message, including the mark for untrusted content, and
// pending approvals.

import type { EventBodies } from '../../contracts/events.ts';
import type { PrivatePart } from '../../contracts/outsider.ts';
import type { NoteEvent, SourceSection } from '../../contracts/pack-source.ts';
import type { TaintSource } from '../../contracts/tools.ts';
import { ownWords, selectParts } from '../../mind/context/context.ts';
import type { RunningTurn } from './running-turn.ts';

/** Null if there is nothing to wait for: no sources, or already chosen for this message. */
export function choosePackParts(runner: RunningTurn, model: string): Promise<void> | null {
  const { deps, transcript } = runner;
  const sees = runner.bounds?.outsider?.sees;
  const sources = (deps.packSources ?? []).filter(({ section }) => sees === undefined || isShownTo(sees, section));
  if (sources.length === 0) return null;
  const words = transcript.messages.findLast((message) => message.role === 'user');
  if (runner.chosen !== null && runner.chosen.words === words) return null;
  const request = {
    session: runner.place.sessionId,
    agent: runner.origin.agentId,
    query: ownWords(words?.text ?? ''),
    tools: runner.offered(),
    contextTokens: deps.models.info(model).contextTokens,
  };
  const note: NoteEvent = (type, body) => runner.emit(type, body);
  return selectParts(sources, request, { later: deps.later, signal: runner.abort.signal, note }).then((parts) => {
    runner.chosen = { words, parts };
  });
}

function isShownTo(sees: readonly PrivatePart[], section: SourceSection): boolean {
  const part = section === 'knowledge' ? 'documents' : section;
  return (part !== 'memory' && part !== 'documents') || sees.includes(part);
}

/** Marks untrusted parts before the model sees them. The marks are in the log before any resulting call is judged. */
export function markForeignParts(runner: RunningTurn, parts: NonNullable<EventBodies['pack.built']['parts']>): void {
  const sources = new Map<string, TaintSource>();
  for (const { tainted } of parts) for (const source of tainted ?? []) sources.set(`${source.kind}:${source.where}`, source);
  if (sources.size === 0) return;
  runner.emit('taint.marked', { callId: null, sources: [...sources.values()], paths: [], attached: true });
  runner.flush();
}

/** The pending approvals of a session, as the person sees them. */
export function openApprovals(policy: Pick<RunningTurn['deps']['policy'], 'pendingApprovals'>, sessionId: string): string[] {
  return policy
    .pendingApprovals()
    .filter((approval) => approval.sessionId === sessionId)
    .map(({ summary, tool }) => `${tool}: ${summary}`);
}
