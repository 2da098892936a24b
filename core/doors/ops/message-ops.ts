// The operations on messages, turns and direct tool calls.

import { AppError, noTurn } from '../../contracts/errors.ts';
import type { EventBodies } from '../../contracts/events.ts';
import { noUsage } from '../../contracts/llm.ts';
import type { AskResult, TurnCall, TurnDetails } from '../../contracts/op-results.ts';
import type { OpHandlers, OpParsed, ServedCaller } from '../../contracts/ops.ts';
import { foldTurnView } from '../../contracts/turn-view-fold.ts';
import type { CallView, RequestView, TurnView } from '../../contracts/turn-view.ts';
import { notDone } from '../../contracts/turn-words.ts';
import { waitingAhead } from '../../runtime/turns/turns.ts';
import { argsText } from './args-text.ts';
import { previewPack } from './pack-preview.ts';
import { readPackView } from './pack-view.ts';
import type { OpsParts } from './parts.ts';

type Deps = Pick<
  OpsParts,
  | 'agents'
  | 'closing'
  | 'continuity'
  | 'controlplane'
  | 'gate'
  | 'later'
  | 'log'
  | 'models'
  | 'packer'
  | 'packSources'
  | 'policy'
  | 'turns'
  | 'tools'
>;

export function createMessageOps(deps: Deps) {
  return {
    'message.send': async (params, caller) => {
      // Waits only while the first start still searches for a model. Otherwise the message is accepted at once.
      const looking = deps.models.ready();
      if (looking !== null) await looking;
      if (params.model !== undefined) deps.models.assertKnown(params.model);
      const { onDisk, ...accepted } = deps.controlplane.receive(params, caller);
      await onDisk;
      return accepted;
    },
    'turn.wait': async (params) => {
      const end = await deps.turns.whenResting(params.turnId, params.timeoutMs);
      return end?.finished === undefined ? askResult(deps, params.turnId) : ended(end.sessionId, params.turnId, end.finished);
    },
    'turn.cancel': async (params, caller) => {
      deps.turns.cancel(params.turnId, `${caller.actor} stopped it.`, 'person');
      await deps.turns.whenResting(params.turnId, CANCEL_WAIT_MS);
      return { turnId: params.turnId, status: askResult(deps, params.turnId).status };
    },
    'turn.steer': (params, caller) => {
      deps.turns.steer(params.turnId, params.text, caller.actor);
      return { turnId: params.turnId };
    },
    'turn.continue': (params, caller) => deps.turns.takeUpEnded(params.turnId, caller.actor),
    'turn.live': ({ turnId }) => ({ texts: deps.turns.liveTexts(turnId).map(({ kind, callId, text }) => ({ kind, callId, text })) }),
    'turn.retry': (params, caller) => deps.controlplane.retry(params, caller),
    'turn.branch': (params, caller) => deps.controlplane.branch(params.turnId, params.text ?? null, caller),
    'turn.get': (params) => readTurnView(deps, params.turnId),
    'pack.get': (params) => readPackView(deps, params.packId),
    'pack.preview': (params, caller) => previewPack(deps, params, caller),
    'tool.run': (params, caller) => runTool(deps, params, caller),
    'tool.list': () => ({ tools: deps.tools.list(), shows: deps.tools.shown() }),
  } satisfies Partial<OpHandlers>;
}

const CANCEL_WAIT_MS = 5_000;

async function runTool(
  deps: Deps,
  params: OpParsed<'tool.run'>,
  caller: ServedCaller,
): ReturnType<OpHandlers['tool.run']> extends infer R ? Promise<Awaited<R>> : never {
  const checked = deps.tools.parse(params.tool, argsText(params.args));
  if (!checked.ok) throw checked.error;
  if (checked.value.tool.isInternal === true) throw new AppError('unknown_tool', `There is no tool called ${params.tool}.`);
  const { sessionId, turnId, callId } = deps.controlplane.runTool(params, caller);
  if (params.wait === 'start') return { callId, turnId, sessionId, outcome: 'waiting', forUser: '', forModel: '', artifacts: [] };
  await deps.turns.whenResting(turnId);
  if (params.wait !== false) await waitForEnd(deps, turnId, caller.gone);
  const view = readTurnView(deps, turnId);
  const call = view.calls.find((item) => item.callId === callId);
  if (call === undefined) throw new AppError('internal', `call ${callId} is missing from its turn`);
  const outcome = call.outcome === 'running' || call.outcome === 'proposed' ? 'cancelled' : call.outcome;
  const pending = pendingOf(deps, turnId);
  return {
    callId,
    turnId,
    sessionId,
    outcome,
    forUser: call.forUser,
    forModel: call.forModel,
    artifacts: call.artifacts,
    ...(pending.length === 0 ? {} : { pending }),
  };
}

