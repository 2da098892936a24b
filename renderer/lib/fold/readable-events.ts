// Parses the events of a page of the log. An event with an unreadable body keeps its position, under a type that says so, and never
// prevents reading the others.

import type { AnyEvent } from '../../../core/contracts/events.ts';
import type { OpResult } from '../../../core/contracts/ops.ts';
import { unreadableType } from '../../../core/contracts/turn-view-fold.ts';

type Envelope = OpResult<'session.get'>['events'][number];

/** The host sends null for a body that it could not read. */
export function readableEvents(page: readonly Envelope[]): AnyEvent[] {
  return page.map((event) => (event.body === null ? { ...event, type: unreadableType, body: {} } : event) as AnyEvent);
}
