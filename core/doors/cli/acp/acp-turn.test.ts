// A prompt of an editor, with the order of deltas and events in the test's hand: they reach the command by two streams.

import type { AgentContext, SessionUpdate } from '@agentclientprotocol/sdk';
import { expect, test } from 'vitest';
import type { Claw } from '../../../contracts/claw.ts';
import type { AnyEvent, DeltaNotice } from '../../../contracts/events.ts';
import { AcpTurn } from './acp-turn.ts';

type Item = AnyEvent | DeltaNotice;

const delta = (requestId: string, text: string): DeltaNotice => ({
  kind: 'text',
  sessionId: 's',
  turnId: 't',
  callId: null,
  requestId,
  text,
});
const requested = (requestId: string): AnyEvent => ({ type: 'model.requested', turnId: 't', body: { requestId } }) as never;
const finished = (text: string): AnyEvent =>
  ({ type: 'turn.finished', turnId: 't', body: { status: 'done', text, costUsd: null } }) as never;

/** The updates that the editor receives of a turn whose events and deltas arrive in this order. */
async function shownOf(items: readonly Item[]): Promise<string> {
  let tell: (notice: DeltaNotice) => void = () => undefined;
  const claw = {
    op: () => Promise.resolve({ turnId: 't' }),
    onDelta: (listener: (notice: DeltaNotice) => void) => {
      tell = listener;
      return () => undefined;
    },
    async *events() {
      // The turn is known from here on.
      await Promise.resolve();
      for (const item of items) {
        if ('kind' in item) tell(item);
        else yield item;
      }
    },
  } as unknown as Claw;
  let shown = '';
  const notify = (_method: string, { update }: { update: SessionUpdate }): Promise<void> => {
    if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text') shown += update.content.text;
    return Promise.resolve();
  };
  const turn = new AcpTurn({ claw, client: { notify } as unknown as AgentContext, sessionId: 's' });
  expect(await turn.run({ text: 'please write', attachments: [] })).toBe('end_turn');
  return shown;
}

test.each<[string, Item[]]>([
  ['events first', [requested('r1'), delta('r1', 'I write it.'), requested('r2'), delta('r2', 'Writ'), delta('r2', 'ten.')]],
  ['deltas first', [delta('r1', 'I write it.'), delta('r2', 'Writ'), delta('r2', 'ten.'), requested('r1'), requested('r2')]],
  ['an event within', [requested('r1'), delta('r1', 'I write it.'), delta('r2', 'Writ'), requested('r2'), delta('r2', 'ten.')]],
  ['the end is lost', [requested('r1'), delta('r1', 'I write it.'), requested('r2'), delta('r2', 'Writ')]],
  ['all of an answer is lost', [requested('r1'), delta('r1', 'I write it.'), requested('r2')]],
])('the answers of two steps are set apart once: %s', async (_order, items) => {
  expect(await shownOf([...items, finished('Written.')])).toBe('I write it.\n\nWritten.');
});
