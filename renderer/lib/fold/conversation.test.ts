import { expect, test } from 'vitest';
import type { AnyEvent, DeltaNotice, DraftOf, EventType, Phase, EventBodies } from '../../../core/contracts/events.ts';
import { noUsage } from '../../../core/contracts/llm.ts';
import type { Approval } from '../../../core/contracts/policy.ts';
import { describeNote } from '../describe-note.ts';
import { english } from '../i18n/english/whole.ts';
import { Formats } from '../i18n/formats.ts';
import { applyDelta, applyToConversation, createConversation, markMissing, outputCharsMax, type Conversation } from './conversation.ts';
import { readableEvents } from './readable-events.ts';

class Script {
  readonly conversation: Conversation = createConversation('ses_1');
  readonly events: AnyEvent[] = [];

  add<T extends EventType>(type: T, body: DraftOf<T>['body'], turnId: string | null = 'trn_1', phase: Phase | null = null): this {
    const seq = this.events.length + 1;
    const event = { seq, sessionId: 'ses_1', sessionSeq: seq, turnId, step: 1, phase, type, v: 1, atMs: 1000 + seq, body } as AnyEvent;
    this.events.push(event);
    applyToConversation(this.conversation, event);
    return this;
  }

  get turn() {
    const [turn] = this.conversation.turns;
    if (turn === undefined) throw new Error('no turn yet');
    return turn;
  }
}

const wording = { words: english, format: new Formats('en-GB', english.common) };
const limits = { steps: 50, turnMs: 1, sameCall: 3, parallelReads: 8 };
const facts = { class: 'write', paths: [], command: null, hosts: [] } as const;
const call = { callId: 'call_1', providerCallId: 'p', tool: 'write_file', args: '{"path":"a"}' };
const requested: EventBodies['tool.requested'] = {
  callId: 'call_1',
  tool: 'exec',
  args: '{}',
  argsHash: 'h',
  idempotency: 'unsafe',
  idempotencyKey: 'k',
  grantId: null,
};
const approval: Approval = {
  approvalId: 'apr_1',
  callId: 'call_1',
  tool: 'write_file',
  summary: 's',
  risk: 'r',
  reason: 'w',
  ruleId: 'write.ask',
  facts: { ...facts, paths: [], hosts: [] },
  args: call.args,
  widerScope: null,
  createdAtMs: 1,
  sessionId: 'ses_1',
  state: 'pending',
  decidedAtMs: null,
  decidedBy: null,
  scope: null,
};

function started(): Script {
  return new Script()
    .add('user.message', { text: 'Hi', channel: 'window', sender: 'person', dedupeKey: null })
    .add('turn.started', { kind: 'chat', agentId: 'main', model: 'lab/m', limits, calls: [] }, 'trn_1', 'interpret');
}

/** The model has been called and has not answered yet. */
const asking = (): Script => started().add('model.requested', { requestId: 'q', packId: 'p', model: 'lab/m' });

const finishedModel = {
  requestId: 'q',
  reasoning: '',
  usage: noUsage,
  usageReported: true,
  costUsd: 0,
  tookMs: 1,
  firstTokenMs: 1,
} as const;

function ended(script: Script): Script {
  const body = { status: 'done', text: 'Done.', error: null, usage: noUsage, costUsd: 0, modelCalls: 1, toolCalls: 1 } as const;
  return script.add('turn.finished', body, 'trn_1', 'respond');
}

