// The program that is killed while agents call each other: a real runtime on a data folder, one job, ended at a named place if asked to.

import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { RuntimeOptions } from '../../core/compose.ts';
import { createTrayClaw, defineTool } from '../../core/index.ts';

const optionsSchema = z.strictObject({ home: z.string(), job: z.number(), point: z.string().nullable(), nth: z.number() });
const { home, job, point, nth } = optionsSchema.parse(JSON.parse(process.argv[2] ?? ''));
let left = nth;

const note = defineTool({
  name: 'note',
  description: 'Adds a line to the ledger.',
  input: z.strictObject({ who: z.string() }),
  class: 'read',
  idempotency: () => 'idempotent',
  facts: () => ({ class: 'read', paths: [], command: null, hosts: [] }),
  summarize: ({ who }) => `note ${who}`,
  run: ({ who }, { idempotencyKey }) => {
    appendFileSync(join(home, '..', 'ledger.txt'), `${who} ${idempotencyKey}\n`);
    return Promise.resolve({ forModel: 'noted' });
  },
});

const options: RuntimeOptions = {
  home,
  tools: [note],
  faults: {
    crashPoints: {
      reach: (reached) => {
        if (reached !== point) return;
        left -= 1;
        if (left > 0) return;
        process.kill(process.pid, 'SIGKILL');
        // The signal may take a moment; nothing may happen in it.
        for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      },
    },
  },
};
const claw = await createTrayClaw(options);
const { turnId } = await claw.op('message.send', { text: `job ${job} start`, sessionId: `jobs-${job}`, dedupeKey: `job-${job}` });
await claw.op('turn.wait', { turnId });
/** The helper in the background has told, and the turn that heard of it has ended. */
const isOver = async (): Promise<boolean> => {
  if ((await claw.op('helper.list', {})).helpers.length > 0) return false;
  const { events } = await claw.op('session.get', { sessionId: `jobs-${job}`, types: ['turn.finished'] });
  return events.length === 2;
};
for await (const event of claw.events({ after: 0 })) if (event.type === 'turn.finished' && (await isOver())) break;
await claw.close();
