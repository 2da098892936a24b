// The program of the crash tests with jobs: a real runtime with a tool whose effect is a line in a ledger, killed at a named point on
// request.

import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { RuntimeOptions } from '../../core/compose.ts';
import { createTrayClaw, defineTool, type TrayClaw } from '../../core/index.ts';
import { Killer } from './killer.ts';

export const jobOptions = { home: z.string(), point: z.string().nullable(), nth: z.number() };

export async function startJobProgram({ home, point, nth }: z.infer<z.ZodObject<typeof jobOptions>>): Promise<TrayClaw> {
  const killer = new Killer({ point, nth, armedFromStart: true }, () => undefined);
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
  const options: RuntimeOptions = { home, tools: [note], faults: { crashPoints: { reach: (reached) => killer.reach(reached) } } };
  return createTrayClaw(options);
}

/** Sends a job and waits for its turn; after a crash the message is recognised by its key. */
export async function seeThrough(claw: TrayClaw, job: number): Promise<void> {
  const { turnId } = await claw.op('message.send', { text: `job ${job} start`, sessionId: `jobs-${job}`, dedupeKey: `job-${job}` });
  await claw.op('turn.wait', { turnId });
}