test('a call goes from proposed over waiting and running to its outcome', () => {
  const script = started().add('model.finished', { ...finishedModel, text: 'I will write.', calls: [call], finishReason: 'tool_calls' });
  const states = [script.turn.calls['call_1']?.state];
  const note = (): number => states.push(script.turn.calls['call_1']?.state);
  script.add('approval.requested', { approval }, 'trn_1', 'policy-gate');
  note();
  script.add('approval.decided', {
    approvalId: 'apr_1',
    callId: 'call_1',
    decision: 'approve',
    scope: { kind: 'once' },
    by: 'window',
    grantId: null,
  });
  note();
  script.add('tool.requested', {
    callId: 'call_1',
    tool: 'write_file',
    args: call.args,
    argsHash: 'h',
    idempotency: 'unsafe',
    idempotencyKey: 'k',
    grantId: null,
  });
  note();
  script.add('tool.finished', {
    callId: 'call_1',
    tool: 'write_file',
    outcome: 'ok',
    forModel: 'ok',
    forUser: '',
    silent: false,
    isAsync: false,
    artifacts: [],
    tookMs: 4,
    resultHash: 'r',
  });
  note();
  expect(states).toEqual(['proposed', 'waiting', 'proposed', 'running', 'ok']);
  expect(script.turn.entries.map(({ kind }) => kind)).toEqual(['text', 'call']);
  expect(script.turn.calls['call_1']?.approval?.state).toBe('approved');
  expect(script.turn.calls['call_1']?.decidedBy).toBe('window');
});

test('streamed text gives way to the recorded answer, and late text is dropped', () => {
  const script = asking();
  const delta = { kind: 'text', sessionId: 'ses_1', turnId: 'trn_1', callId: null } as const;
  applyDelta(script.conversation, { ...delta, text: 'Do' });
  applyDelta(script.conversation, { ...delta, text: 'ne' });
  expect(script.turn.live).toBe('Done');
  script.add('assistant.message', { text: 'Done.' });
  expect([script.turn.live, script.turn.answer]).toEqual(['', 'Done.']);
  ended(script);
  applyDelta(script.conversation, { ...delta, text: 'late' });
  expect(script.turn.live).toBe('');
});

test('text that overtakes the event of its model call waits for it, and keeps its beginning', () => {
  const script = started().add('model.requested', { requestId: 'q1', packId: 'p1', model: 'lab/m' });
  const delta = { kind: 'text' as const, sessionId: 'ses_1', turnId: 'trn_1', callId: null };
  expect(applyDelta(script.conversation, { ...delta, requestId: 'q1', text: 'A look first.', from: 0 })).toBe(true);
  const early = { ...delta, requestId: 'q2', text: 'word1 ', from: 0 };
  expect([applyDelta(script.conversation, early), script.turn.live]).toEqual([false, 'A look first.']);
  script.add('model.finished', { ...finishedModel, requestId: 'q1', text: 'A look first.', calls: [call], finishReason: 'tool_calls' });
  expect(applyDelta(script.conversation, early)).toBe(false);
  script.add('model.requested', { requestId: 'q2', packId: 'p2', model: 'lab/m' });
  expect(applyDelta(script.conversation, early)).toBe(true);
  expect(applyDelta(script.conversation, { ...delta, requestId: 'q1', text: ' late', from: 13 })).toBe(true);
  applyDelta(script.conversation, { ...delta, requestId: 'q2', text: 'word2', from: 6 });
  expect(script.turn.live).toBe('word1 word2');
});

test('output that overtakes the beginning of its call waits for it', () => {
  const script = started().add('model.finished', { ...finishedModel, text: '', calls: [call], finishReason: 'tool_calls' });
  const early = { kind: 'output' as const, sessionId: 'ses_1', turnId: 'trn_1', callId: 'call_1', text: 'under way' };
  expect(applyDelta(script.conversation, early)).toBe(false);
  script.add('tool.requested', requested);
  expect([applyDelta(script.conversation, early), script.turn.calls['call_1']?.output]).toEqual([true, 'under way']);
});

test('streamed text changes the live text and nothing else', () => {
  const script = asking();
  const before = structuredClone(script.turn);
  const { entries, calls, requests } = script.turn;
  applyDelta(script.conversation, { kind: 'text', sessionId: 'ses_1', turnId: 'trn_1', callId: null, text: 'Do' });
  expect(script.turn).toEqual({ ...before, live: 'Do', liveTo: 2 });
  expect([script.turn.entries === entries, script.turn.calls === calls, script.turn.requests === requests]).toEqual([true, true, true]);
});

test('a stopped turn keeps the text that had streamed', () => {
  const script = asking();
  applyDelta(script.conversation, { kind: 'text', sessionId: 'ses_1', turnId: 'trn_1', callId: null, text: 'Half an ans' });
  script.add('turn.finished', { status: 'cancelled', text: '', error: null, usage: noUsage, costUsd: null, modelCalls: 1, toolCalls: 0 });
  expect([script.turn.status, script.turn.answer]).toEqual(['cancelled', 'Half an ans']);
});

