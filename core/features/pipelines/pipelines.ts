// Pipelines: graphs of agents that run to the end across restarts, and comparisons with other ways to do the same task. Turns outside of
// pipelines pay nothing for this feature.

import { existsSync } from 'node:fs';
import { AppError, noSuch } from '../../contracts/errors.ts';
import { doors } from '../../contracts/doors.ts';
import { pipelineFileSchema, type PipelineFile } from '../../contracts/features/pipelines.ts';
import type { ServedCaller, OpHandlers, OpParsed, OpResult } from '../../contracts/ops.ts';
import { judgeFirmly } from '../../mind/asking/asking.ts';
import { errorOfTurn, readRunFile, RunRows, runTableSql } from '../../runtime/runs/runs.ts';
import { whenTurnEnds } from '../../runtime/turns/turns.ts';
import { sqlMigrations } from '../../store/storage/storage.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { builtInNames, builtInPipeline } from './built-in.ts';
import { graphFaults } from './graph.ts';
import { PipelineDesk } from './pipeline-desk.ts';

const table = { name: 'pipeline_runs', key: 'pipeline_id', family: 'pipeline', id: 'pipelineId' } as const;
const pipelineMigrations = sqlMigrations({
  'pipeline-001-runs': runTableSql(table),
});

type Taken = Pick<
  Spine,
  'clock' | 'closing' | 'ids' | 'log' | 'logger' | 'panic' | 'policy' | 'redactPrompt' | 'sources' | 'tools' | 'turns' | 'asking' | 'models'
>;

type Row = OpResult<'pipeline.compare'>['rows'][number];
type Parts = Taken & { readonly desk: PipelineDesk };

const LIST_MAX = 20;
const usualRubric = '- It answers what was asked\n- It is specific\n- It does not contradict itself';

export const pipelines = defineBuiltInFeature({
  name: 'pipelines',
  migrations: pipelineMigrations,
  rows: ({ db }) => new RunRows(db, table),
  create: (spine: Taken, rows: RunRows) => {
    const sourcesOf = (sessionId: string) => spine.sources.ofSession(sessionId);
    const desk = new PipelineDesk({ ...spine, rows, sourcesOf, defaultModel: () => spine.models.defaultRef() });
    const handlers = {
      'pipeline.run': ({ pipeline, text, wait }, caller) => {
        const pipelineId = start({ ...spine, desk }, pipeline, text, caller);
        return wait === false ? desk.runs.viewBegun(pipelineId) : desk.runs.whenResting(pipelineId, caller.signal);
      },
      'pipeline.list': ({ limit }) => ({ pipelines: desk.runs.list(limit ?? LIST_MAX) }),
      'pipeline.get': ({ pipelineId }) => desk.runs.view(desk.runs.named(pipelineId)),
      'pipeline.wait': ({ pipelineId }, { signal }) => desk.runs.whenResting(desk.runs.named(pipelineId), signal),
      'pipeline.compare': (params, caller) => compare({ ...spine, desk }, params, caller),
    } satisfies Partial<OpHandlers>;
    return { handlers, takeUp: () => desk.runs.takeUp(), dispose: () => desk.runs.dispose() };
  },
});

function start({ desk, sources }: Pick<Parts, 'desk' | 'sources'>, named: string, text: string, caller: ServedCaller): string {
  const graph = pipelineAt(named, caller);
  const untrusted = builtInPipeline(named) === null ? sources.ofFile(named) : [];
  return desk.start(named, graph, text, { channel: caller.channel, by: caller.actor, untrusted });
}

/** Fails with not_found, denied or invalid_params. */
function pipelineAt(named: string, caller: ServedCaller): PipelineFile {
  const builtIn = builtInPipeline(named);
  if (builtIn !== null) return builtIn;
  if (!doors[caller.channel].isHere) throw new AppError('denied', 'Only callers on this computer may name a file.');
  if (!existsSync(named)) throw noSuch('pipeline', named, builtInNames, `Name a file, or one of: ${builtInNames.join(', ')}`);
  return readRunFile(named, { schema: pipelineFileSchema, guide: 'pipelines.md', faults: graphFaults });
}

