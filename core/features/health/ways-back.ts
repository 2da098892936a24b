// The larger recovery plans. A plan describes the changes and losses, and changes nothing itself.

import { counted } from '../../base/counted.ts';
import { existsSync } from 'node:fs';
import { AppError, noSession } from '../../contracts/errors.ts';
import type { AnyDraft } from '../../contracts/events.ts';
import { harmless, unwell, well, type HealthSource, type Plan } from '../../contracts/health.ts';
import { libraryCaller, servedCaller, type OpHandlers } from '../../contracts/ops.ts';
import type { Checkpoint } from '../../store/checkpoint/checkpoint.ts';
import { emptySearch } from '../../store/session/session.ts';
import { listBackups } from '../../store/storage/storage.ts';
import type { Spine } from '../feature.ts';

export interface WaysBackDeps extends Pick<Spine, 'log' | 'checkpoints' | 'closing'> {
  readonly turns: { readonly runningTurns: number; forgetSession(sessionId: string): void };
  /** Rebuilds the usage and cost tables from the log. */
  rebuildUsage(): void;
  readonly ops: () => Pick<OpHandlers, 'checkpoint.restore'>;
}

const SESSIONS_MAX = 10_000;
const NAMED_MAX = 5;
const UNDOS_LOOKED_AT = 1_000;
export const keptLog = 'The event log: nothing in it is changed or removed.';

export function waysBack(deps: WaysBackDeps): HealthSource {
  return {
    check: () => {
      const count = interruptedUndos(deps).length;
      if (count === 0) return [well('undo', 'No undo was interrupted.')];
      return [unwell('undo', `${counted(count, 'undo', 'undos')} ended before everything was put back.`, 'trayclaw recover finish-undo')];
    },
    recoveries: [
      {
        kind: 'reset-agent',
        title: 'Reset an agent',
        when: 'An agent keeps working on something it should have dropped.',
        target: 'the id of the agent; default: main',
        plan: (target) => planReset(deps, target ?? 'main'),
      },
      {
        kind: 'clear-session-cache',
        title: 'Read conversations again',
        when: 'A conversation looks wrong although its log is right.',
        target: 'the id of a session; default: all',
        plan: (target) => planClear(deps, target),
      },
      {
        kind: 'rebuild-index',
        title: 'Rebuild the indexes',
        when: 'Search or usage is incomplete.',
        target: null,
        plan: () => planRebuild(deps),
      },
      {
        kind: 'finish-undo',
        title: 'Finish an undo',
        when: 'The program ended in the middle of an undo.',
        target: null,
        plan: () => planUndo(deps),
      },
    ],
  };
}

export function rebuildSearch(log: Spine['log']): void {
  emptySearch(log.storage);
  while (log.search.catchUp());
  while (log.activity.catchUp());
}