/** Waits for the end of a direct call. If it waits for approval, the wait lasts until a person answers or the caller disconnects. */
async function waitForEnd(deps: Deps, turnId: string, gone: AbortSignal): Promise<void> {
  while (!gone.aborted && (await deps.turns.whenResting(turnId))?.status === 'waiting') {
    // It may have been answered in the meantime.
    if (deps.log.index.turn(turnId)?.status === 'waiting' && !deps.turns.isLive(turnId)) await deps.log.nextCommit(gone);
  }
}

export function askResult(deps: Deps, turnId: string): AskResult {
  const row = deps.log.index.turn(turnId);
  if (row === null) throw noTurn(turnId);
  const base = { sessionId: row.sessionId, turnId };
  if (row.status === 'running' || row.status === 'queued' || row.status === 'waiting') {
    const behind = waitingAhead(deps.log, row)?.turnId;
    const status = row.status === 'waiting' || behind !== undefined ? 'waiting' : 'running';
    const pending = pendingOf(deps, behind ?? turnId);
    const spent = readTurnView(deps, turnId);
    return {
      ...base,
      status,
      text: spent.text,
      usage: { ...spent.usage, costUsd: spent.costUsd },
      ...(pending.length === 0 ? {} : { pending }),
      ...(behind === undefined ? {} : { behind }),
    };
  }
  const end = deps.log.reads.turnEnd(row.sessionId, turnId);
  if (end === null) return { ...base, status: row.status, text: '', usage: { ...noUsage, costUsd: null } };
  return ended(row.sessionId, turnId, end);
}

function ended(sessionId: string, turnId: string, end: EventBodies['turn.finished']): AskResult {
  const { status, text, usage, costUsd, error } = end;
  return { sessionId, turnId, status, text, usage: { ...usage, costUsd }, ...(error === null ? {} : { error }) };
}

function pendingOf(deps: Deps, turnId: string): NonNullable<AskResult['pending']> {
  return deps.policy
    .pendingApprovals()
    .filter((approval) => approval.turnId === turnId)
    .map(({ approvalId, tool, args, facts, summary, risk }) => ({ approvalId, tool, args, facts, summary, risk }));
}

// `turn.get`: a turn in the form of the operation's result.
function readTurnView(deps: Pick<OpsParts, 'log'>, turnId: string): TurnDetails {
  const row = deps.log.index.turn(turnId);
  if (row === null) throw noTurn(turnId);
  const turn = foldTurnView(turnId, deps.log.reads.turn(row.sessionId, turnId, row.firstSeq));
  const { error, finishedAtMs, model, decisions, packs, usage, costUsd, supersededBy } = turn;
  return {
    turnId,
    sessionId: row.sessionId,
    status: row.status === 'queued' ? 'running' : row.status,
    text: textOf(turn),
    error,
    startedAtMs: turn.beganAtMs === 0 ? row.atMs : turn.beganAtMs,
    finishedAtMs,
    model,
    phases: Object.entries(turn.phases).map(([phase, reached]) => ({ phase: phase as keyof TurnView['phases'], ...reached })),
    calls: Object.values(turn.calls).map(callOf),
    decisions,
    packs: packs.map(({ packId }) => packId),
    requests: turn.requests.map(requestOf),
    usage,
    costUsd,
    supersededBy,
  };
}

/** The answer, or the model's last text while there is no answer yet. */
function textOf({ answer, entries, finishedAtMs }: TurnView): string {
  if (answer !== '' || finishedAtMs !== null) return answer;
  const said = entries.findLast(({ kind }) => kind === 'text');
  return said?.kind === 'text' ? said.text : '';
}

function requestOf({ requestId, model, route, error }: RequestView): NonNullable<TurnDetails['requests']>[number] {
  const message = error?.message ?? null;
  return {
    requestId,
    model,
    route: route?.name ?? null,
    reason: route?.reason ?? null,
    passed: [...(route?.passed ?? [])],
    error: message,
  };
}

function callOf(call: CallView): TurnCall {
  const { callId, tool, args, state, decision, approval, error, endedAtMs, tookMs, artifacts } = call;
  const answer = approval === null || approval.state === 'pending' ? null : approval.state;
  const { forUser, forModel } = endedAtMs === null ? { forUser: notDone(call), forModel: notDone(call) } : call;
  return {
    callId,
    tool,
    args,
    // The summary of a call that was changed says what was asked, not what ran.
    summary: approval?.args === args ? approval.summary : '',
    decision: answer ?? decision?.decision ?? null,
    ruleId: decision?.ruleId ?? null,
    reason: error === null ? (decision?.reason ?? null) : (error.hint ?? null),
    outcome: state,
    forUser,
    forModel,
    tookMs,
    artifacts: [...artifacts],
  };
}
