// The events of a turn in the activity view: an unreadable one does not affect the others, and a new one does not repeat their work.

import { SvelteMap } from 'svelte/reactivity';
import { expect, test } from 'vitest';
import type { AnyEvent, EventType } from '../../../core/contracts/events.ts';
import type { OpClient } from '../../lib/client.ts';
import { describeEvent } from '../../lib/describe-event.ts';
import { english } from '../../lib/i18n/english/whole.ts';
import { Formats } from '../../lib/i18n/formats.ts';
import { buildTree } from './build-tree.ts';
import { sumUpTurn } from './sum-up-turn.ts';
import { TurnEvents } from './turn-events.svelte.ts';

function eventOf(seq: number, type: EventType, body: unknown): AnyEvent {
  return { seq, sessionId: 's', sessionSeq: seq, turnId: 't', step: 1, phase: null, type, v: 1, atMs: seq * 10, body } as AnyEvent;
}

const steered = (seq: number): AnyEvent => eventOf(seq, 'turn.steered', { text: `more ${seq}`, sender: 'ada' });
const said = { text: 'Hi', channel: 'window', sender: 'ada', dedupeKey: null };

/** A host that could not read the body of one event in its page. */
function open(live: ReadonlyMap<number, AnyEvent>): TurnEvents {
  const page = [eventOf(1, 'user.message', said), eventOf(2, 'tool.finished', null), steered(3)];
  const client = { op: () => Promise.resolve({ sessionId: 's', events: page, hasMore: false }) } as unknown as OpClient;
  return new TurnEvents(client, 't', () => [...live.values()]);
}

test('an event that cannot be read is marked as such, in the timeline and in the tree', async () => {
  const record = open(new Map());
  await record.load();
  const telling = { words: english, format: new Formats('en-GB', english.common), call: ({ tool }: { tool: string }) => tool };
  const lines = new Map(record.all.map((event) => [event.seq, describeEvent(event, telling)]));
  expect(lines.get(2)?.title).toBe(english.activity.events.unreadable);
  expect(buildTree(record.all, record.view, lines).children).toHaveLength(1);
  expect(record.view.entries.map(({ kind }) => kind)).toEqual(['note', 'steer']);
});

test('a new event is folded on top of the stored ones', async () => {
  const live = new SvelteMap<number, AnyEvent>();
  const record = open(live);
  await record.load();
  expect(sumUpTurn(record.view, 0, ({ tool }) => tool)).toMatchObject({ steered: 1, tookMs: 0 });
  live.set(3, steered(3));
  live.set(4, steered(4));
  expect(sumUpTurn(record.view, 0, ({ tool }) => tool).steered).toBe(2);
  live.set(5, eventOf(5, 'turn.superseded', { byTurnId: 'u', by: 'ada' }));
  expect([record.view.supersededBy, record.view.messages[0]?.sender, record.view.lastSeq]).toEqual(['u', 'ada', 5]);
});
