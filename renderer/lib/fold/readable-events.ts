// Parses the events of a page of the log. An event with an unreadable body keeps its position, under a type that says so, and never
// prevents reading the others.

import type { AnyEvent, EventEnvelope } from '../../../core/contracts/events.ts';
import { unreadableType } from '../../../core/contracts/turn-view-fold.ts';

/** The host sends null for a body that it could not read. */
export function readableEvents(page: readonly EventEnvelope[]): AnyEvent[] {
  return page.map((event) => (event.body === null ? { ...event, type: unreadableType, body: {} } : event) as AnyEvent);
}
