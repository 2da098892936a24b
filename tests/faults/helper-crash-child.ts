// The program that is killed while agents call each other: one job with one data folder.

import * as z from 'zod';
import { jobOptions, seeThrough, startJobProgram } from './job-program.ts';

const { job, ...options } = z.strictObject({ ...jobOptions, job: z.number() }).parse(JSON.parse(process.argv[2] ?? ''));
const claw = await startJobProgram(options);
await seeThrough(claw, job);
/** True once the background subagent has reported and the turn that received its report has ended. */
const isOver = async (): Promise<boolean> => {
  if ((await claw.op('helper.list', {})).helpers.length > 0) return false;
  const { events } = await claw.op('session.get', { sessionId: `jobs-${job}`, types: ['turn.finished'] });
  return events.length === 2;
};
for await (const event of claw.events({ after: 0 })) if (event.type === 'turn.finished' && (await isOver())) break;
await claw.close();
