// Tables by the type of an event: a new event is a new line.

import type { AnyEvent, EventOf, EventType } from './events.ts';

/** `Before` are arguments in front of the event. */
export type EventTable<Before extends readonly unknown[] = [], Result = void> = {
  readonly [T in EventType]?: (...given: [...Before, EventOf<T>]) => Result;
};

/** Rows that follow the log name each event that changes them. */
export type Changes<Before extends readonly unknown[] = []> = EventTable<Before>;

/** Undefined where the table has no line for the type of the event. */
export function applyByType<Before extends readonly unknown[], Result>(
  table: EventTable<Before, Result>,
  event: AnyEvent,
  ...before: Before
): Result | undefined {
  // The table pairs each type with its event, which the compiler cannot follow.
  const line = table[event.type] as ((...given: [...Before, AnyEvent]) => Result) | undefined;
  return line?.(...before, event);
}

/** Applies an event to rows that follow the log, inside the transaction of its append. */
export function byType(changes: Changes): (event: AnyEvent) => void {
  return (event) => applyByType(changes, event);
}
