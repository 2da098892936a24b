// The findings of the doctor about the doors.

import { expect, test } from 'vitest';
import type { DoorTokenView } from '../../contracts/features/doors.ts';
import { doorChecks } from './doors.ts';

const nowMs = 1_000 * 24 * 3600_000;
const tokenOf = (name: string, usedDaysAgo: number | null): DoorTokenView => ({
  tokenId: `dtk_${name}`,
  door: 'mcp',
  name,
  scopes: ['agents'],
  perMinute: 60,
  perDayUsd: null,
  createdAtMs: nowMs,
  lastUsedAtMs: usedDaysAgo === null ? null : nowMs - usedDaysAgo * 24 * 3600_000,
  spentTodayUsd: 0,
});
const look = (tokens: DoorTokenView[], isOpen = true) => doorChecks(() => ({ tokens, nowMs, isOpen: () => isOpen })).check(false);

test('names programs with tokens, unused tokens and closed doors', async () => {
  expect(await look([])).toEqual([]);
  expect(await look([tokenOf('a', 1), tokenOf('b', null)])).toMatchObject([{ ok: true, detail: '2 programs have a token: a, b.' }]);
  expect(await look([tokenOf('a', 91)])).toMatchObject([{ ok: true, fix: 'trayclaw doors token revoke a' }]);
  expect(await look([tokenOf('a', 1)], false)).toMatchObject([{ ok: true, detail: 'The door is closed for a (mcp).' }]);
});
