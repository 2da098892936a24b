// Which conversations continue, for the clients that subscribe to them. Separate from the modules that need the protocol's library, which
// is large and loaded with the first client.

import type { AnyEvent } from '../../contracts/events.ts';

/** Calls the listener with each session that continues. Returns a function that unsubscribes. */
export type SessionNews = (listener: (sessionId: string) => void) => () => void;

const steps: ReadonlySet<string> = new Set(['user.message', 'turn.finished']);

export function sessionsOf(events: readonly AnyEvent[]): string[] {
  return [...new Set(events.flatMap(({ type, sessionId }) => (steps.has(type) ? [sessionId] : [])))];
}
