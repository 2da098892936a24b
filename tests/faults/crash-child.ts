// The process that is killed: a real runtime with a data folder that runs jobs with real tools and reports over a pipe what was promised to
// it. Every line is written synchronously, so a report made before a kill has arrived.

import { appendFileSync, writeSync } from 'node:fs';
import * as z from 'zod';
import type { RuntimeOptions } from '../../core/compose.ts';
import { createTrayClaw, defineTool, type TrayClaw, type ToolDefinition } from '../../core/index.ts';
import { Killer } from './killer.ts';
import { crashChildOptionsSchema, type CrashChildOptions, type CrashReport } from './crash-protocol.ts';
import { eventsOf, replayEveryTurn } from './replay-check.ts';

const REPORTS_FD = 3;

function tell(report: CrashReport): void {
  writeSync(REPORTS_FD, JSON.stringify(report) + '\n');
}

/** An effect outside the data folder: one line each time it really happened. */
function createStamp(ledger: string, killer: Killer): ToolDefinition {
  return defineTool({
    name: 'stamp',
    description: 'Adds a line to the ledger.',
    input: z.strictObject({}),
    class: 'exec',
    idempotency: () => 'unsafe',
    facts: (_args, context) => ({ class: 'exec', paths: [], command: { line: 'stamp', cwd: context.workspace }, hosts: [] }),
    summarize: () => 'stamp the ledger',
    run: (_args, context) => {
      killer.reach('during-run');
      appendFileSync(ledger, `${context.callId}\n`);
      killer.reach('during-run');
      return Promise.resolve({ forModel: 'stamped' });
    },
  });
}

class Worker {
  readonly #claw: TrayClaw;
  readonly #options: CrashChildOptions;
  #answers = 0;

  constructor(claw: TrayClaw, options: CrashChildOptions) {
    this.#claw = claw;
    this.#options = options;
  }

  /** Finishes everything an earlier run left; reports the questions to a person. */
  async finishWhatWasLeft(): Promise<void> {
    const { outcomes } = await this.#claw.op('outcome.list', {});
    tell({ kind: 'recovered', unknown: outcomes.map((outcome) => outcome.callId) });
    for (const turnId of await this.#openTurns()) await this.#bringToRest(turnId);
    for (const outcome of outcomes) tell({ kind: 'still-unknown', is: await this.#isUnknown(outcome.callId), callId: outcome.callId });
  }

  async doJob(job: number): Promise<void> {
    const sent = await this.#claw.op('message.send', { text: `job ${job}`, dedupeKey: `job-${job}`, sessionId: `jobs-${job % 3}` });
    tell({ kind: 'accepted', turnId: sent.turnId, job });
    await this.#bringToRest(sent.turnId);
  }

  async #bringToRest(turnId: string): Promise<void> {
    for (let round = 0; round < 40; round++) {
      const result = await this.#claw.op('turn.wait', { turnId, timeoutMs: 20_000 });
      if (result.status !== 'waiting') {
        const replay = await this.#claw.op('replay.run', { turnId });
        tell({ kind: 'ended', turnId, status: result.status, identical: replay.identical, error: result.error?.message ?? '' });
        return;
      }
      await this.#answerOutcomes();
      await this.#answerApprovals(turnId);
    }
    throw new Error(`turn ${turnId} does not come to rest`);
  }

  async #answerOutcomes(): Promise<void> {
    const { outcomes } = await this.#claw.op('outcome.list', {});
    for (const { callId } of outcomes) {
      const answer = (['done', 'retry', 'abandon'] as const)[(this.#options.firstAnswer + this.#answers) % 3] ?? 'done';
      this.#answers += 1;
      tell({ kind: 'answering', callId, answer });
      await this.#claw.op('outcome.settle', { callId, answer });
      tell({ kind: 'answered', callId, answer });
    }
  }

  async #answerApprovals(turnId: string): Promise<void> {
    for (;;) {
      const { approvals } = await this.#claw.op('approval.list', {});
      const approval = approvals.find((one) => one.turnId === turnId);
      if (approval === undefined) return;
      const scope =
        approval.widerScope === null || approval.tool === 'write_file' ? ({ kind: 'once' } as const) : ({ kind: 'always' } as const);
      await this.#claw.op('approval.decide', { approvalId: approval.approvalId, decision: 'approve', scope });
    }
  }

  async #isUnknown(callId: string): Promise<boolean> {
    const { outcomes } = await this.#claw.op('outcome.list', {});
    return outcomes.some((outcome) => outcome.callId === callId);
  }

  async #openTurns(): Promise<string[]> {
    const turns = new Set<string>();
    const { sessions } = await this.#claw.op('session.list', { limit: 1000 });
    for (const { sessionId } of sessions) {
      for await (const { turnId, type } of eventsOf(this.#claw, sessionId)) {
        if (turnId === null) continue;
        if (type === 'user.message') turns.add(turnId);
        if (type === 'turn.finished') turns.delete(turnId);
      }
    }
    return [...turns];
  }
}

async function tellEvents(claw: TrayClaw, after: number): Promise<void> {
  for await (const { seq, sessionId, sessionSeq, type } of claw.events({ after }))
    tell({ kind: 'event', seq, sessionId, sessionSeq, type });
}

const options = crashChildOptionsSchema.parse(JSON.parse(process.argv[2] ?? ''));
const killer = new Killer(options, (point) => {
  tell({ kind: 'dying', point });
});
const runtime: RuntimeOptions = {
  home: options.home,
  config: { ...options.config, limits: { sameCall: 100 } },
  tools: [createStamp(options.ledger, killer)],
  faults: { crashPoints: killer },
};
const claw = await createTrayClaw(runtime);
tell({ kind: 'open' });
void tellEvents(claw, options.afterSeq);
const worker = new Worker(claw, options);
await worker.finishWhatWasLeft();
killer.isArmed = true;
for (let job = options.firstJob; job < options.firstJob + options.jobs; job++) await worker.doJob(job);
const replay = await replayEveryTurn(claw);
tell({ kind: 'survived', different: [...replay.different] });
await claw.close();
