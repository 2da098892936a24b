// Replay: repeats every recorded decision of a turn and compares it with the record. Reads only the log and performs nothing.

import type { AnyEvent } from '../../contracts/events.ts';
import type { OpResult } from '../../contracts/ops.ts';
import { decide, type Intent } from './decide.ts';
import { applyEvent } from './fold.ts';
import { emptyTurn } from './turn-state.ts';

export type ReplayReport = OpResult<'replay.run'>;

export function replayTurn(events: readonly AnyEvent[]): ReplayReport {
  let state = emptyTurn;
  let decisions = 0;
  const differences: { step: number; recorded: string; decided: string }[] = [];
  for (const event of events) {
    if (event.type === 'brain.decided') {
      decisions += 1;
      const recorded = show(event.body.intent, event.body.callIds, event.body.reason);
      const decided = showIntent(decide(state));
      if (recorded !== decided) differences.push({ step: event.step, recorded, decided });
    }
    state = applyEvent(state, event);
  }
  return { identical: differences.length === 0, decisions, differences };
}

function showIntent(intent: Intent | null): string {
  return intent === null ? 'nothing' : show(intent.kind, intent.callIds, intent.reason);
}

function show(kind: string, callIds: readonly string[], reason: string): string {
  return `${kind}(${callIds.join(', ')}): ${reason}`;
}