test('an answer that was not the last word becomes a step', () => {
  const script = started()
    .add('model.finished', { ...finishedModel, text: 'Not quite.', calls: [], finishReason: 'stop' })
    .add('model.requested', { requestId: 'q2', packId: 'p2', model: 'lab/m' })
    .add('model.finished', { ...finishedModel, text: 'Better.', calls: [], finishReason: 'stop' });
  expect(script.turn.answer).toBe('Better.');
  expect(script.turn.entries).toEqual([{ kind: 'text', key: 't4', text: 'Not quite.' }]);
});

test('messages recorded before any turn are matched in order', () => {
  const message = (text: string) => ({ text, channel: 'window', sender: 'person', dedupeKey: null });
  const script = new Script().add('user.message', message('one'), null).add('user.message', message('two'), null);
  expect(script.conversation.waiting.map(({ text }) => text)).toEqual(['one', 'two']);
  script.add('turn.started', { kind: 'chat', agentId: 'main', model: null, limits, calls: [] });
  expect(script.turn.messages.map(({ text }) => text)).toEqual(['one']);
  expect(script.conversation.waiting.map(({ text }) => text)).toEqual(['two']);
});

test('the same events again change nothing, and folding afresh gives the same', () => {
  const script = ended(started().add('model.finished', { ...finishedModel, text: 'x', calls: [call], finishReason: 'tool_calls' }));
  const before = structuredClone(script.conversation);
  for (const event of script.events) applyToConversation(script.conversation, event);
  expect(script.conversation).toEqual(before);
  const fresh = createConversation('ses_1');
  for (const event of script.events) applyToConversation(fresh, event);
  expect(fresh).toEqual(before);
});

test('live output keeps only its newest part', () => {
  const script = started().add('tool.requested', requested);
  applyDelta(script.conversation, {
    kind: 'output',
    sessionId: 'ses_1',
    turnId: 'trn_1',
    callId: 'call_1',
    text: 'a'.repeat(outputCharsMax),
  });
  applyDelta(script.conversation, { kind: 'output', sessionId: 'ses_1', turnId: 'trn_1', callId: 'call_1', text: 'end' });
  const output = script.turn.calls['call_1']?.output ?? '';
  expect([output.length, output.endsWith('aend')]).toEqual([outputCharsMax, true]);
});

test('what the model saw last and what its calls came to are known while the turn runs', () => {
  const pack = { packId: 'p', tokens: 900, budgetTokens: 3000, sections: [], truncated: [], fromSessionSeq: 1 };
  const dropped = [{ what: 'message', count: 2, tokens: 10, reason: 'old' }];
  const usage = { ...noUsage, inputTokens: 900, outputTokens: 50 };
  const answer = { ...finishedModel, text: 'x', calls: [call], finishReason: 'tool_calls' as const, usage };
  const script = started()
    .add('pack.built', { ...pack, dropped })
    .add('model.finished', { ...answer, costUsd: 0.25 });
  expect([script.turn.packs.at(-1), script.turn.usage, script.turn.costUsd]).toEqual([
    { packId: 'p', tokens: 900, budgetTokens: 3000, leftOut: 2 },
    usage,
    0.25,
  ]);
  script.add('model.finished', { ...answer, costUsd: null }).add('model.finished', { ...answer, costUsd: 1 });
  expect([script.turn.usage, script.turn.costUsd]).toEqual([{ ...noUsage, inputTokens: 2700, outputTokens: 150 }, null]);
});

test('an event type of a later version is left alone', () => {
  const script = started();
  script.add('turn.grew_wings' as EventType, {} as never);
  expect(script.turn.status).toBe('running');
});

