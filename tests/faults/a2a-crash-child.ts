// A program that is killed while it works for another program, or while another works for it. Its A2A door has a given port.

import * as z from 'zod';
import { systemClock } from '../../core/base/clock.ts';
import { silentLogger } from '../../core/base/logger.ts';
import { createHttpDoor } from '../../core/doors/http/http.ts';
import { jobOptions, seeThrough, startJobProgram } from './job-program.ts';

const optionsSchema = z.strictObject({
  ...jobOptions,
  port: z.number(),
  /** The task to run to its end; null serves until the process is killed. */
  job: z.number().nullable(),
});
const { port, job, ...options } = optionsSchema.parse(JSON.parse(process.argv[2] ?? ''));
const claw = await startJobProgram(options);
const door = createHttpDoor({
  claw,
  routes: claw.routes,
  token: 'of-the-window-and-of-no-other-door',
  logger: silentLogger,
  clock: systemClock,
  assetsFolder: null,
  version: 'test',
});
await door.listen({ port });
process.stdout.write('ready\n');
if (job !== null) await seeThrough(claw, job);
else await new Promise<void>((resolve) => process.once('SIGTERM', () => resolve()));
await door.close();
await claw.close();
