// The tray's menu, tooltip and title in every state.

import { expect, test } from 'vitest';
import { approvalOf, statusOf, stopped } from '../../tests/rigs/desktop-bench.ts';
import { trayMenu, trayTooltip, windowTitle, type TrayActions, type TrayMenuFacts } from './tray-menu.ts';

function actions(): TrayActions & { readonly done: string[] } {
  const done: string[] = [];
  return {
    done,
    open: () => done.push('open'),
    showApproval: (id) => done.push(`show ${id}`),
    showApprovals: () => done.push('approvals'),
    panic: () => done.push('panic'),
    releasePanic: () => done.push('release'),
    setPaused: (id, isPaused) => done.push(`${isPaused ? 'pause' : 'resume'} ${id}`),
    setLoginStart: (isOn) => done.push(`login ${isOn}`),
    quit: () => done.push('quit'),
  };
}

const facts: TrayMenuFacts = { status: statusOf(), panicKeys: null, pausables: [], startsAtLogin: null };
const labels = (changes: Partial<TrayMenuFacts>): string[] =>
  trayMenu({ ...facts, ...changes }, actions()).map((item) => (item.type === 'separator' ? '—' : (item.label ?? '')));

test('idle, waiting and stopped, with every entry present', () => {
  expect(labels({})).toEqual(['Open TrayClaw', '—', 'Nothing is waiting for you', '—', 'Panic stop', '—', 'Quit TrayClaw']);
  const two = [approvalOf(), approvalOf({ approvalId: 'apr_2', summary: 'Wants to run ls' })];
  expect(
    labels({
      status: statusOf({ approvals: two, runningTurns: 1 }),
      panicKeys: 'Ctrl+Alt+Shift+Esc',
      pausables: [
        { id: 'telegram', name: 'Telegram', isPaused: false },
        { id: 'schedules', name: 'schedules', isPaused: true },
      ],
      startsAtLogin: true,
    }),
  ).toEqual([
    'Open TrayClaw',
    '—',
    '2 approvals are waiting for you',
    'Wants to write notes.md (3 bytes)',
    'Wants to run ls',
    '—',
    'Panic stop (Ctrl+Alt+Shift+Esc)',
    'Pause Telegram',
    'Resume schedules',
    '—',
    'Start at login',
    'Quit TrayClaw',
  ]);
});

test('the stop entry keeps its place and is disabled; the release is elsewhere', () => {
  const calm = labels({ panicKeys: 'Ctrl+Alt+Shift+Esc' });
  const held = labels({ status: stopped, panicKeys: 'Ctrl+Alt+Shift+Esc' });
  const place = calm.indexOf('Panic stop (Ctrl+Alt+Shift+Esc)');
  expect([held[place], held.indexOf('Release panic stop') > place + 1]).toEqual(['Stopped', true]);
  expect(trayMenu({ ...facts, status: stopped }, actions())[place]).toEqual({ id: 'panic', label: 'Stopped', enabled: false });
});

test('every entry calls its action', () => {
  const does = actions();
  const pausables = [{ id: 'telegram', name: 'Telegram', isPaused: false }];
  const items = trayMenu({ ...facts, status: statusOf({ approvals: [approvalOf()] }), pausables, startsAtLogin: false }, does);
  for (const item of items) (item.click as ((item: unknown) => void) | undefined)?.({ checked: true });
  for (const item of trayMenu({ ...facts, status: stopped }, does)) if (item.id === 'release-panic') (item.click as () => void)();
  expect(does.done).toEqual([
    'open',
    'approvals',
    'show apr_01ARZ3NDEKTSV4RRFFQ69G5FAV',
    'panic',
    'pause telegram',
    'login true',
    'quit',
    'release',
  ]);
});

test('offers no approvals during a panic stop', () => {
  const status = { ...stopped, approvals: [approvalOf()] };
  expect(trayMenu({ ...facts, status }, actions()).find((item) => item.id?.startsWith('approval:'))?.enabled).toBe(false);
});

test('names are one line of plain characters, and at most eight are listed', () => {
  const label = (summary: string): string => labels({ status: statusOf({ approvals: [approvalOf({ summary })] }) })[3] ?? '';
  expect(label('a\n\tb\u202Ec\u0000d & e')).toBe('a b c d && e');
  expect(label('🙂'.repeat(80))).toBe('🙂'.repeat(63) + '…');
  const many = Array.from({ length: 20 }, (_, index) => approvalOf({ approvalId: `apr_${index}` }));
  expect(labels({ status: statusOf({ approvals: many }) }).filter((text) => text.startsWith('Wants'))).toHaveLength(8);
  expect(labels({ status: statusOf({ approvals: many }) })).toContain('20 approvals are waiting for you');
});

test('tooltip and title name the most serious state', () => {
  const waiting = statusOf({ approvals: [approvalOf()], runningTurns: 3 });
  const all = [statusOf(), statusOf({ runningTurns: 1 }), statusOf({ runningTurns: 3 }), waiting, { ...waiting, panic: stopped.panic }];
  expect(all.map((status) => [trayTooltip(status), windowTitle(status)])).toEqual([
    ['TrayClaw', 'TrayClaw'],
    ['TrayClaw: working', 'TrayClaw'],
    ['TrayClaw: working on 3 things', 'TrayClaw'],
    ['TrayClaw: 1 approval is waiting for you', '(1) TrayClaw'],
    ['TrayClaw: everything is stopped', 'Stopped · TrayClaw'],
  ]);
});