test('an unknown outcome asks until it is settled', () => {
  const script = started().add('tool.outcome_unknown', { callId: 'call_1', tool: 'exec', args: '{}', reason: 'power cut' });
  expect(script.turn.calls['call_1']).toMatchObject({ state: 'unknown', unknownReason: 'power cut' });
  script.add('tool.outcome_settled', { callId: 'call_1', answer: 'abandon', by: 'window' });
  expect(script.turn.calls['call_1']).toMatchObject({ state: 'skipped', unknownReason: null, decidedBy: 'window' });
});

test('a turn that continues another says so, and so does a limit that cannot hold', () => {
  const script = started();
  ended(script)
    .add(
      'turn.started',
      { kind: 'chat', agentId: 'main', model: 'lab/m', limits, calls: [], continues: { turnIds: ['trn_1'], by: 'window' } },
      'trn_2',
    )
    .add('budget.unpriced', { model: 'lab/m', scopes: ['turn', 'day'] }, 'trn_2')
    .add('budget.exceeded', { scope: 'day', unit: 'usd', limit: 1, spent: 0.9, needed: 0.2 }, 'trn_2');
  const notes = script.conversation.turns[1]?.entries.map((entry) =>
    entry.kind === 'note' ? [entry.tone, describeNote(entry.fact, wording)] : entry.kind,
  );
  expect(notes).toEqual([
    ['quiet', 'Continues the work of the previous turn, allowed by you, in the window.'],
    [
      'warn',
      'The US-dollar limit of the turn and the day cannot be enforced for lab/m: its price is unknown. Set it under providers.NAME.prices in config.yaml, or set a limit in tokens.',
    ],
    ['warn', 'The budget of this day is too small to continue: $0.90 of $1.00; the next call needs at least $0.20.'],
  ]);
});

test('what a call wrote is known with its images; an undo marks it, taking the undo back unmarks it, and what was refused stays', () => {
  const file = (sha256: string) => ({ kind: 'file', sha256, sizeBytes: 1, mode: 420 }) as const;
  const restored = (restoreId: string | null, callIds: string[], path: string, refused: { path: string; reason: string }[] = []) =>
    ({ restoreId, callIds, files: restoreId === null ? [] : [{ path }], refused, by: 'window' }) as const;
  const script = started()
    .add('model.finished', { ...finishedModel, text: '', calls: [call], finishReason: 'tool_calls' })
    .add('checkpoint.taken', { callId: 'call_1', files: [{ path: '/ws/a', before: file('one') }] });
  const { turn } = script;
  expect(turn.calls['call_1']?.files).toEqual([{ path: '/ws/a', before: file('one'), after: null }]);
  script.add('checkpoint.closed', { callId: 'call_1', files: [{ path: '/ws/a', after: file('two') }] });
  expect(turn.calls['call_1']?.files).toEqual([{ path: '/ws/a', before: file('one'), after: file('two') }]);
  const undoneBy = (...event: Parameters<typeof restored>) => {
    script.add('checkpoint.taken', { callId: event[0] ?? '', files: [], undoes: event[1] });
    const { files, refused, ...rest } = restored(...event);
    script.add('checkpoint.restored', { ...rest, callIds: [...rest.callIds], files: [...files], refused: [...refused] });
    return turn.calls['call_1']?.undoneBy;
  };
  expect(undoneBy(null, ['call_1'], '', [{ path: '/ws/a', reason: 'no' }])).toBe(null);
  expect(undoneBy('undo_1', ['call_1'], '/ws/a')).toBe('undo_1');
  expect(undoneBy('undo_2', ['undo_1'], '/ws/a')).toBe(null);
  expect(undoneBy('undo_3', ['undo_2'], '/ws/a')).toBe('undo_3');
  expect(undoneBy('undo_4', ['undo_3'], '/ws/a')).toBe(null);
  expect(undoneBy('undo_5', ['call_1'], '/ws/b', [{ path: '/ws/a', reason: 'no' }])).toBe(null);
  expect(Object.keys(turn.calls)).toEqual(['call_1']);
});

