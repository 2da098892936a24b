import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AnyEvent } from '../../../core/contracts/events.ts';
import { noUsage } from '../../../core/contracts/llm.ts';
import { ConversationLog } from './conversation-log.ts';
import { applyToConversation, createConversation, type Conversation } from './conversation.ts';

const limits = { steps: 50, turnMs: 1, sameCall: 3, parallelReads: 8 };

/** A session with this many turns of four events each; the undo of the first turn comes last. */
function session(turns: number, { lateUndo = false, isSummed = false } = {}): AnyEvent[] {
  const events: unknown[] = [];
  const add = (turnId: string | null, type: string, body: unknown): void => {
    const seq = events.length + 1;
    events.push({ seq: seq * 3, sessionId: 'ses_1', sessionSeq: seq, turnId, step: 1, phase: null, type, v: 1, atMs: 1000 + seq, body });
  };
  for (let turn = 1; turn <= turns; turn++) {
    const id = `trn_${turn}`;
    add(id, 'user.message', { text: `Question ${turn}`, channel: 'window', sender: 'person', dedupeKey: null });
    add(id, 'turn.started', { kind: 'chat', agentId: 'main', model: null, limits, calls: [] });
    add(id, 'assistant.message', { text: `Answer ${turn}` });
    const end = { status: 'done', text: `Answer ${turn}`, error: null, usage: noUsage, costUsd: 0, modelCalls: 1, toolCalls: 0 };
    add(id, 'turn.finished', end);
    // Summarises the turns before; a summary belongs to no turn.
    if (isSummed && turn % 3 === 0) add(null, 'summary.written', summary(turn));
  }
  if (lateUndo) add('trn_1', 'checkpoint.restored', { restoreId: null, callIds: [], files: [], refused: [], by: 'window' });
  return events as AnyEvent[];
}

function summary(turn: number): object {
  const covers = { fromSessionSeq: 2, toSessionSeq: turn * 2 };
  const source = { messages: 4, turns: 2, results: 0, tokens: 40, shortened: 0 };
  return { summaryId: `sum_${turn}`, text: 'Asked: twice.', covers, replaces: null, method: 'extract', source };
}

function whole(events: readonly AnyEvent[]): Conversation {
  const conversation = createConversation('ses_1');
  for (const event of events) applyToConversation(conversation, event);
  return conversation;
}

const createLog = (): ConversationLog => new ConversationLog(createConversation('ses_1'));

test('pages in any cut, from the newest back, come to the same as the whole session', () => {
  fc.assert(
    fc.property(fc.boolean(), fc.boolean(), fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 12 }), (lateUndo, isSummed, cuts) => {
      const events = session(10, { lateUndo, isSummed });
      const places = [...new Set(cuts)].toSorted((a, b) => b - a);
      const log = createLog();
      let end = events.length;
      for (const at of [...places, 0]) {
        const page = events.slice(at, end);
        if (end === events.length) log.takeNewest(page);
        else log.prepend(page);
        end = at;
      }
      expect(log.view).toEqual(whole(events));
      expect(log.count).toBe(events.filter(({ turnId }) => turnId !== null).length);
    }),
  );
});

test('an event again is known, one after a hole is not taken, and the newest page then takes the place of what is held', () => {
  const events = session(6);
  const log = createLog();
  log.takeNewest(events.slice(0, 8));
  expect(log.append(events[7] as AnyEvent)).toBe('known');
  expect(log.append(events[12] as AnyEvent)).toBe('hole');
  expect(log.view).toEqual(whole(events.slice(0, 8)));
  expect(log.takeNewest(events.slice(12))).toBe('hole');
  expect(log.view).toEqual(whole(events.slice(12)));
  expect(log.prepend(events.slice(0, 12))).toBe('added');
  expect(log.view).toEqual(whole(events));
});

test('the oldest turns go, come back with their page, and nothing is there twice', () => {
  const events = session(10);
  const log = createLog();
  log.takeNewest(events);
  expect(log.trimTo(20)).toBe(true);
  expect(log.view).toEqual(whole(events.slice(20)));
  expect(log.first).toMatchObject({ sessionSeq: 21 });
  expect(log.trimTo(20)).toBe(false);
  log.prepend(events.slice(4, 22));
  expect(log.view).toEqual(whole(events.slice(4)));
  expect(log.turnOfEvent(events[5]?.seq ?? 0)).toBe('trn_2');
  expect(log.turnOfEvent(events[0]?.seq ?? 0)).toBe(null);
});

test('a summary goes with its place and comes back with it once', () => {
  const events = session(10, { isSummed: true });
  const log = createLog();
  log.takeNewest(events);
  expect(log.trimTo(16)).toBe(true);
  expect(log.view.summaries.map(({ summaryId }) => summaryId)).toEqual(['sum_9']);
  const { first } = log;
  log.prepend(events.filter(({ seq }) => seq < (first?.seq ?? 0)));
  expect(log.view).toEqual(whole(events));
});

test('what streamed of a turn stays when the page with its beginning comes', () => {
  const events = session(1).slice(0, 2);
  const log = createLog();
  log.takeNewest(events.slice(1));
  const [turn] = log.view.turns;
  if (turn !== undefined) turn.live = 'Half an ans';
  log.prepend(events.slice(0, 1));
  expect(log.view.turns).toMatchObject([{ live: 'Half an ans', messages: [{ text: 'Question 1' }] }]);
});

test('one more event touches its own turn only, however long the session is', () => {
  const events = session(500);
  const log = createLog();
  log.takeNewest(events.slice(0, -1));
  const before = log.view.turns.map((turn) => JSON.stringify(turn));
  const list = log.view.turns;
  log.append(events.at(-1) as AnyEvent);
  expect(log.view.turns).toBe(list);
  expect(log.view.turns.filter((turn, index) => JSON.stringify(turn) !== before[index]).map(({ turnId }) => turnId)).toEqual(['trn_500']);
});