/** The steps are manual, because the database of a running program cannot be replaced. */
export function planRestore({ home, clock }: Pick<Spine, 'home' | 'clock'>, target: string | null): Plan {
  const backups = listBackups(home, clock.nowMs());
  if (target !== null && target !== 'last' && !existsSync(target)) {
    throw new AppError('not_found', `There is no backup at ${target}.`, { hint: 'See: trayclaw backup list' });
  }
  const file = target ?? backups[0]?.file;
  if (file === undefined)
    throw new AppError('conflict', 'There is no backup to go back to.', { hint: 'Make one while all is well: trayclaw backup create' });
  const made = backups.find((backup) => backup.file === file)?.createdAtMs;
  const since = made === undefined ? 'since that backup' : `since ${new Date(made).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const named = /\s/.test(file) ? JSON.stringify(file) : file;
  return {
    harmless: false,
    will: [`Check it: trayclaw backup verify ${named}`, 'Stop TrayClaw.', `Put it in place: trayclaw backup restore ${named}`],
    lost: [`What was recorded ${since}: it stays in the replaced file, which is kept beside the database.`],
    keeps: ['Settings, secrets, artifacts and the workspace.'],
    run: null,
  };
}

function planReset({ log, turns }: WaysBackDeps, agentId: string): Plan {
  const sessions = log.index.sessions({ archived: false, limit: SESSIONS_MAX }).filter((session) => session.agentId === agentId);
  if (sessions.length === 0) throw new AppError('conflict', `The agent ${agentId} has no conversation that is not archived.`);
  const busy = sessions.filter(({ status }) => status === 'running' || status === 'waiting');
  if (busy.length > 0) {
    const what = `${counted(busy.length, 'conversation')} of ${agentId} ${busy.length === 1 ? 'is' : 'are'} still under way.`;
    throw new AppError('conflict', what, { hint: `Stop or answer them first: ${namesOf(busy)}.` });
  }
  return {
    harmless: false,
    will: [
      `Archives ${counted(sessions.length, 'conversation')} of the agent ${agentId}; messages then begin new ones.`,
      'Takes back the models chosen for them: they use the default one when they are opened again.',
    ],
    keeps: ['Every conversation: an archived one can be read and taken out of the archive.', 'Settings, permissions and secrets.'],
    run: (by) => {
      const drafts: AnyDraft[] = [
        { type: 'session.configured', body: { agentId, model: null, by } },
        { type: 'session.archived', body: { archived: true } },
      ];
      log.transact(() => {
        for (const { sessionId } of sessions) log.append(sessionId, drafts);
      }, true);
      for (const { sessionId } of sessions) turns.forgetSession(sessionId);
      return [`Archived ${counted(sessions.length, 'conversation')} of ${agentId}.`];
    },
  };
}

/** The titles and ids of the first sessions. */
function namesOf(sessions: readonly { readonly sessionId: string; readonly title: string }[]): string {
  const named = sessions.slice(0, NAMED_MAX).map(({ sessionId, title }) => (title === '' ? sessionId : `"${title}" (${sessionId})`));
  return [...named, ...(sessions.length > NAMED_MAX ? [`and ${sessions.length - NAMED_MAX} more`] : [])].join(', ');
}

function planClear({ log, turns }: WaysBackDeps, target: string | null): Plan {
  if (target !== null && log.index.session(target) === null) throw noSession(target);
  if (turns.runningTurns > 0) throw new AppError('conflict', 'A turn is under way.', { hint: 'Wait for it, or stop it first.' });
  const every = (): string[] =>
    [false, true].flatMap((archived) => log.index.sessions({ archived, limit: SESSIONS_MAX }).map(({ sessionId }) => sessionId));
  const sessionIds = target === null ? every() : [target];
  const what = counted(sessionIds.length, 'conversation');
  const will = [`Drops what is held in memory of ${what}; it is read from the log again when it is next used.`];
  const plan = harmless(will, () => {
    for (const sessionId of sessionIds) turns.forgetSession(sessionId);
    return [`Dropped what was held of ${what}.`];
  });
  return { ...plan, keeps: [keptLog] };
}

function planRebuild(deps: WaysBackDeps): Plan {
  const will = [
    'Empties the search indexes and the figures of usage and fills them again from the log. On a large log that takes a while.',
  ];
  const plan = harmless(will, () => {
    rebuildSearch(deps.log);
    deps.rebuildUsage();
    return ['Rebuilt search and usage from the log.'];
  });
  return { ...plan, keeps: [keptLog] };
}

function planUndo(deps: WaysBackDeps): Plan {
  const targets = interruptedUndos(deps).flatMap((undo) => targetsOf(deps, undo));
  if (targets.length === 0) throw new AppError('conflict', 'No undo was interrupted.');
  return {
    harmless: false,
    will: targets.map(nameOf).map((id) => `Finishes the undo of ${id}: trayclaw undo ${id} --preview shows what remains.`),
    lost: ['The current content of these files; it is kept and can be restored, like everything an undo replaces.'],
    keeps: ['Files changed since then are left as they are.'],
    run: async (by) => {
      const caller = servedCaller({ ...libraryCaller, actor: by }, deps.closing);
      const did: string[] = [];
      for (const target of targets) {
        const { restored } = await deps.ops()['checkpoint.restore']({ ...target, keepGoing: true }, caller);
        did.push(`${nameOf(target)}: ${counted(restored.length, 'file')} put back.`);
      }
      return did;
    },
  };
}

type Target = { readonly turnId: string } | { readonly callId: string };

function nameOf(target: Target): string {
  return 'turnId' in target ? target.turnId : target.callId;
}

/** The whole turn, if that was undone: several calls of it may have written the same file. Otherwise each call, the last one first. */
function targetsOf({ checkpoints }: WaysBackDeps, { turnId, undoes }: Checkpoint): Target[] {
  const ofTurn = turnId === null ? [] : checkpoints.list({ turnId, limit: UNDOS_LOOKED_AT }).filter((one) => one.undoes.length === 0);
  const isWhole = turnId !== null && undoes.length > 1 && ofTurn.every(({ callId }) => undoes.includes(callId));
  return isWhole ? [{ turnId }] : undoes.toReversed().map((callId) => ({ callId }));
}

/** The undos that were interrupted and not completed later. */
function interruptedUndos({ checkpoints }: WaysBackDeps): Checkpoint[] {
  const undos = checkpoints.list({ limit: UNDOS_LOOKED_AT }).filter(({ undoes }) => undoes.length > 0);
  const isDone = (callId: string, seq: number): boolean =>
    undos.some((undo) => undo.closed && undo.seq > seq && undo.undoes.includes(callId));
  return undos.filter(({ closed, undoes, seq }) => !closed && undoes.some((callId) => !isDone(callId, seq)));
}
