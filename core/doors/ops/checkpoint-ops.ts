// The operations of undo: the recorded files, a preview of restoring them, and the restore. Only for people; models have no access.

import { AppError, noSession, noTurn } from '../../contracts/errors.ts';
import type { AnyDraft } from '../../contracts/events.ts';
import type { Caller, OpHandlers, OpParams, OpResult } from '../../contracts/ops.ts';
import type { FileDiff } from '../../contracts/checkpoints.ts';
import { changeOf, type Checkpoint, type RestoreJournal, type UndoPart, type UndoTarget } from '../../store/checkpoint/checkpoint.ts';
import type { OpsParts } from './parts.ts';

type Deps = Pick<OpsParts, 'checkpoints' | 'helpers' | 'ids' | 'log' | 'panic' | 'policy' | 'safety' | 'tools' | 'turns' | 'workspaces'>;

export function createCheckpointOps(deps: Deps) {
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
    'checkpoint.restore': (params, caller) => restore(deps, targetOf(params), params, caller),
    'checkpoint.diff': async (params) => {
      const files = await deps.checkpoints.diff(params.callId);
      return { files: files.map((file) => redacted(deps, file)) };
    },
    'checkpoint.review': async (params) => {
      const files = await deps.checkpoints.review(reviewedOf(deps, params));
      if (files.length === 0) assertKnown(deps, params);
      return { files: files.map((file) => ({ ...redacted(deps, file), version: file.version, refused: file.refused })) };
    },
    'checkpoint.undo': (params, caller) => {
      const { path, hunks, version = '' } = params;
      const part = path === undefined ? {} : { part: { path, hunks: hunks === undefined ? undefined : { indexes: hunks, version } } };
      return restore(deps, reviewedOf(deps, params), { ...params, ...part }, caller);
    },
    'approval.diff': (params) => diffOfApproval(deps, params.approvalId),
  } satisfies Partial<OpHandlers>;
}

interface RestoreOptions {
  readonly keepGoing?: boolean | undefined;
  readonly force?: boolean | undefined;
  readonly part?: UndoPart;
}

async function restore(
  deps: Deps,
  target: UndoTarget,
  { keepGoing, force, part }: RestoreOptions,
  caller: Caller,
): Promise<OpResult<'checkpoint.restore'>> {
  if (deps.panic.engaged) throw new AppError('panic_engaged', 'Nothing can be undone while everything is stopped.');
  const found = deps.checkpoints.find(target);
  assertAtRest(deps, target, found);
  const checkpoints = part === undefined ? found : found.filter(({ files }) => files.some(({ path }) => path === part.path));
  const callIds = callIdsOf(checkpoints);
  const journal = createJournal(deps, checkpoints, part, caller);
  const report = await deps.checkpoints.restore(target, { keepGoing: keepGoing === true, force: force === true, part }, journal);
  const named = (path: string): { path: string } => ({ path });
  return {
    restoreId: report.restoreId,
    callIds,
    restored: report.restored.map(named),
    refused: [...report.refused],
    unchanged: report.unchanged.map(named),
  };
}

/** Fails with conflict if a call to undo may still be writing. */
function assertAtRest(deps: Deps, target: UndoTarget, checkpoints: readonly Checkpoint[]): void {
  for (const { turnId, closed } of checkpoints) {
    if (turnId === null || !deps.turns.isLive(turnId)) continue;
    if ('turnId' in target || !closed)
      throw new AppError('conflict', 'The work to undo is still under way.', { hint: 'Wait until it has ended, or stop the turn first.' });
  }
}

/**
 * Records an undo. The undo of a single turn is stored in that turn, the undo of several turns in none. Each affected turn records which of
 * its files were restored.
 */
