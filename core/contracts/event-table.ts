// Tables keyed by event type: a new event needs one new line.

import type { AnyEvent, EventOf, EventType } from './events.ts';

/** `Before` are arguments that precede the event. */
export type EventTable<Before extends readonly unknown[] = [], Result = void> = {
  readonly [T in EventType]?: (...given: [...Before, EventOf<T>]) => Result;
};

/** For rows derived from the log: a handler for each event that changes them. */
export type Changes<Before extends readonly unknown[] = []> = EventTable<Before>;

/** Returns undefined if the table has no line for the type of the event. */
export function applyByType<Before extends readonly unknown[], Result>(
  table: EventTable<Before, Result>,
  event: AnyEvent,
  ...before: Before
): Result | undefined {
  // The table pairs each type with its event, which the compiler cannot infer.
  const line = table[event.type] as ((...given: [...Before, AnyEvent]) => Result) | undefined;
  return line?.(...before, event);
}

/** Applies an event to rows derived from the log, inside the transaction that appends it. */
export function byType(changes: Changes): (event: AnyEvent) => void {
  // Every owner of rows is asked for every event, so this spares the lists of arguments.
  return (event) => (changes[event.type] as ((given: AnyEvent) => void) | undefined)?.(event);
}
