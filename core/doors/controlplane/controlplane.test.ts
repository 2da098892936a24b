import { expect, test } from 'vitest';
import { stillRedacted } from '../../base/redacted.ts';
import { CountingIds } from '../../../tests/doubles/counting-ids.ts';
import type { DirectCall, InboundMessage } from '../../runtime/turns/turns.ts';
import { Controlplane, type ControlplaneDeps } from './controlplane.ts';

const cli = { channel: 'cli', actor: 'ada' } as const;

function open() {
  const messages: InboundMessage[] = [];
  const calls: DirectCall[] = [];
  const known = { sessionId: 'there', agentId: 'writer' };
  const deps = {
    ids: new CountingIds(),
    agents: { route: () => 'main', assertKnown: () => undefined },
    log: { index: { session: (sessionId: string) => (sessionId === 'there' ? known : null) } },
    config: { attachments: { fileBytesMax: 1, messageBytesMax: 1, filesMax: 1 } },
    turns: {
      assertOpen: () => undefined,
      accept: (message: InboundMessage) => {
        messages.push(message);
        return { sessionId: message.sessionId, turnId: 'trn_1', onDisk: null };
      },
      runTool: (call: DirectCall) => {
        calls.push(call);
        return { sessionId: call.sessionId, turnId: 'trn_1', callId: 'call_1' };
      },
    },
  } as unknown as ControlplaneDeps;
  return { plane: new Controlplane(deps), messages, calls };
}

/** Resolves `before` as the runtime does. */
const opened = ({ text, before }: InboundMessage) => (typeof before === 'function' ? before(stillRedacted(text)) : before);

test('a message without a session creates one, titled after its first line', () => {
  const { plane, messages } = open();
  expect(plane.receive({ text: `  ${'long words '.repeat(20)}\nmore` }, cli)).toEqual({
    sessionId: 'ses_1',
    turnId: 'trn_1',
    onDisk: null,
  });
  expect(messages).toMatchObject([{ agentId: 'main', channel: 'cli', sender: 'ada', dedupeKey: null }]);
  const [created] = messages.flatMap(opened);
  expect(created).toMatchObject({
    type: 'session.created',
    body: { channel: 'cli', title: expect.stringMatching(/^long words .*…$/) as string },
  });
});

test('continues an existing session with its agent and creates a named new one', () => {
  const { plane, messages, calls } = open();
  plane.receive({ text: 'hi', sessionId: 'there', dedupeKey: 'k' }, cli);
  plane.receive({ text: 'hi', sessionId: 'mine-1.x_y', agentId: 'coder' }, cli);
  plane.runTool({ tool: 'calc', args: { expression: '1' } }, cli);
  expect(messages.map((message) => [message.sessionId, message.agentId, message.dedupeKey, opened(message).length])).toEqual([
    ['there', 'writer', 'k', 0],
    ['mine-1.x_y', 'coder', null, 1],
  ]);
  expect(calls).toMatchObject([{ sessionId: 'ses_1', tool: 'calc', args: '{"expression":"1"}' }]);
});

test.each(['-x', 'a b', '../x', 'x'.repeat(101), 'ü'])('rejects %j as the id of a session', (sessionId) => {
  expect(() => open().plane.receive({ text: 'hi', sessionId }, cli)).toThrow(expect.objectContaining({ code: 'invalid_params' }) as Error);
});

test('rejects messages to the system session', () => {
  const { plane } = open();
  const refused = expect.objectContaining({ code: 'not_found' }) as Error;
  expect(() => plane.receive({ text: 'hi', sessionId: 'system' }, cli)).toThrow(refused);
  expect(() => plane.runTool({ tool: 'calc', args: {}, sessionId: 'system' }, cli)).toThrow(refused);
});