/** Measures one after the other, so that none waits for another's model. Fails before anything runs if a name is invalid. */
async function compare(parts: Parts, params: OpParsed<'pipeline.compare'>, caller: ServedCaller): Promise<OpResult<'pipeline.compare'>> {
  for (const name of params.with) {
    const kind = kindOf(name);
    if (kind === 'pipeline') pipelineAt(name, caller);
    if (kind === 'model') parts.models.assertKnown(name);
  }
  const rows: Row[] = [];
  for (const name of params.with) {
    caller.signal?.throwIfAborted();
    rows.push(await measure(parts, name, params, caller));
  }
  return { rows };
}

function kindOf(name: string): 'pipeline' | 'agent' | 'model' {
  if (name.startsWith('agent:')) return 'agent';
  return /^[\w.-]+\/[^/].*$/.test(name) && !/\.ya?ml$/.test(name) ? 'model' : 'pipeline';
}

async function measure(parts: Parts, name: string, params: OpParsed<'pipeline.compare'>, caller: ServedCaller): Promise<Row> {
  const { clock } = parts;
  const startedMs = clock.monotonicMs();
  const row =
    kindOf(name) === 'pipeline' ? await viaPipeline(parts, name, params.text, caller) : await viaTurn(parts, name, params.text, caller);
  const tookMs = Math.round(clock.monotonicMs() - startedMs);
  const { turnId: _turn, ...figures } = row;
  const quality = row.status === 'done' ? await judgeAnswer(parts, params, row, caller) : null;
  return { name, ...figures, tookMs, quality };
}

type Measured = Omit<Row, 'name' | 'tookMs' | 'quality'> & { readonly turnId: string };

async function viaPipeline(parts: Parts, name: string, text: string, caller: ServedCaller): Promise<Measured> {
  const view = await parts.desk.runs.whenResting(start(parts, name, text, caller), caller.signal);
  const steps = view.nodes.reduce((sum, { rounds, status }) => sum + (status === 'skipped' ? 0 : rounds), 0);
  const { status, reason, tokens, costUsd, text: answer, sessionId, modelCalls, toolCalls } = view;
  const error = view.error === undefined ? {} : { error: view.error };
  return { status, reason, ...error, steps, calls: modelCalls + toolCalls, tokens, costUsd, text: answer, sessionId, turnId: '' };
}

/** The model-driven way: one turn, in which the agent calls tools and other agents as it sees fit. */
async function viaTurn({ turns, log, ids }: Parts, name: string, text: string, caller: ServedCaller): Promise<Measured> {
  const isAgent = kindOf(name) === 'agent';
  const agentId = isAgent ? name.slice('agent:'.length) : 'main';
  const sessionId = ids.next('ses');
  const begun = turns.submit({
    sessionId,
    agentId,
    channel: caller.channel,
    sender: caller.actor,
    text,
    dedupeKey: null,
    before: [{ type: 'session.created', body: { title: `Comparison: ${name}`, agentId, channel: caller.channel, forkedFrom: null } }],
    ...(isAgent ? {} : { model: name }),
  });
  const waits = new AbortController();
  const signal = AbortSignal.any([caller.gone, waits.signal]);
  try {
    const end = await whenTurnEnds({ turns, log }, begun, { signal, onWaiting: () => waits.abort() });
    const tokens = end.usage.inputTokens + end.usage.outputTokens;
    const { status, modelCalls, toolCalls, costUsd, text: answer } = end;
    const figures = { steps: modelCalls, calls: modelCalls + toolCalls, tokens, costUsd };
    const error = errorOfTurn(log, begun);
    const failure = error === undefined ? { reason: '' } : { reason: error.message, error };
    return { status, ...failure, ...figures, text: answer, sessionId, turnId: begun.turnId };
  } catch (cause) {
    if (!waits.signal.aborted) throw cause;
    return { status: 'waiting', reason: '', steps: 0, calls: 0, tokens: 0, costUsd: null, text: '', sessionId, turnId: begun.turnId };
  }
}

/** Returns null if there is no usable judgement. The comparison shows that instead of failing. */
async function judgeAnswer(
  { asking, models }: Parts,
  { text: goal, rubric = usualRubric, judge }: OpParsed<'pipeline.compare'>,
  { sessionId, turnId, text: work }: Measured,
  caller: ServedCaller,
): Promise<number | null> {
  const model = judge ?? models.defaultRef();
  if (model === null) return null;
  const judged = await judgeFirmly(asking, { model, goal, rubric, work, place: { sessionId, turnId, continues: [] } }, caller.gone);
  return 'score' in judged ? judged.score : null;
}
