// Views of eval runs. The texts come from the feature, so that every door shows the same.

import type { AnyEvent } from '../../../contracts/events.ts';
import type { OpParams, OpResult } from '../../../contracts/ops.ts';
import { cliCaller } from '../caller.ts';
import { meetModel } from '../first-contact.ts';
import type { CommandContext } from '../command-context.ts';
import { exitCodes } from '../exit-code.ts';
import { tabled, type ViewsOf } from '../kernel/view.ts';

export const evalViews: ViewsOf<'eval'> = {
  'eval.run': { perform: runEvals },
  'eval.get': {
    json: ({ exported, ...run }, { format }) => (format === undefined ? run : { ...run, exported }),
    show: ({ exported }) => exported,
  },
  'eval.stop': { show: ({ runId, stopped }) => (stopped ? `Stopped ${runId}.` : `Nothing to stop: ${runId} is not running.`) },
  'eval.compare': { show: describeComparison, exitCode: ({ worse }) => (worse.length === 0 ? exitCodes.done : exitCodes.failed) },
};

async function runEvals(context: CommandContext, params: OpParams<'eval.run'>): Promise<number> {
  const { output } = context;
  return context.withClaw('live', async ({ claw }) => {
    if (params.model === undefined) await meetModel(context, claw, null);
    const over = new AbortController();
    const telling = tellProgress(context, claw.events({ after: 'latest', signal: over.signal }));
    try {
      return await context.untilInterrupt(async (signal) => {
        const { exported, ...run } = await claw.op('eval.run', params, { ...cliCaller, signal });
        output.progress(null);
        output.result(run, () => exported);
        return run.failed + run.errors === 0 ? exitCodes.done : exitCodes.failed;
      });
    } finally {
      over.abort();
      await telling;
    }
  });
}

const BAR_CHARS = 20;

/** Shows a progress bar on a terminal once the first case has ended. */
async function tellProgress({ output }: CommandContext, events: AsyncIterable<AnyEvent>): Promise<void> {
  let [runId, planned, done, bad] = ['', 0, 0, 0];
  try {
    for await (const event of events) {
      if (event.type === 'eval.started' && runId === '') [runId, planned] = [event.body.runId, event.body.cases * event.body.repeat];
      if (event.type !== 'eval.case_finished' || event.body.runId !== runId) continue;
      done += 1;
      if (event.body.result.verdict !== 'pass') bad += 1;
      const full = Math.round((done / planned) * BAR_CHARS);
      const bar = `${'#'.repeat(full)}${'.'.repeat(BAR_CHARS - full)}`;
      output.progress(`[${bar}] ${done} of ${planned}${bad === 0 ? '' : `, ${bad} did not pass`}`);
    }
  } catch {
    // A lost subscription costs only the bar. The result comes from the operation.
  } finally {
    output.progress(null);
  }
}

function describeComparison({ better, worse, same, onlyOne, figures }: OpResult<'eval.compare'>): string {
  const shown = (value: number | null): string => (value === null ? 'unknown' : String(Math.round(value * 10_000) / 10_000));
  return [
    ...worse.map((name) => `worse   ${name}`),
    ...better.map((name) => `better  ${name}`),
    `${worse.length} worse, ${better.length} better, ${same} the same, ${onlyOne.length} in one run only`,
    tabled(figures, { FIGURE: 'figure', A: ({ a }) => shown(a), B: ({ b }) => shown(b) }, ''),
  ].join('\n');
}
