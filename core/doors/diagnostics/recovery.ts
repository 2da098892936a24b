// Guided recovery: the larger ways back from trouble. A plan says what will change and what is lost and changes nothing; only what was
// planned can be run, once, and is recorded.

import type { Clock } from '../../base/clock.ts';
import type { IdSource } from '../../base/ids.ts';
import { AppError } from '../../contracts/errors.ts';
import { systemSessionId, type AnyDraft } from '../../contracts/events.ts';
import type { OpResult } from '../../contracts/ops.ts';
import type { RecoveryKind } from '../../contracts/recovery.ts';
import type { SessionLog } from '../../store/session/session.ts';
import { listBackups } from '../../store/storage/storage.ts';
import { counted } from '../../contracts/health.ts';
import { lookAtArtifacts, rebuildSearch, setAside, setAsideWords } from './store-checks.ts';

export interface RecoveryDeps {
  readonly log: SessionLog;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly home: string;
  readonly panic: { readonly engaged: boolean };
  readonly runtime: { readonly runningTurns: number; forgetSession(sessionId: string): void };
  /** Empties what usage and costs are read from; it fills again from the log. */
  rebuildUsage(): void;
  /** Undos that began and did not end: their own id and the calls they were to take back. */
  interruptedUndos(): readonly { readonly restoreId: string; readonly callIds: readonly string[] }[];
  /** Takes the rest of a call back. Fails as an undo does. */
  undo(callId: string, by: string): Promise<number>;
}

interface Planned {
  readonly will: readonly string[];
  readonly lost: readonly string[];
  readonly keeps: readonly string[];
  /** Null where it is done by hand. */
  readonly run: ((by: string) => Promise<readonly string[]> | readonly string[]) | null;
}

interface Plan extends Planned {
  readonly kind: RecoveryKind;
  readonly target: string | null;
  readonly untilMs: number;
}

type Kind = Omit<OpResult<'recovery.list'>['kinds'][number], 'kind'> & {
  readonly plan: (deps: RecoveryDeps, target: string | null) => Planned | Promise<Planned>;
};

const PLAN_MS = 600_000;
const PLANS_MAX = 20;
const SESSIONS_MAX = 10_000;
const NAMED_MAX = 5;
const log = 'The event log: nothing in it is changed or removed.';

const kinds: Readonly<Record<RecoveryKind, Kind>> = {
  'reset-agent': {
    title: 'Reset an agent',
    when: 'An agent keeps working on something it should have dropped.',
    target: 'the id of the agent; default: main',
    plan: planReset,
  },
  'clear-session-cache': {
    title: 'Read conversations again',
    when: 'A conversation looks wrong although its log is right.',
    target: 'the id of a session; default: all',
    plan: planClear,
  },
  'rebuild-index': { title: 'Rebuild the indexes', when: 'Search or usage is incomplete.', target: null, plan: planRebuild },
  'restore-backup': {
    title: 'Restore a backup',
    when: 'The database is damaged, or its chain is broken.',
    target: 'the file; default: the newest',
    plan: planRestore,
  },
  'quarantine-artifacts': {
    title: 'Drop damaged artifacts',
    when: 'Artifact files are missing or were changed, and there is no copy of them.',
    target: null,
    plan: planQuarantine,
  },
  'finish-undo': { title: 'Finish an undo', when: 'The program ended in the middle of an undo.', target: null, plan: planUndo },
};

export class Recovery {
  readonly #deps: RecoveryDeps;
  readonly #plans = new Map<string, Plan>();

  constructor(deps: RecoveryDeps) {
    this.#deps = deps;
  }

  list(): OpResult<'recovery.list'> {
    return {
      kinds: (Object.keys(kinds) as RecoveryKind[]).map((kind) => ({
        kind,
        title: kinds[kind].title,
        when: kinds[kind].when,
        target: kinds[kind].target,
      })),
    };
  }

