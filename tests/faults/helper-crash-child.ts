// The program that is killed while agents call each other: one job on a data folder.

import * as z from 'zod';
import { jobOptions, seeThrough, startJobProgram } from './job-program.ts';

const { job, ...options } = z.strictObject({ ...jobOptions, job: z.number() }).parse(JSON.parse(process.argv[2] ?? ''));
const claw = await startJobProgram(options);
await seeThrough(claw, job);
/** The helper in the background has told, and the turn that heard of it has ended. */
const isOver = async (): Promise<boolean> => {
  if ((await claw.op('helper.list', {})).helpers.length > 0) return false;
  const { events } = await claw.op('session.get', { sessionId: `jobs-${job}`, types: ['turn.finished'] });
  return events.length === 2;
};
for await (const event of claw.events({ after: 0 })) if (event.type === 'turn.finished' && (await isOver())) break;
await claw.close();