function createJournal(deps: Deps, checkpoints: readonly Checkpoint[], part: UndoPart | undefined, caller: Caller): RestoreJournal {
  const turns = turnsOf(deps, checkpoints);
  const { sessionId, turnId: firstId } = turns[0] ?? { sessionId: '', turnId: null };
  const turnId = turns.length > 1 ? null : firstId;
  const append = (of: Pick<Checkpoint, 'sessionId' | 'turnId'>, drafts: readonly AnyDraft[]): void => {
    deps.turns.appendToTurn(of.sessionId, of.turnId ?? '', drafts);
  };
  return {
    begin: (taken) => {
      const restoreId = deps.ids.next('call');
      const body = { callId: restoreId, files: [...taken], undoes: callIdsOf(checkpoints) };
      append({ sessionId, turnId }, [{ type: 'checkpoint.taken', turnId, body }]);
      return restoreId;
    },
    end: ({ restoreId, left, restored, refused }) => {
      const closed: AnyDraft[] =
        restoreId === null ? [] : [{ type: 'checkpoint.closed', turnId, body: { callId: restoreId, files: [...left] } }];
      if (turns.length > 1 && closed.length > 0) append({ sessionId, turnId }, closed.splice(0));
      for (const turn of turns) {
        const isOwn = ({ path }: { readonly path: string }): boolean => turns.length === 1 || turn.paths.has(path);
        const body = {
          restoreId,
          callIds: undoneWhole(turn.checkpoints, part),
          files: restored.map((path) => ({ path })).filter(isOwn),
          refused: refused.filter(isOwn),
          by: caller.actor,
        };
        append(turn, [...closed, { type: 'checkpoint.restored', turnId: turn.turnId, body }]);
      }
    },
  };
}

interface TouchedTurn extends Pick<Checkpoint, 'sessionId' | 'turnId'> {
  readonly checkpoints: Checkpoint[];
  readonly paths: Set<string>;
}

/** The turns of the checkpoints, in order. An undo of several turns belongs to each of them. */
function turnsOf(deps: Deps, checkpoints: readonly Checkpoint[]): TouchedTurn[] {
  const turns = new Map<string, TouchedTurn>();
  const add = (of: Checkpoint, checkpoint: Checkpoint): void => {
    const key = of.turnId ?? '';
    const turn = turns.get(key) ?? { sessionId: of.sessionId, turnId: of.turnId, checkpoints: [], paths: new Set<string>() };
    turns.set(key, turn);
    if (!turn.checkpoints.includes(checkpoint)) turn.checkpoints.push(checkpoint);
    for (const { path } of of.files) turn.paths.add(path);
  };
  for (const checkpoint of checkpoints) {
    if (checkpoint.turnId !== null || checkpoint.undoes.length === 0) add(checkpoint, checkpoint);
    for (const callId of checkpoint.undoes) for (const below of deps.checkpoints.ofCall(callId)) add(below, checkpoint);
  }
  return [...turns.values()];
}

/** The calls that are completely undone. A part of a file, or one file of several, leaves the rest of the call. */
function undoneWhole(checkpoints: readonly Checkpoint[], part: UndoPart | undefined): string[] {
  if (part === undefined) return callIdsOf(checkpoints);
  if (part.hunks !== undefined) return [];
  return callIdsOf(checkpoints.filter(({ files }) => files.every(({ path }) => path === part.path)));
}

function targetOf(params: { readonly callId?: string | undefined; readonly turnId?: string | undefined }): UndoTarget {
  return params.callId === undefined ? { turnId: params.turnId ?? '' } : { callId: params.callId };
}

/** Fails with not_found for an unknown id, so that a mistyped id does not look like a turn without changes. */
function assertKnown({ log }: Deps, { turnId, sessionId = '' }: OpParams<'checkpoint.review'>): void {
  if (turnId !== undefined && log.index.turn(turnId) === null) throw noTurn(turnId);
  if (turnId === undefined && log.index.session(sessionId) === null) throw noSession(sessionId);
}

function reviewedOf(
  deps: Deps,
  {
    turnId,
    sessionId = '',
    fromSeq = 0,
  }: { readonly turnId?: string | undefined; sessionId?: string | undefined; fromSeq?: number | undefined },
): UndoTarget {
  return turnId === undefined ? { sessionIds: [sessionId, ...deps.helpers.sessionsBelow(sessionId)], fromSeq } : { turnId };
}

/** The ids of the tool calls, without duplicates. If there are only undos, their ids. */
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