  /** Fails with not_found where there is nothing of that name, with conflict where there is nothing to do. */
  async plan(kind: RecoveryKind, target: string | null): Promise<OpResult<'recovery.plan'>> {
    const planned = await kinds[kind].plan(this.#deps, target);
    const planId = this.#deps.ids.next('plan');
    const [oldest] = this.#plans.keys();
    if (this.#plans.size >= PLANS_MAX && oldest !== undefined) this.#plans.delete(oldest);
    this.#plans.set(planId, { ...planned, kind, target, untilMs: this.#deps.clock.nowMs() + PLAN_MS });
    const { will, lost, keeps, run } = planned;
    return { planId, kind, target, will: [...will], lost: [...lost], keeps: [...keeps], runs: run !== null };
  }

  /** Fails with not_found for a plan that is not there any more, conflict, panic_engaged, or as what it does. */
  async run(planId: string, by: string): Promise<OpResult<'recovery.run'>> {
    const plan = this.#plans.get(planId);
    if (plan === undefined || plan.untilMs < this.#deps.clock.nowMs()) {
      throw new AppError('not_found', `There is no plan ${planId} any more.`, {
        data: { hint: 'Plan it again, look at it, and run that one.' },
      });
    }
    if (this.#deps.panic.engaged) throw new AppError('panic_engaged', 'Nothing is recovered while everything is stopped.');
    if (plan.run === null)
      throw new AppError('conflict', 'This is done by hand, as the plan says.', { data: { hint: plan.will.join(' ') } });
    // Before it begins: a plan is run once, whatever comes of it.
    this.#plans.delete(planId);
    const did = [...(await plan.run(by))];
    const { kind, target } = plan;
    this.#deps.log.append(systemSessionId, [{ type: 'recovery.finished', body: { planId, kind, target, did, by } }], true);
    return { planId, kind, did };
  }
}

/** By title and id, the first of them. */
function namesOf(sessions: readonly { readonly sessionId: string; readonly title: string }[]): string {
  const named = sessions.slice(0, NAMED_MAX).map(({ sessionId, title }) => (title === '' ? sessionId : `"${title}" (${sessionId})`));
  return [...named, ...(sessions.length > NAMED_MAX ? [`and ${sessions.length - NAMED_MAX} more`] : [])].join(', ');
}

function planReset(deps: RecoveryDeps, target: string | null): Planned {
  const agentId = target ?? 'main';
  const sessions = deps.log.index.sessions({ archived: false, limit: SESSIONS_MAX }).filter((session) => session.agentId === agentId);
  if (sessions.length === 0) throw new AppError('conflict', `The agent ${agentId} has no conversation that is not archived.`);
  const busy = sessions.filter(({ status }) => status === 'running' || status === 'waiting');
  if (busy.length > 0) {
    throw new AppError(
      'conflict',
      `${counted(busy.length, 'conversation')} of ${agentId} ${busy.length === 1 ? 'is' : 'are'} still under way.`,
      { data: { hint: `Stop or answer them first: ${namesOf(busy)}.` } },
    );
  }
  return {
    will: [
      `Archives ${counted(sessions.length, 'conversation')} of the agent ${agentId}; messages then begin new ones.`,
      'Takes back the models chosen for them: they use the default one when they are opened again.',
    ],
    lost: [],
    keeps: ['Every conversation: an archived one can be read and taken out of the archive.', 'Settings, permissions and secrets.'],
    run: (by) => {
      const body = { agentId, model: null, by };
      const drafts: AnyDraft[] = [
        { type: 'session.configured', body },
        { type: 'session.archived', body: { archived: true } },
      ];
      deps.log.transact(() => {
        for (const { sessionId } of sessions) deps.log.append(sessionId, drafts);
      }, true);
      for (const { sessionId } of sessions) deps.runtime.forgetSession(sessionId);
      return [`Archived ${counted(sessions.length, 'conversation')} of ${agentId}.`];
    },
  };
}

function planClear(deps: RecoveryDeps, target: string | null): Planned {
  if (target !== null && deps.log.index.session(target) === null) throw new AppError('not_found', `There is no session ${target}.`);
  if (deps.runtime.runningTurns > 0)
    throw new AppError('conflict', 'A turn is under way.', { data: { hint: 'Wait for it, or stop it first.' } });
  const sessionIds =
    target === null
      ? [false, true].flatMap((archived) => deps.log.index.sessions({ archived, limit: SESSIONS_MAX }).map(({ sessionId }) => sessionId))
      : [target];
  return {
    will: [
      `Drops what is held in memory of ${counted(sessionIds.length, 'conversation')}; it is read from the log again when it is next used.`,
    ],
    lost: [],
    keeps: [log],
    run: () => {
      for (const sessionId of sessionIds) deps.runtime.forgetSession(sessionId);
      return [`Dropped what was held of ${counted(sessionIds.length, 'conversation')}.`];
    },
  };
}

function planRebuild(deps: RecoveryDeps): Planned {
  return {
    will: ['Empties the search indexes and the figures of usage and fills them again from the log. On a large log that takes a while.'],
    lost: [],
    keeps: [log],
    run: () => {
      rebuildSearch(deps.log);
      deps.rebuildUsage();
      return ['Rebuilt search and usage from the log.'];
    },
  };
}

/** The file of a running program cannot be replaced under it. */
function planRestore({ home }: RecoveryDeps, target: string | null): Planned {
  const backups = listBackups(home);
  const file = target ?? backups[0]?.file;
  if (file === undefined)
    throw new AppError('conflict', 'There is no backup to go back to.', {
      data: { hint: 'Make one while all is well: trayclaw backup create' },
    });
  const made = backups.find((backup) => backup.file === file)?.createdAtMs;
  const since = made === undefined ? 'since that backup' : `since ${new Date(made).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return {
    will: [`Check it: trayclaw backup verify ${file}`, 'Stop TrayClaw.', `Put it in place: trayclaw backup restore ${file}`],
    lost: [`What was recorded ${since}: it stays in the replaced file, which is kept beside the database.`],
    keeps: ['Settings, secrets, artifacts and the workspace.'],
    run: null,
  };
}

async function planQuarantine(deps: RecoveryDeps): Promise<Planned> {
  const { damaged } = await lookAtArtifacts(deps, true);
  if (damaged.length === 0) throw new AppError('conflict', 'Every artifact is there and whole.');
  return {
    will: setAsideWords(damaged),
    lost: [`${counted(damaged.length, 'artifact')} can no longer be opened, nor an undo that needs one be done.`],
    keeps: ['Every other artifact.', log],
    run: () => setAside(deps, damaged),
  };
}

function planUndo(deps: RecoveryDeps): Planned {
  const undos = deps.interruptedUndos();
  const callIds = [...new Set(undos.flatMap((undo) => undo.callIds))];
  if (callIds.length === 0) throw new AppError('conflict', 'No undo was interrupted.');
  return {
    will: callIds.map((callId) => `Finishes the undo of ${callId}: trayclaw undo ${callId} --preview shows what remains.`),
    lost: ['The current content of these files; it is kept and can be restored, like everything an undo replaces.'],
    keeps: ['Files changed since then are left as they are.'],
    run: async (by) => {
      const did: string[] = [];
      for (const callId of callIds) did.push(`${callId}: ${counted(await deps.undo(callId, by), 'file')} put back.`);
      return did;
    },
  };
}
