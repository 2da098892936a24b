import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/logger.ts';
import { hasTmpfsAt, parseStat } from './process-table-linux.ts';
import { createMacProcessTable, parsePsTable } from './process-table-mac.ts';
import type { ProcessRow } from './process-table-port.ts';
import { createProcessTable } from './process-table.ts';
import { findMembers, ProcessTrees } from './process-trees.ts';
import { needs } from '../../../tests/needs.ts';
import { ownNow } from '../../../tests/own-clock.ts';

const table = createProcessTable(process.platform);
const started: { child: ChildProcess; instance: string }[] = [];

function createTrees(own = table) {
  const instance = randomUUID();
  const trees = new ProcessTrees({
    // Excludes time in which other programs use the processors.
    clock: { ...systemClock, monotonicMs: ownNow },
    logger: silentLogger,
    table: own,
    environment: process.env,
    instanceMarker: { TRAYCLAW_INSTANCE: instance },
  });
  return { instance, trees };
}

/** Starts a script as exec does, and waits until it reports that everything it starts is running. */
async function start(script: string, trees: ProcessTrees, instance: string, call = randomUUID()) {
  const marker = { TRAYCLAW_CALL: call, TRAYCLAW_INSTANCE: instance };
  const child = spawn('bash', ['-c', script], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'], ...marker },
  });
  started.push({ child, instance });
  const { pid } = child;
  if (pid === undefined) throw new Error('bash did not start');
  const untrack = trees.track({ ...trees.recordOf(pid), marker });
  await once(child.stdout, 'data');
  return { child, pid, marker, untrack };
}

async function alive(instance: string): Promise<ProcessRow[]> {
  return ((await table?.list([`TRAYCLAW_INSTANCE=${instance}`])) ?? []).filter((row) => row.isMarked);
}

