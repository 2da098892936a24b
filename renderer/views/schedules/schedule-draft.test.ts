// A schedule typed into the form and read back: values that the form does not show are preserved.

import { expect, test } from 'vitest';
import type { ScheduleView } from '../../../core/contracts/features/schedule.ts';
import { ScheduleDraft } from './schedule-draft.svelte.ts';

const kept: ScheduleView = {
  scheduleId: 'sch_1',
  name: 'Morning',
  prompt: 'Look at the mail.',
  spec: { kind: 'cron', expr: '0 8 * * 1-5', zone: 'Europe/Berlin' },
  agentId: 'main',
  session: 'own',
  missed: 'skip',
  bounds: {
    tools: ['read_file', 'list_dir'],
    classes: ['read'],
    folders: ['/srv/notes'],
    hosts: ['example.org'],
    steps: 5,
    turnMs: 60_000,
    usd: 0.5,
    tokens: 1000,
    grants: true,
  },
  approvalMs: 600_000,
  enabled: true,
  createdBy: 'window',
  createdAtMs: 0,
  deliver: 'last',
  appendTo: 'log/{date}.md',
  writeTo: null,
  depth: 0,
  untrusted: [],
  nextMs: [],
  last: [],
};

test('a schedule that was opened and not changed is written as it was', () => {
  const { name, prompt, spec, agentId, session, missed, bounds, approvalMs, deliver, appendTo, writeTo } = kept;
  expect(new ScheduleDraft(kept, 'Asia/Tokyo').toParams()).toEqual({
    name,
    prompt,
    spec,
    agentId,
    session,
    missed,
    bounds,
    approvalMs,
    deliver,
    appendTo,
    writeTo,
  });
});

test.each([
  ['30 7 * * *', 'days', [0, 1, 2, 3, 4, 5, 6], '07:30'],
  ['0 18 * * 0,6', 'days', [0, 6], '18:00'],
  ['0 8 * * 1-5', 'days', [1, 2, 3, 4, 5], '08:00'],
  ['0 8 1 * *', 'cron', null, null],
  ['*/5 8 * * 1-5', 'cron', null, null],
  ['0 8 * * 6,0', 'cron', null, null],
])('the rule %s is shown as %s and comes back the same', (expr, kind, days, time) => {
  const draft = new ScheduleDraft({ ...kept, spec: { kind: 'cron', expr, zone: 'Asia/Tokyo' } }, 'Asia/Tokyo');
  expect([draft.kind, draft.spec]).toEqual([kind, { kind: 'cron', expr, zone: 'Asia/Tokyo' }]);
  if (days !== null) expect([draft.days, draft.time]).toEqual([days, time]);
});

test('days that are ticked become a rule', () => {
  const draft = new ScheduleDraft(null, 'Asia/Tokyo');
  draft.toggleDay(3, false);
  draft.toggleDay(0, true);
  draft.time = '06:05';
  expect(draft.spec).toEqual({ kind: 'cron', expr: '5 6 * * 0,1,2,4,5', zone: 'Asia/Tokyo' });
});

test.each([[{ kind: 'every', everyMs: 5_400_000, anchorMs: 7 } as const], [{ kind: 'every', everyMs: 172_800_000, anchorMs: 0 } as const]])(
  'a span is shown in its largest whole unit and comes back the same: %o',
  (spec) => {
    expect(new ScheduleDraft({ ...kept, spec }, 'Asia/Tokyo').spec).toEqual(spec);
  },
);

test('an existing time keeps its zone, and a new one has the zone of this computer', () => {
  const spec = { kind: 'at', atMs: 1_774_747_800_000, local: '2026-03-29T02:30', zone: 'Europe/Berlin' } as const;
  expect(new ScheduleDraft({ ...kept, spec }, 'Asia/Tokyo').spec).toEqual({ kind: 'at', local: '2026-03-29T02:30', zone: 'Europe/Berlin' });
  expect(new ScheduleDraft(null, 'Asia/Tokyo').spec).toEqual({ kind: 'cron', expr: '0 8 * * 1-5', zone: 'Asia/Tokyo' });
});

test('nothing is preset that was not typed, and no ticked class means no bound', () => {
  const draft = new ScheduleDraft(null, '');
  expect(draft.toParams().bounds).toMatchObject({ tools: null, classes: null, usd: null, steps: null, grants: false });
  draft.tools = ' read_file ,, list_dir ';
  draft.toggle('read', true);
  draft.toggle('network', true);
  draft.toggle('read', false);
  expect(draft.toParams().bounds).toMatchObject({ tools: ['read_file', 'list_dir'], classes: ['network'] });
});
