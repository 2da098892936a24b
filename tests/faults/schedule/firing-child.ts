// A process with three missed due times. It reads the clock all the time, inside transactions as well, and kills itself at the given
// reading. Without one it prints the results and exits.

import { setTimeout as sleep } from 'node:timers/promises';
import type { AnyEvent } from '../../../core/contracts/events.ts';
import { createTrayClaw } from '../../../core/index.ts';

const [home = '', dieAt = '0'] = process.argv.slice(2);
let readings = 0;

const claw = await createTrayClaw({
  home,
  clock: {
    nowMs: () => {
      readings += 1;
      if (readings === Number(dieAt)) process.kill(process.pid, 'SIGKILL');
      return Date.now();
    },
    monotonicMs: () => performance.now(),
  },
});

const isOver = async (): Promise<boolean> => {
  const { schedules } = await claw.op('schedule.list', {});
  return schedules.every(({ last }) => last.length > 0 && last.every(({ status }) => status === 'done'));
};
while (!(await isOver())) await sleep(20);

const { events: count, ok } = await claw.op('audit.verify', {});
const events: AnyEvent[] = [];
const enough = new AbortController();
for await (const event of claw.events({ after: 0, signal: enough.signal })) {
  events.push(event);
  if (events.length === count) enough.abort();
}
const fired = events.flatMap((event) => (event.type === 'schedule.fired' ? [event.body] : []));
const messages = events.filter((event) => event.type === 'user.message').length;
const answers = events.filter((event) => event.type === 'assistant.message').length;
await claw.close();
process.stdout.write(JSON.stringify({ ok, messages, answers, readings, fired: fired.map(({ disposition }) => disposition) }));