afterEach(async () => {
  for (const { child, instance } of started.splice(0)) {
    const left = await alive(instance);
    if (left.length > 0) throw new Error(`left running: ${left.map((row) => row.pid).join(', ')}`);
    // The child has ended; this process has to receive its exit event too.
    child.stdout?.destroy();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
});

// A child, a setsid child, and a double fork whose parents have ended: a child of init in a separate session, with its own child.
const hiding = `
trap '' TERM HUP INT
sleep 300 &
setsid sleep 300 &
( ( setsid bash -c 'sleep 300 & echo ready; exec sleep 300' & ) & )
wait`;
const hidingCount = 5;

/** Waits until exactly this many processes of the instance are alive: the intermediate processes of a double fork take a moment to end. */
async function settled(instance: string, count: number): Promise<void> {
  const deadlineMs = performance.now() + 5000;
  let found = await alive(instance);
  while (found.length !== count && performance.now() < deadlineMs) {
    await new Promise(setImmediate);
    found = await alive(instance);
  }
  expect(found.length).toBe(count);
}

test('ends a tree with everything that hides from it', async () => {
  const { instance, trees } = createTrees();
  const { pid } = await start(hiding, trees, instance);
  await settled(instance, hidingCount);
  const report = await trees.kill(pid);
  expect(report).toEqual({ killed: 5, survivors: 0, tookMs: expect.any(Number) });
  expect(await alive(instance)).toEqual([]);
});

test('ends one tree without touching another', async () => {
  const { instance, trees } = createTrees();
  const first = await start(hiding, trees, instance);
  const second = await start(hiding, trees, instance);
  await settled(instance, 2 * hidingCount);
  expect(await trees.kill(first.pid)).toMatchObject({ killed: 5 });
  expect((await alive(instance)).length).toBe(5);
  first.untrack();
  expect(trees.size).toBe(1);
  expect(await trees.killAll()).toMatchObject({ killed: 5, survivors: 0 });
  second.untrack();
});

test('finds children that dropped the marker by parent, group and session', async () => {
  const { instance, trees } = createTrees();
  const bare = `
env -i /bin/sleep 301 &
env -i /usr/bin/setsid /bin/sleep 301 &
echo ready; wait`;
  const { pid } = await start(bare, trees, instance);
  await settled(instance, 1);
  expect(await trees.kill(pid)).toMatchObject({ killed: 3, survivors: 0 });
});

test('a stop finds processes that outlived their call', async () => {
  const { instance, trees } = createTrees();
  const { child, untrack } = await start(`(setsid sleep 300 >/dev/null 2>&1 &); echo ready`, trees, instance);
  if (child.exitCode === null) await once(child, 'exit');
  untrack();
  expect(trees.size).toBe(0);
  expect(await trees.killAll()).toMatchObject({ killed: 1, survivors: 0 });
});

test('ends stopped processes and a storm of new ones', async () => {
  const { instance, trees } = createTrees();
  const { pid } = await start(`sleep 300 & kill -STOP $!; (while :; do sleep 300 & sleep 0.001; done) & echo ready; wait`, trees, instance);
  expect(await trees.kill(pid)).toMatchObject({ survivors: 0 });
  expect(await alive(instance)).toEqual([]);
});

test('twenty trees with hiding children end quickly and completely', async () => {
  const { instance, trees } = createTrees();
  await Promise.all(Array.from({ length: 20 }, () => start(hiding, trees, instance)));
  await settled(instance, 20 * hidingCount);
  const report = await trees.killAll();
  expect(report).toMatchObject({ killed: 100, survivors: 0 });
  expect(await alive(instance)).toEqual([]);
  // The goal is 250 ms; a machine shared with others needs some margin.
  expect(report.tookMs).toBeLessThan(1000);
});

test('at boot ends leftovers of earlier runs, never one with another start time', async () => {
  const earlier = createTrees();
  const kept = await start(hiding, earlier.trees, earlier.instance);
  await settled(earlier.instance, hidingCount);
  const record = earlier.trees.recordOf(kept.pid);
  const { trees } = createTrees();
  expect(await trees.reap([{ pid: kept.pid, startTime: `${record.startTime}1` }], {})).toMatchObject({ killed: 0 });
  expect(
    await trees.reap(
      [
        { pid: kept.pid, startTime: '' },
        { pid: process.pid, startTime: trees.recordOf(process.pid).startTime },
      ],
      {},
    ),
  ).toMatchObject({ killed: 0 });
  expect((await alive(earlier.instance)).length).toBe(5);
  // By record alone: the double fork has left the tree, and only the marker finds it.
  expect(await trees.reap([record], {})).toMatchObject({ killed: 3 });
  expect(await trees.reap([], { TRAYCLAW_INSTANCE: earlier.instance })).toMatchObject({ killed: 2, survivors: 0 });
});

test('an empty marker and an unknown pid end nothing', async () => {
  const { trees } = createTrees();
  expect(await trees.reap([], { TRAYCLAW_INSTANCE: '' })).toMatchObject({ killed: 0 });
  expect(await trees.kill(1)).toEqual({ killed: 0, tookMs: 0, survivors: 0 });
});

test('a marker matches whole entries only', async () => {
  const { trees, instance } = createTrees();
  const longer = await start('echo ready; wait; sleep 300', trees, `${instance}-and-more`);
  expect(await trees.killAll()).toMatchObject({ killed: 1 });
  const other = createTrees();
  const kept = await start('echo ready; sleep 300', other.trees, `${instance}-and-more`);
  longer.untrack();
  expect(await trees.killAll()).toMatchObject({ killed: 0 });
  expect(await other.trees.kill(kept.pid)).toMatchObject({ survivors: 0 });
});

test('members never include this process, its ancestors, or strangers', () => {
  const row = (pid: number, parentPid: number, more: Partial<ProcessRow> = {}): ProcessRow => ({
    pid,
    parentPid,
    startTime: `t${pid}`,
    groupId: pid,
    sessionId: pid,
    isDead: false,
    isMarked: false,
    ...more,
  });
  const rows = [
    row(1, 0),
    row(10, 1, { isMarked: true }),
    row(11, 10, { isMarked: true }),
    row(20, 11),
    row(21, 20, { groupId: 20, sessionId: 20 }),
    row(22, 1, { groupId: 20, sessionId: 20 }),
    row(23, 21),
    row(24, 1, { groupId: 23, sessionId: 23 }),
    row(25, 23, { isDead: true }),
    row(30, 11),
    row(40, 1),
  ];
  const pids = (roots: { pid: number; startTime: string }[]) =>
    findMembers(rows, { roots, known: new Map(), self: 11, allShielded: false }).map((member) => member.pid).sort((a, b) => a - b); // prettier-ignore
  expect(pids([{ pid: 20, startTime: 't20' }])).toEqual([20, 21, 22, 23, 24]);
  expect(pids([{ pid: 20, startTime: 'other' }])).toEqual([]);
  expect(pids([{ pid: 50, startTime: 't50' }])).toEqual([]);
});

test('finds shielded processes: those of a tree, or all', () => {
  const row = (pid: number, parentPid: number, shield?: string): ProcessRow => ({
    pid,
    startTime: `t${pid}`,
    parentPid,
    groupId: pid,
    sessionId: pid,
    isDead: false,
    isMarked: false,
    ...(shield === undefined ? {} : { shield }),
  });
  const rows = [row(1, 0), row(11, 1), row(20, 11), row(21, 20, 'mnt:[1]'), row(22, 1, 'mnt:[1]'), row(30, 1, 'mnt:[2]'), row(40, 1)];
  const roots = [{ pid: 20, startTime: 't20' }];
  const pids = (allShielded: boolean) =>
    findMembers(rows, { roots, known: new Map(), self: 11, allShielded }).map(({ pid }) => pid).sort((a, b) => a - b); // prettier-ignore
  expect([pids(false), pids(true)]).toEqual([
    [20, 21, 22],
    [20, 21, 22, 30],
  ]);
});

test('reads where a tmpfs is mounted, whatever the folder is called', () => {
  const mountinfo = [
    '36 35 0:52 / /home/ada/my\\040\\134data rw,nosuid - tmpfs tmpfs rw,size=4k',
    '37 35 8:1 / /home/ada/disk rw - ext4 /dev/sda1 rw',
    '',
  ].join('\n');
  expect(hasTmpfsAt(mountinfo, '/home/ada/my \\data')).toBe(true);
  for (const other of ['/home/ada', '/home/ada/disk', '/home/ada/my']) expect(hasTmpfsAt(mountinfo, other)).toBe(false);
});

test('ends what left its tree and cleared its environment, behind the shield of its call', needs('bubblewrap'), async () => {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-shield-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const { trees } = createTrees(createProcessTable(process.platform, realpathSync(home)));
  const script =
    '(setsid env -i sleep 300 >/dev/null 2>&1 &); setsid env -i sh -c "sleep 300 & sleep 300" >/dev/null 2>&1 & echo ready; exec sleep 300';
  const line = ['--dev-bind', '/', '/', '--tmpfs', home, '--', 'bash', '-c', script];
  const hidden = (): number => shieldedBy(home).length;
  const startShielded = async (): Promise<number> => {
    const before = hidden();
    const child = spawn('bwrap', line, { detached: true, stdio: 'ignore' });
    const pid = child.pid ?? 0;
    trees.track({ ...trees.recordOf(pid), marker: {} });
    await vi.waitFor(() => expect(hidden()).toBe(before + 5), { timeout: 5000 });
    return pid;
  };
  const first = await startShielded();
  await startShielded();
  await trees.kill(first);
  expect(hidden()).toBe(5);
  await trees.killAll();
  expect(hidden()).toBe(0);
});

function shieldedBy(home: string): readonly ProcessRow[] {
  const rows = createProcessTable(process.platform, realpathSync(home))?.list([]) ?? [];
  return 'then' in rows ? [] : rows.filter(({ shield, isDead }) => shield !== undefined && !isDead);
}

test('reads /proc stat lines whatever the command is called', () => {
  const tail = `S 1 20 30 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 987654 1000 10`;
  const expected = { pid: 7, startTime: 'b-987654', parentPid: 1, groupId: 20, sessionId: 30, isDead: false, isMarked: false };
  for (const name of ['sleep', 'a b', 'x) R 9 9 9', '((']) expect(parseStat(7, `7 (${name}) ${tail}`, 'b')).toEqual(expected);
  expect(parseStat(7, '7 (x) Z', 'b')).toBeNull();
});

test('reads the ps table of macOS', () => {
  const text = [
    '  501     1   501 Ss   Mon Jan  5 09:07:01 2026     /bin/zsh -l TRAYCLAW_INSTANCE=abc PATH=/bin',
    '  502   501   501 Z    Mon Jan  5 09:07:02 2026     (sleep)',
    '  503   501   501 S    Mon Jan 15 19:07:02 2026     sleep TRAYCLAW_INSTANCE=abcd',
    'rubbish',
  ].join('\n');
  expect(parsePsTable(text, ['TRAYCLAW_INSTANCE=abc'])).toEqual([
    { pid: 501, parentPid: 1, groupId: 501, sessionId: 0, startTime: 'Mon Jan 5 09:07:01 2026', isDead: false, isMarked: true },
    { pid: 502, parentPid: 501, groupId: 501, sessionId: 0, startTime: 'Mon Jan 5 09:07:02 2026', isDead: true, isMarked: false },
    { pid: 503, parentPid: 501, groupId: 501, sessionId: 0, startTime: 'Mon Jan 15 19:07:02 2026', isDead: false, isMarked: false },
  ]);
});

test('one ps run checks which of many are alive, and none runs for ended ones', () => {
  const asked: string[] = [];
  const there = new Map([
    [11, 'S     Mon Nov 23 07:17:52 2026'],
    [12, 'Z     Mon Nov 23 07:17:52 2026'],
    [13, 'Ss    Tue Nov  3 07:17:52 2026'],
  ]);
  const ps = (args: readonly string[]): string => {
    asked.push(args.join(' '));
    const pids = (args.at(-1) ?? '').split(',').map(Number);
    return pids.flatMap((pid) => (there.has(pid) ? [`${String(pid).padStart(5)} ${there.get(pid)}\n`] : [])).join('');
  };
  const mac = createMacProcessTable({ ps, isThere: (pid) => there.has(pid) });
  const since = 'Mon Nov 23 07:17:52 2026';
  const known = new Map([10, 11, 12, 13, 14].map((pid) => [pid, since]));
  expect(mac.alive(known)).toEqual([11]);
  expect(asked).toEqual(['-o pid=,stat=,lstart= -p 11,12,13']);
  expect(mac.alive(new Map([[10, since]]))).toEqual([]);
  expect(asked).toHaveLength(1);
  expect([mac.startTimeOf(13), mac.startTimeOf(99)]).toEqual(['Tue Nov 3 07:17:52 2026', null]);
});

test('a real ps tells a running process from an ended one and one with another time', needs('a Unix system'), async () => {
  const real = createMacProcessTable();
  const child = spawn('sleep', ['30'], { stdio: 'ignore' });
  const pid = child.pid ?? 0;
  const startTime = real.startTimeOf(pid) ?? '';
  expect(
    real.alive(
      new Map([
        [pid, startTime],
        [process.pid, startTime + ' before'],
      ]),
    ),
  ).toEqual([pid]);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(real.alive(new Map([[pid, startTime]]))).toEqual([]);
});
