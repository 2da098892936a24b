// A small run of the crash script, a control that shows that it detects a lost event and an effect run twice, and the durable commits,
// counted in the stream of system calls, because a kill cannot tell whether anything reached the disk.

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { countEffects, openUnsafeCalls, type CallRecord, type LogView } from './crash-log.ts';
import { runCrashPlan } from './crash-plan.ts';
import { TestHome } from './test-home.ts';
import { isSoak, soak } from '../soak.ts';
import { needs } from '../needs.ts';

test(
  'kills at every named point and at random lose nothing and run nothing twice',
  async () => {
    const tallies = await runCrashPlan({ kills: soak(28, 1_000), reachesMax: soak(2, 3), seed: 42 });
    const sum = (pick: 'kills' | 'acked' | 'lost' | 'effects' | 'twice' | 'unknown'): number =>
      [...tallies.values()].reduce((total, tally) => total + tally[pick], 0);
    expect([...tallies.values()].flatMap((tally) => tally.faults)).toEqual([]);
    expect([sum('lost'), sum('twice')]).toEqual([0, 0]);
    expect(sum('kills')).toBeGreaterThanOrEqual(soak(28, 1_000));
    expect([sum('acked') > 1_000, sum('effects') > 30, sum('unknown') > 3]).toEqual([true, true, true]);
    const died = [...tallies].filter(([, tally]) => tally.kills > 0).map(([point]) => point);
    expect(died).toEqual([...tallies.keys()]);
  },
  isSoak ? 7_200_000 : 600_000,
);

test('the counts of the crash script detect what they are meant to detect', async () => {
  await using home = new TestHome();
  const call = (callId: string, change: Partial<CallRecord>): [string, CallRecord] => [
    callId,
    { callId, tool: 'stamp', args: '{}', idempotency: 'unsafe', turnId: 't', state: 'closed', retries: 0, results: 1, ...change },
  ];
  const calls = new Map([call('once', {}), call('twice', {}), call('again', { retries: 1 }), call('open', { state: 'open' })]);
  const log: LogView = {
    audit: { ok: true, events: 0, sessions: 0 },
    calls,
    startedTurns: new Set(),
    finishedTurns: new Set(),
    lastSeq: 0,
    missing: () => [],
  };
  const stamps = join(home.path, 'stamps.log');
  writeFileSync(stamps, ['once', 'twice', 'twice', 'again', 'again', 'never-asked'].join('\n'));
  expect(countEffects(log, { stamps, commands: 'none', appended: 'none' })).toEqual({
    total: 6,
    twice: ['twice'],
    unasked: ['never-asked'],
  });
  expect(openUnsafeCalls(log)).toEqual(['open']);
});

test('waits for the disk at messages, unsafe effects, approvals and the stop', { ...needs('strace'), timeout: 60_000 }, async () => {
  await using home = new TestHome();
  const trace = join(home.path, '..', 'trace.txt');
  const child = fileURLToPath(new URL('barrier-child.ts', import.meta.url));
  const marks = join(home.path, '..', 'marks.txt');
  const calls = ['-f', '-e', 'trace=fdatasync,fsync,write', '-s', '40', '-o', trace];
  const ran = spawnSync('strace', [...calls, process.execPath, child, home.path, marks], { encoding: 'utf8' });
  expect([ran.status, ran.stderr]).toEqual([0, '']);
  const syncs = countSyncs(readFileSync(trace, 'utf8'));
  expect(syncs).toEqual({
    accepted: 1,
    // A pure call may run again, so nothing waits for the disk before it.
    'effect-pure': 0,
    waiting: 1,
    // The answer and the request, each written before the effect.
    'effect-unsafe': 2,
    done: 0,
    // The event; then the write-ahead log is checkpointed and the head file records it, so that neither can be rewound unnoticed.
    stopped: 5,
    released: 5,
  });
});

/** Disk syncs between marks, by the mark at which they end. */
function countSyncs(trace: string): Record<string, number> {
  const counts: Record<string, number> = {};
  let syncs: number | null = null;
  for (const line of trace.split('\n')) {
    if (/\b(fdatasync|fsync)\(\d+/.test(line)) syncs = syncs === null ? null : syncs + 1;
    const name = /MARK ([a-z-]+)/.exec(line)?.[1];
    if (name === undefined) continue;
    if (syncs !== null) counts[name] = syncs;
    syncs = 0;
  }
  return counts;
}
