// A program that is killed while it runs a pipeline, and that resumes the pipeline when it is started again.

import * as z from 'zod';
import { jobOptions, startJobProgram } from './job-program.ts';

const optionsSchema = z.strictObject({ ...jobOptions, pipeline: z.string(), job: z.number() });
const { pipeline, job, ...options } = optionsSchema.parse(JSON.parse(process.argv[2] ?? ''));
const claw = await startJobProgram(options);
// Jobs run one after the other, so if there are more runs than earlier jobs, the newest run belongs to this job.
const { pipelines } = await claw.op('pipeline.list', { limit: 200 });
const known = pipelines.length > job ? pipelines[0] : undefined;
const { pipelineId } = known ?? (await claw.op('pipeline.run', { pipeline, text: `job-${job}`, wait: false }));
await claw.op('pipeline.wait', { pipelineId });
await claw.close();