test('a cut stream is marked once in the live text; the recorded text is whole', () => {
  const script = asking();
  const delta = { kind: 'text', sessionId: 'ses_1', turnId: 'trn_1', callId: null } as const;
  markMissing(script.conversation);
  expect(script.turn.live).toBe('');
  applyDelta(script.conversation, { ...delta, text: 'one' });
  markMissing(script.conversation);
  markMissing(script.conversation);
  applyDelta(script.conversation, { ...delta, text: 'three' });
  expect(script.turn.live).toBe('one\n\n…\n\nthree');
  script.add('assistant.message', { text: 'one two three' });
  markMissing(script.conversation);
  expect([script.turn.answer, script.turn.live]).toEqual(['one two three', '']);
});

test('calls planned together are under one plan, in the place of the first of them', () => {
  const calls = ['call_1', 'call_2'].map((callId) => ({ ...call, callId }));
  const script = started()
    .add('model.finished', { ...finishedModel, text: 'I look.', calls, finishReason: 'tool_calls' })
    .add('plan.drafted', { text: 'I look.', calls: calls.map(({ callId, tool }) => ({ callId, tool })) });
  expect(script.turn.entries.map(({ kind }) => kind)).toEqual(['text', 'plan']);
  expect(script.turn.entries.at(-1)).toMatchObject({ callIds: ['call_1', 'call_2'] });
  script.add('plan.drafted', { text: '', calls: [{ callId: 'call_3', tool: 'calc' }] });
  expect(script.turn.entries).toHaveLength(2);
});

test('text that overtakes the event that announces it waits for it; that of a recorded answer is dropped', () => {
  const delta = { kind: 'text', sessionId: 'ses_1', turnId: 'trn_1', callId: null, text: 'one' } as const;
  const script = started();
  expect(applyDelta(script.conversation, { ...delta, requestId: 'r9' })).toBe(false);
  expect(applyDelta(script.conversation, { ...delta, turnId: 'trn_2' })).toBe(false);
  script.add('model.requested', { requestId: 'r9', packId: 'p', model: 'lab/m' });
  expect(applyDelta(script.conversation, { ...delta, requestId: 'r9' })).toBe(true);
  expect(script.turn.live).toBe('one');
  script.add('model.finished', { ...finishedModel, requestId: 'r9', text: 'one two', calls: [], finishReason: 'stop' });
  expect(applyDelta(script.conversation, { ...delta, requestId: 'r9' })).toBe(true);
  expect(script.turn.live).toBe('');
});

test('an answer that began before the window opened says so; a later one does not', () => {
  const delta = { kind: 'text', sessionId: 'ses_1', turnId: 'trn_1', callId: null } as const;
  const shown = (script: Script, more: Partial<DeltaNotice>): string => {
    applyDelta(script.conversation, { ...delta, text: 'two ', ...more });
    applyDelta(script.conversation, { ...delta, text: 'three', continues: true });
    return script.turn.live;
  };
  expect([shown(asking(), { continues: true }), shown(asking(), {})]).toEqual(['… two three', 'two three']);
  // No model was called, so the streamed text belongs to a recorded answer.
  expect(shown(started(), { continues: true })).toBe('');
  const again = asking();
  shown(again, { continues: true });
  again.add('model.requested', { requestId: 'r2', packId: 'p', model: 'lab/m' });
  applyDelta(again.conversation, { ...delta, text: 'one' });
  expect(again.turn.live).toBe('one');
});

test('an unreadable event keeps its place and says so, and the others are there', () => {
  const envelope = { sessionId: 'ses_1', turnId: 'trn_1', step: 0, phase: null, v: 1, atMs: 1 };
  const message = { text: 'Hello', channel: 'window', sender: 'person', dedupeKey: null };
  const events = readableEvents([
    { ...envelope, seq: 1, sessionSeq: 1, type: 'user.message', body: message },
    { ...envelope, seq: 2, sessionSeq: 2, type: 'turn.finished', body: null },
    { ...envelope, seq: 3, sessionSeq: 3, type: 'assistant.message', body: { text: 'Hi' } },
  ]);
  const conversation = createConversation('ses_1');
  for (const event of events) applyToConversation(conversation, event);
  expect(conversation.turns).toMatchObject([
    { messages: [{ text: 'Hello' }], answer: 'Hi', lastSeq: 3, entries: [{ kind: 'note', tone: 'warn', fact: { code: 'unreadable' } }] },
  ]);
});
