// A simulated day of a whole program: the clock runs fast, schedules fire, the heartbeat runs, signals arrive, and afterwards nothing is
// left over. The long run simulates a whole day and prints the figures.

import { readdirSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { TrayClaw } from '../../core/index.ts';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { TestHome } from './test-home.ts';
import { isSoak, soak } from '../soak.ts';
import { needs } from '../needs.ts';

const hours = soak(1, 24);
const MINUTE_MS = 60_000;

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

async function whenIdle(claw: TrayClaw): Promise<void> {
  const { sessions } = await claw.op('session.list', { limit: 1000 });
  if (!sessions.some(({ status }) => status === 'running')) return;
  await new Promise((resolve) => setImmediate(resolve));
  await whenIdle(claw);
}

/** A minute of an ordinary day: the scheduler runs, and now and then a signal arrives. */
async function liveMinute(claw: TrayClaw, minute: number): Promise<void> {
  // A change of any schedule makes the scheduler check at once; otherwise the test would have to wait for its next minute.
  const { schedules } = await claw.op('schedule.list', {});
  await claw.op('schedule.update', { scheduleId: schedules[0]?.scheduleId ?? '', enabled: true });
  const attention = minute % 9 === 0 ? 'run' : 'observe';
  if (minute % 3 === 0) await claw.op('signal.send', { name: 'traffic', text: `tick ${minute}`, attention });
  await new Promise((resolve) => setTimeout(resolve, 1));
  await whenIdle(claw);
}

function openFiles(): number {
  return readdirSync('/proc/self/fd').length;
}

test('hours of schedules and signals leave open files and memory unchanged', { ...needs('Linux'), timeout: 1_800_000 }, async () => {
  await using home = new TestHome();
  await using model = await ScriptedModel.start([{ answer: { text: 'Seen.' } }]);
  home.configure({ ...model.config('openai'), heartbeat: { everyMinutes: 30 }, signals: { limits: { runsPerHour: 1000 } } });
  let aheadMs = 0;
  // Both clocks advance together: time passes without a jump.
  const clock = { nowMs: () => Date.now() + aheadMs, monotonicMs: () => performance.now() + aheadMs };
  const claw = await home.open({ clock });
  for (const minutes of [5, 7, 10, 15]) {
    await claw.op('schedule.create', {
      name: `every ${minutes}`,
      prompt: 'Look.',
      session: minutes === 15 ? 'new' : 'own',
      spec: { kind: 'every', everyMs: minutes * MINUTE_MS },
    });
  }
  let asked = 0;
  const figures: { hour: number; heapMb: number; files: number }[] = [];
  for (let minute = 1; minute <= hours * 60; minute++) {
    aheadMs += MINUTE_MS;
    await liveMinute(claw, minute);
    if (minute % 60 === 0) {
      // The records of the model double are not the program's memory.
      asked += model.requests.splice(0).length;
      collectGarbage();
      figures.push({ hour: minute / 60, heapMb: Math.round(process.memoryUsage().heapUsed / 104_857.6) / 10, files: openFiles() });
    }
  }
  const { schedules } = await claw.op('schedule.list', {});
  const fires = await Promise.all(
    schedules.map(async ({ scheduleId }) => (await claw.op('schedule.get', { scheduleId, limit: 200 })).last),
  );
  if (isSoak) {
    process.stdout.write(`${JSON.stringify({ runs: fires.map((last) => last.length), asked, figures })}\n`);
  }
  for (const [index, { spec }] of schedules.entries()) {
    const everyMs = spec.kind === 'every' ? spec.everyMs : MINUTE_MS;
    const last = fires[index] ?? [];
    expect(last.every(({ disposition, status }) => disposition === 'overlap' || (disposition === 'run' && status === 'done'))).toBe(true);
    expect(last.length).toBe(Math.min(200, Math.floor((hours * 60 * MINUTE_MS) / everyMs)));
  }
  const [first, last] = [figures[0], figures.at(-1)];
  expect(last?.files).toBeLessThanOrEqual((first?.files ?? 0) + 3);
  expect((await claw.op('audit.verify', {})).ok).toBe(true);
});
