// Kills while agents call each other, at named points and at random moments: every call has one subagent, every subagent one end, and every
// end is reported once. Few kills in every run, many in the long one.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createRandom } from '../fuzz/random.ts';
import { bodies, call, eventsOf, help, HelperRig } from '../program/helper-rig.ts';
import { soak } from '../soak.ts';
import { onBuiltCore } from '../program-file.ts';

const KILLS = soak(2, 100);
const child = fileURLToPath(new URL('helper-crash-child.ts', import.meta.url));
const points = ['helper-called', 'helper-submitted', 'helper-finished', 'accepted', 'after-request', 'after-effect', 'after-result', null];

interface Kill {
  readonly point: string | null;
  readonly nth: number;
  /** Kills it from outside after this time; null if a point is named. */
  readonly afterMs: number | null;
}

/** Resolves to true if it was killed before its job was done. */
async function run(home: string, job: number, { point, nth, afterMs }: Kill): Promise<boolean> {
  const running = spawn(process.execPath, [...onBuiltCore, child, JSON.stringify({ home, job, point, nth })], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  running.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const timer = afterMs === null ? undefined : setTimeout(() => running.kill('SIGKILL'), afterMs);
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
    running.once('close', (exit, by) => resolve([exit, by])),
  );
  clearTimeout(timer);
  if (signal === 'SIGKILL') return true;
  expect({ code, errors }).toEqual({ code: 0, errors: '' });
  return false;
}

test(
  `${KILLS} kills while agents call each other lose no subagent and run none twice`,
  async () => {
    const rig = await HelperRig.start();
    try {
      rig.model.script([
        { user: 'was started in the background', answer: { text: 'heard' } },
        { user: /^Inner/, results: 0, answer: ({ userText }) => ({ calls: [call('note', { who: userText.slice(0, 7) })] }) },
        { user: /^Inner/, answer: { text: 'inner done' } },
        { user: /^Outer/, results: 0, answer: { calls: [help('Inner 1'), help('Inner 2')] } },
        { user: /^Outer/, answer: { text: 'outer done' } },
        { user: /^Aside/, results: 0, answer: { calls: [call('note', { who: 'Aside 1' })] } },
        { user: /^Aside/, answer: { text: 'aside done' } },
        { user: 'start', results: 0, answer: { calls: [call('spawn', { task: 'Aside' }), help('Outer')] } },
        { answer: { text: 'all done' } },
      ]);
      rig.home.configure(rig.model.config('openai'));
      const random = createRandom(Number(process.env['TRAYCLAW_SEED'] ?? 6));
      let kills = 0;
      let jobs = 0;
      for (; kills < KILLS; jobs += 1) {
        for (let attempt = 0; ; attempt += 1) {
          const point = random.pick(points);
          const isLast = attempt >= 6;
          const afterMs = point === null && !isLast ? 600 + random.below(1_500) : null;
          const killed = await run(rig.home.path, jobs, { point: isLast ? null : point, nth: 1 + random.below(4), afterMs });
          if (!killed) break;
          kills += 1;
        }
      }
      const claw = await rig.home.open();
      const events = await eventsOf(claw);
      const called = bodies(events, 'a2a.called');
      const ended = bodies(events, 'a2a.finished');
      expect(new Set(called.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(4 * jobs);
      expect([called.length, bodies(events, 'a2a.started').length, ended.length]).toEqual([4 * jobs, 4 * jobs, 4 * jobs]);
      expect(ended.filter(({ status }) => status !== 'done')).toEqual([]);
      const told = bodies(events, 'user.message').flatMap(({ dedupeKey }) => (dedupeKey?.startsWith('a2a:') === true ? [dedupeKey] : []));
      expect([told.length, new Set(told).size]).toEqual([jobs, jobs]);
      // An interrupted call may run again with its key, but never with another.
      const ledger = readFileSync(join(rig.home.path, '..', 'ledger.txt'), 'utf8')
        .trim()
        .split('\n');
      expect(new Set(ledger).size).toBe(3 * jobs);
      const ends = bodies(events, 'turn.finished');
      expect([ends.length, ends.filter(({ status }) => status !== 'done')]).toEqual([6 * jobs, []]);
      expect((await claw.op('audit.verify', {})).ok).toBe(true);
      expect((await rig.home.close(claw)).different).toEqual([]);
      if (KILLS > 2) process.stdout.write(`${JSON.stringify({ kills, jobs, helpers: called.length, effects: ledger.length })}\n`);
    } finally {
      await rig.dispose();
    }
  },
  60_000 + KILLS * 15_000,
);
