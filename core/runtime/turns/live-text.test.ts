import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { DeltaNotice } from '../../contracts/events.ts';
import { SafetyChecks } from '../../guard/safety/safety.ts';
import { LiveText } from './live-text.ts';
import { ownNow } from '../../../tests/own-clock.ts';

class WatchedTurn {
  readonly safety = new SafetyChecks({ policy: { allowDomains: [], denyDomains: [] } });
  /** Writes and shown texts, in order. */
  readonly happened: string[] = [];
  readonly places: (number | undefined)[] = [];
  /** The pieces marked as the first of their text. */
  readonly begun: string[] = [];
  unwritten = 0;
  readonly texts = new Set<LiveText>();
  readonly deps = {
    redactStream: () => this.safety.stream(),
    deltas: {
      size: 1,
      emit: ({ text, from }: DeltaNotice): void => {
        this.happened.push(text);
        this.places.push(from);
        if (from === 0) this.begun.push(text);
      },
    },
  };

  writeAhead(): boolean {
    const isNeeded = this.unwritten > 0;
    if (isNeeded) this.happened.push(`wrote ${this.unwritten}`);
    this.unwritten = 0;
    return isNeeded;
  }
}

const about = { kind: 'text', sessionId: 's', turnId: 't', callId: null } as const;

test('pieces that arrive together are sent as one, after the events they follow', async () => {
  const turn = new WatchedTurn();
  const live = new LiveText(turn, about);
  turn.unwritten = 3;
  for (const piece of ['What ', 'came ', 'first. ']) live.push(piece);
  expect(turn.happened).toEqual(['wrote 3']);
  await nextRound();
  live.push('Then more. ');
  expect(live.end()).toBeNull();
  expect(turn.happened).toEqual(['wrote 3', 'What came first. ', 'Then more. ']);
  await nextRound();
  expect(turn.happened).toHaveLength(3);
});

test('end waits for text that must not be sent yet', async () => {
  const turn = new WatchedTurn();
  const live = new LiveText(turn, about);
  turn.unwritten = 1;
  live.push('All of it.');
  const ended = live.end();
  expect(turn.happened).toEqual(['wrote 1']);
  await ended;
  expect(turn.happened.join('')).toBe('wrote 1All of it.');
});

test('a secret split in two is redacted for listeners who join in the middle', async () => {
  const turn = new WatchedTurn();
  turn.safety.register('river-stone-4711', 'KEY');
  turn.deps.deltas.size = 0;
  const live = new LiveText(turn, about);
  live.push('it is river-');
  turn.deps.deltas.size = 1;
  live.push('stone-4711. Or river-');
  turn.deps.deltas.size = 0;
  live.push('stone-');
  turn.deps.deltas.size = 1;
  live.push('4711, once more.');
  await live.end();
  const shown = turn.happened.join('');
  expect(shown).toContain('[redacted:KEY]');
  expect(shown).not.toMatch(/river|stone|4711/);
});

test('only the first piece of a text is marked as the first, even if unwatched', async () => {
  const turn = new WatchedTurn();
  const seen = new LiveText(turn, about);
  seen.push('One ');
  await nextRound();
  seen.push('two');
  await seen.end();
  turn.deps.deltas.size = 0;
  const unseen = new LiveText(turn, about);
  unseen.push('one ');
  turn.deps.deltas.size = 1;
  unseen.push('two ');
  await unseen.end();
  expect(turn.begun).toEqual(['One ']);
});

test('half a million unwatched pieces cost little, and a final secret is still found', async () => {
  const turn = new WatchedTurn();
  turn.safety.register('river-stone-4711', 'KEY');
  turn.deps.deltas.size = 0;
  const live = new LiveText(turn, about);
  const startedMs = ownNow();
  for (let piece = 0; piece < 500_000; piece++) live.push('and ');
  // Copying the kept text for each piece would take several seconds.
  expect(ownNow() - startedMs).toBeLessThan(1_500);
  live.push('it is river-');
  turn.deps.deltas.size = 1;
  live.push('stone-4711.');
  await live.end();
  expect(turn.happened.join('')).toContain('[redacted:KEY]');
  expect(turn.happened.join('')).not.toMatch(/river|stone|4711/);
});

test('a listener who joins gets the redacted text so far, and pieces state positions', async () => {
  const turn = new WatchedTurn();
  turn.safety.register('river-stone-4711', 'KEY');
  turn.deps.deltas.size = 0;
  const live = new LiveText(turn, about);
  live.push('One, river-stone-4711, two, river-');
  const [text] = turn.texts;
  const soFar = text?.soFar()?.text ?? '';
  expect(soFar).toBe('One, [redacted:KEY], two, ');
  turn.deps.deltas.size = 1;
  live.push('bank, three.');
  await live.end();
  expect(turn.happened.join('')).toBe('river-bank, three.');
  const [first = ''] = turn.happened;
  expect(turn.places).toEqual([soFar.length, soFar.length + first.length]);
  expect(turn.texts.size).toBe(0);
});

test('a text too long to keep is not repeated, and its pieces state no positions', async () => {
  const turn = new WatchedTurn();
  const live = new LiveText(turn, about);
  for (let piece = 0; piece < 40; piece++) live.push('x'.repeat(4096));
  expect([...turn.texts][0]?.soFar()).toBeNull();
  await live.end();
  expect(turn.places.at(-1)).toBeUndefined();
});
