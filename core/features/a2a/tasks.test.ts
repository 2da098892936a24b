// How often the desk reads the events of turns: once for each new state, and only for the tasks of a page.

import { TaskState } from '@a2a-js/sdk';
import { expect, test } from 'vitest';
import type { AnyEvent, DeltaNotice } from '../../contracts/events.ts';
import { handlerOf } from './wire-tasks.ts';
import { wholeBounds } from '../../contracts/turn-bounds.ts';
import { TaskDesk, type TaskDeps, type TaskOwner } from './tasks.ts';

const owner: TaskOwner = {
  ownerId: 'dtk_1',
  name: 'far',
  bounds: () => wholeBounds,
  begins: () => undefined,
  agentFor: (named) => named ?? 'main',
};

function open(count = 1, written: readonly DeltaNotice['kind'][] = []) {
  let reads = 0;
  let status = 'running';
  let say: (delta: DeltaNotice) => void = () => undefined;
  let hear: (events: readonly AnyEvent[]) => void = () => undefined;
  const rows = Array.from({ length: count }, (_, n) => ({
    taskId: `trn_${n}`,
    sessionId: `a2a_ses_${n % 2}`,
    owner: 'dtk_1',
    messageId: `m${n}`,
    hops: [],
    atMs: n,
  }));
  const deps = {
    log: {
      index: { turn: () => ({ status, firstSeq: 1 }) },
      reads: { turn: () => ((reads += 1), []) },
      onCommitted: (listener: typeof hear) => ((hear = listener), () => undefined),
    },
    claw: { onDelta: (listener: typeof say) => ((say = listener), () => undefined) },
    rows: { task: (taskId: string) => rows.find((row) => row.taskId === taskId) ?? null, tasksOf: () => rows },
    turns: { liveTexts: () => written.map((kind) => ({ kind, text: `${kind} so far, ` })) },
    safety: { redact: (text: string) => ({ text }) },
  } as unknown as TaskDeps;
  const end = (next: string): void => {
    status = next;
    hear([{ turnId: 'trn_0', type: 'turn.finished' } as AnyEvent]);
  };
  return {
    desk: new TaskDesk(deps),
    say: (text: string) => say({ kind: 'text', turnId: 'trn_0', text } as DeltaNotice),
    end,
    reads: () => reads,
  };
}

test('following reads the turn for each state, not for each piece of text', async () => {
  const { desk, say, end, reads } = open();
  const seen: string[] = [];
  for await (const change of desk.follow(owner, 'trn_0', new AbortController().signal)) {
    seen.push(change.kind === 'text' ? change.text : change.view.state);
    if (seen.length <= 20) say(`piece ${seen.length}`);
    else end('done');
  }
  expect([seen.length, seen[0], seen.at(-1), reads()]).toEqual([22, 'working', 'completed', 2]);
});

test('a reader who joins late gets the answer from its beginning', async () => {
  const { desk, say, end } = open(1, ['reasoning', 'text']);
  let text = '';
  for await (const change of desk.follow(owner, 'trn_0', new AbortController().signal)) {
    if (change.kind === 'text') text += change.text;
    else if (change.view.state === 'working') say('then more');
    if (text.endsWith('more')) end('done');
  }
  expect(text).toBe('text so far, then more');
});

test('a page of a list reads the turns of that page only', async () => {
  const { desk, reads } = open(300);
  const visit = { owner, card: {}, signal: new AbortController().signal };
  const query = {
    tenant: '',
    status: TaskState.TASK_STATE_UNSPECIFIED,
    pageToken: '',
    pageSize: 50,
    historyLength: 0,
    statusTimestampAfter: undefined,
    includeArtifacts: false,
  };
  const page = await handlerOf(desk, visit).listTasks({ ...query, contextId: 'ses_1' }, undefined as never);
  expect([page.tasks.length, page.totalSize, reads()]).toEqual([50, 150, 50]);
});
