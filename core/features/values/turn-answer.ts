// Folds the message and the answer of a turn from its events. Pure.

import { AppError } from '../../contracts/errors.ts';
import type { AnyEvent } from '../../contracts/events.ts';

export interface TurnAnswer {
  readonly sessionId: string;
  readonly message: string;
  readonly text: string;
  /** The model that was called last. */
  readonly model: string | null;
  readonly continues: readonly string[];
}

/** Fails with `conflict` if the turn has no answer. */
export function answerOf(turnId: string, events: readonly AnyEvent[]): TurnAnswer {
  const said: string[] = [];
  let answer: string | null = null;
  let model: string | null = null;
  let continues: readonly string[] = [];
  for (const event of events) {
    if (event.type === 'user.message' || event.type === 'turn.steered') said.push(event.body.text);
    if (event.type === 'turn.started') continues = event.body.continues?.turnIds ?? [];
    if (event.type === 'model.requested') model = event.body.model;
    if (event.type === 'turn.finished') answer = event.body.text;
  }
  if (answer === null || answer === '') {
    const hint = answer === null ? 'Wait until it has ended: turn.wait.' : 'Only an answer can become a value.';
    throw new AppError('conflict', `The turn ${turnId} has no answer${answer === null ? ' yet' : ''}.`, { hint });
  }
  return { sessionId: events[0]?.sessionId ?? '', message: said.join('\n\n'), text: answer, model, continues };
}
