// A program that is killed while it works through a pipeline, and takes it up again when it is started again.

import * as z from 'zod';
import { jobOptions, startJobProgram } from './job-program.ts';

const optionsSchema = z.strictObject({ ...jobOptions, pipeline: z.string(), job: z.number() });
const { pipeline, job, ...options } = optionsSchema.parse(JSON.parse(process.argv[2] ?? ''));
const claw = await startJobProgram(options);
// Jobs come one after the other: the newest run is this one's where there are more than came before.
const { pipelines } = await claw.op('pipeline.list', { limit: 200 });
const known = pipelines.length > job ? pipelines[0] : undefined;
const { pipelineId } = known ?? (await claw.op('pipeline.run', { pipeline, text: `job-${job}`, wait: false }));
await claw.op('pipeline.wait', { pipelineId });
await claw.close();
