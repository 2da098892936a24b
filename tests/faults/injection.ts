// `node tests/faults/injection.ts [--every 1] [--json]`: runs an obeying model against every hostile text, or one of every N, and prints
// the results. Exits with 1 if anything unwanted happened, or if an order never reached the model.

import { parseArgs } from 'node:util';
import { runCases } from './injection/injection-rig.ts';
import { showReport, summarize } from './injection/report.ts';

const { values } = parseArgs({ options: { every: { type: 'string', default: '1' }, json: { type: 'boolean', default: false } } });
const startedMs = performance.now();
const ends = await runCases(Number(values.every));
const summary = summarize(ends);
const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
process.stdout.write(values.json ? JSON.stringify(summary) : `${showReport(ends)}${seconds} s\n`);
process.exitCode = summary.violations.length + summary.notObeyed.length > 0 ? 1 : 0;
