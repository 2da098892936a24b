// Undo as operations: the recorded files, a preview of restoring them, and the restore. Only for people: no model gets here.

import { AppError } from '../../contracts/errors.ts';
import type { AnyDraft } from '../../contracts/events.ts';
import type { Caller, OpHandlers, OpParsed, OpResult } from '../../contracts/ops.ts';
import type { FileDiff } from '../../contracts/checkpoints.ts';
import { changeOf, type Checkpoint, type RestoreJournal, type UndoTarget } from '../../store/checkpoint/checkpoint.ts';
import type { OpsParts } from './parts.ts';

type Deps = Pick<OpsParts, 'checkpoints' | 'ids' | 'panic' | 'policy' | 'runtime' | 'safety' | 'tools' | 'workspaces'>;

type CheckpointOps = Pick<
  OpHandlers,
  'checkpoint.list' | 'checkpoint.preview' | 'checkpoint.restore' | 'checkpoint.diff' | 'approval.diff'
>;

export function createCheckpointOps(deps: Deps): CheckpointOps {
  return {
    'checkpoint.list': (params) => ({
      checkpoints: deps.checkpoints.list({ ...params, limit: params.limit ?? 100 }).map(describeCheckpoint),
    }),
    'checkpoint.preview': async (params) => {
      const target = targetOf(params);
      const callIds = callIdsOf(deps.checkpoints.find(target));
      const files = await deps.checkpoints.preview(target, params.force === true);
      return { callIds, files: files.map((file) => ({ ...redacted(deps, file), refused: file.refused })) };
    },
    'checkpoint.restore': (params, caller) => restore(deps, params, caller),
    'checkpoint.diff': async (params) => {
      const files = await deps.checkpoints.diff(params.callId);
      return { files: files.map((file) => redacted(deps, file)) };
    },
    'approval.diff': (params) => diffOfApproval(deps, params.approvalId),
  };
}

async function restore(deps: Deps, params: OpParsed<'checkpoint.restore'>, caller: Caller): Promise<OpResult<'checkpoint.restore'>> {
  if (deps.panic.engaged) throw new AppError('panic_engaged', 'Nothing can be undone while everything is stopped.');
  const target = targetOf(params);
  const checkpoints = deps.checkpoints.find(target);
  assertAtRest(deps, target, checkpoints);
  const callIds = callIdsOf(checkpoints);
  const journal = createJournal(deps, checkpoints, callIds, caller);
  const options = { keepGoing: params.keepGoing === true, force: params.force === true };
  const report = await deps.checkpoints.restore(target, options, journal);
  const named = (path: string): { path: string } => ({ path });
  return {
    restoreId: report.restoreId,
    callIds,
    restored: report.restored.map(named),
    refused: [...report.refused],
    unchanged: report.unchanged.map(named),
  };
}

/** Calls that still write must not be undone. */
function assertAtRest(deps: Deps, target: UndoTarget, checkpoints: readonly Checkpoint[]): void {
  for (const { turnId, closed } of checkpoints) {
    if (turnId === null || !deps.runtime.isLive(turnId)) continue;
    if ('turnId' in target || !closed)
      throw new AppError('conflict', 'This is still at work.', { data: { hint: 'Wait until it has ended, or stop the turn first.' } });
  }
}

function createJournal(deps: Deps, checkpoints: readonly Checkpoint[], callIds: readonly string[], caller: Caller): RestoreJournal {
  const { sessionId, turnId } = checkpoints[0] ?? { sessionId: '', turnId: null };
  const append = (drafts: readonly AnyDraft[]): void => {
    deps.runtime.appendToTurn(sessionId, turnId ?? '', drafts);
  };
  return {
    begin: (taken) => {
      const restoreId = deps.ids.next('call');
      append([{ type: 'checkpoint.taken', turnId, body: { callId: restoreId, files: [...taken], undoes: [...callIds] } }]);
      return restoreId;
    },
    end: ({ restoreId, left, restored, refused }) => {
      const files = restored.map((path) => ({ path }));
      const body = { restoreId, callIds: [...callIds], files, refused: [...refused], by: caller.actor };
      const done: AnyDraft = { type: 'checkpoint.restored', turnId, body };
      append(restoreId === null ? [done] : [{ type: 'checkpoint.closed', turnId, body: { callId: restoreId, files: [...left] } }, done]);
    },
  };
}

function targetOf(params: { readonly callId?: string | undefined; readonly turnId?: string | undefined }): UndoTarget {
  return params.callId === undefined ? { turnId: params.turnId ?? '' } : { callId: params.callId };
}

/** The tool calls among them, each once. An undo named by its own id counts as one. */
function callIdsOf(checkpoints: readonly Checkpoint[]): string[] {
  const ofTools = checkpoints.filter(({ undoes }) => undoes.length === 0);
  return [...new Set((ofTools.length === 0 ? checkpoints : ofTools).map(({ callId }) => callId))];
}

function describeCheckpoint(checkpoint: Checkpoint): OpResult<'checkpoint.list'>['checkpoints'][number] {
  const { callId, sessionId, turnId, atMs, undoes, closed, files } = checkpoint;
  return {
    callId,
    sessionId,
    turnId,
    atMs,
    undoes: [...undoes],
    closed,
    files: files.map(({ path, before, after }) => ({
      path,
      change: changeOf(before, after),
      note: before.kind === 'unknown' ? `No copy was kept: ${before.reason}.` : null,
    })),
  };
}

async function diffOfApproval(deps: Deps, approvalId: string): Promise<OpResult<'approval.diff'>> {
  const approval = deps.policy.approval(approvalId);
  if (approval === null) throw new AppError('not_found', `There is no approval ${approvalId}.`);
  const parsed = deps.tools.parse(approval.tool, approval.args);
  if (!parsed.ok) throw parsed.error;
  const { tool, args } = parsed.value;
  const change =
    approval.state === 'pending' ? await tool.preview?.(args, deps.workspaces.contextOf(approval.facts.workspace ?? null)) : null;
  if (change === null || change === undefined) return { files: [] };
  return { files: [redacted(deps, deps.checkpoints.diffTo(change.path, change.after))] };
}

function redacted(deps: Deps, file: FileDiff): FileDiff {
  const { path, change, diff, addedLines, removedLines, note } = file;
  return { path, change, diff: diff === null ? null : deps.safety.redact(diff).text, addedLines, removedLines, note };
}
