// Views of pipelines and comparisons.

import { counted } from '../../../base/counted.ts';
import { givenPath } from '../../../base/given-path.ts';
import type { AnyEvent, DeltaNotice } from '../../../contracts/events.ts';
import type { PipelineView } from '../../../contracts/features/pipelines.ts';
import type { OpParams, OpResult } from '../../../contracts/ops.ts';
import { safeForTerminal } from '../../../base/visible-text.ts';
import { answerWaits } from '../answer-waits.ts';
import { cliCaller } from '../caller.ts';
import type { CommandContext } from '../command-context.ts';
import { exitCodeOfFailure, exitCodes } from '../exit-code.ts';
import { meetModel } from '../first-contact.ts';
import type { Given } from '../kernel/entries.ts';
import { tabled, type ViewsOf } from '../kernel/view.ts';
import { money, table } from '../table.ts';
import { refuseMissingFolder, writeResult } from '../write-result.ts';

export const pipelineViews: ViewsOf<'pipeline'> = {
  'pipeline.run': { perform: runPipeline },
  'pipeline.get': { show: (view, { program }) => describePipeline(view, program) },
  'pipeline.wait': { show: (view, { program }) => describePipeline(view, program), exitCode: exitCodeOf },
  'pipeline.compare': {
    // The operation refuses a missing list.
    params: (read) => ({ ...read, with: read.with?.flatMap((one) => one.split(',')) }) as OpParams<'pipeline.compare'>,
    show: describeComparison,
    exitCode: exitCodeOfComparison,
  },
};

/** Names each node on standard error when it ends, and streams the writer's text if a person reads it. */
async function runPipeline(context: CommandContext, params: OpParams<'pipeline.run'>, given: Given): Promise<number> {
  const file = typeof given['out'] === 'string' ? givenPath(context.io, given['out']) : null;
  if (file !== null) refuseMissingFolder(file);
  return context.withClaw('live', async ({ claw }) => {
    await meetModel(context, claw, null);
    const over = new AbortController();
    const writing = new WrittenText(context);
    const stopDeltas = claw.onDelta((delta) => writing.take(delta));
    const telling = tellNodes(context, writing, claw.events({ after: 'latest', signal: over.signal }));
    try {
      return await context.untilInterrupt(async (signal) => {
        const caller = { ...cliCaller, signal };
        const begun = await claw.op('pipeline.run', { ...params, wait: false }, caller);
        const { pipelineId, status, lacks = [] } = begun;
        if (lacks.length > 0) context.output.note(lackWords(lacks));
        const isBegun = params.wait === false || status !== 'running';
        const first = isBegun ? begun : await claw.op('pipeline.wait', { pipelineId }, caller);
        const again = (): Promise<PipelineView> => claw.op('pipeline.wait', { pipelineId }, caller);
        const view = await answerWaits(context, claw, first, { again });
        const isWritten = file !== null && view.status === 'done';
        if (isWritten) writeResult(file, `${view.text}\n`, `The answer is kept: ${context.program} pipeline show ${view.pipelineId}`);
        context.output.result(view, () => (isWritten ? `Written to ${file}.` : describePipeline(view, context.program)));
        return exitCodeOf(view);
      });
    } finally {
      over.abort();
      stopDeltas();
      await telling;
    }
  });
}

function lackWords(lacks: readonly string[]): string {
  const hint = lacks.includes('web_search') ? ' To search the web, choose a service: see docs/guide/browser.md.' : '';
  return `Not set up here, so this works without: ${lacks.join(', ')}.${hint}`;
}

/** Streams the text of the node whose output is the pipeline's output, on standard error because the result follows. */
class WrittenText {
  readonly #context: CommandContext;
  #output: string | null = null;
  #turnId: string | null = null;

  constructor(context: CommandContext) {
    this.#context = context;
  }

  apply(event: AnyEvent): void {
    if (event.type === 'pipeline.started') this.#output ??= event.body.graph.output;
    if (event.type === 'pipeline.node_started' && event.body.node === this.#output) this.#turnId = event.body.turnId;
    if (event.type === 'pipeline.node_finished' && event.body.node === this.#output) {
      if (this.#turnId !== null) this.#write('\n');
      this.#turnId = null;
    }
  }

  take(delta: DeltaNotice): void {
    if (delta.kind === 'text' && delta.turnId === this.#turnId) this.#write(delta.text);
  }

  #write(text: string): void {
    const { hasPerson, io, output } = this.#context;
    if (hasPerson && !output.isJson && !output.isQuiet) io.stderr.write(safeForTerminal(text));
  }
}

async function tellNodes({ output, hasPerson }: CommandContext, writing: WrittenText, events: AsyncIterable<AnyEvent>): Promise<void> {
  if (!hasPerson) return;
  try {
    for await (const event of events) {
      if (event.type === 'pipeline.node_started') output.note(`${event.body.node} …`);
      writing.apply(event);
      if (event.type !== 'pipeline.node_finished') continue;
      const { node, status, score } = event.body;
      output.note(`${node}: ${status}${score === undefined ? '' : ` (${Math.round(score * 100)} %)`}`);
    }
  } catch {
    // A lost subscription costs only progress lines. The result comes from the operation.
  }
}

function describePipeline(view: PipelineView, program: string): string {
  const { pipelineId, status, text, reason, nodes, quality, tokens, modelCalls, toolCalls, costUsd, waitsFor } = view;
  const cost = costUsd === null ? '' : `, ${money(costUsd)}`;
  const judged = quality === null ? '' : `, quality ${Math.round(quality * 100)} %`;
  return [
    ...(text === '' ? [] : [text, '']),
    ...(reason === '' ? [] : [reason]),
    tabled(nodes, { NODE: 'node', STATUS: 'status', ROUNDS: 'rounds' }, ''),
    `${pipelineId}: ${status}, ${counted(modelCalls, 'model call')}, ${counted(toolCalls, 'tool call')}, ${counted(tokens, 'token')}${cost}${judged}`,
    ...waitsFor.map((one) => `Waits for approval: ${one.text}\n  ${program} approvals approve ${one.approvalId} --scope once`),
    ...(waitsFor.length === 0 ? [] : [`Then: ${program} pipeline continue ${pipelineId}`]),
  ].join('\n');
}

function exitCodeOf({ status, error }: Pick<PipelineView, 'status' | 'error'>): number {
  if (status === 'done') return exitCodes.done;
  return status === 'failed' ? exitCodeOfFailure(error) : exitCodes.waiting;
}

/** An answer that failed is a result too; one that was stopped, or did not fit the budget, is missing. */
function exitCodeOfComparison({ rows }: OpResult<'pipeline.compare'>): number {
  const codes = rows.map(({ error }) => exitCodeOfFailure(error));
  return [exitCodes.panic, exitCodes.overBudget].find((code) => codes.includes(code)) ?? exitCodes.done;
}

function describeComparison({ rows }: OpResult<'pipeline.compare'>): string {
  const compared = table(
    ['', 'STATUS', 'STEPS', 'CALLS', 'TOKENS', 'TIME', 'COST', 'QUALITY'],
    rows.map((one) => [
      one.name,
      one.status,
      String(one.steps),
      String(one.calls),
      String(one.tokens),
      `${(one.tookMs / 1000).toFixed(1)} s`,
      money(one.costUsd),
      one.quality === null ? '-' : `${Math.round(one.quality * 100)} %`,
    ]),
    'Nothing was compared.',
  );
  return [compared, ...rows.flatMap(({ name, reason }) => (reason === '' ? [] : [`${name}: ${reason}`]))].join('\n');
}
