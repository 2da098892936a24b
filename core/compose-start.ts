// Maintenance at the start and once a day: settles what the last run left unfinished, and removes data that is no longer needed.

import { systemSessionId, type AnyDraft } from './contracts/events.ts';
import { describeGap, gapAdvice, isRewound } from './contracts/log-gap.ts';
import type { PanicSwitch } from './guard/panic/panic.ts';
import { openGaps } from './store/session/session.ts';
import { recoverLog, type TurnRuntime } from './runtime/turns/turns.ts';
import type { Base, Store } from './compose-base.ts';
import type { Guard } from './compose-guard.ts';

const DAY_MS = 86_400_000;

type RecoveryDeps = Parameters<typeof recoverLog>[0];

/** Before anything runs: what is missing of the log, the panic state, and what the last run left. */
export async function settle(
  deps: RecoveryDeps & Pick<Base, 'options' | 'clock' | 'logger'> & Pick<Store, 'log' | 'head'> & { readonly panic: PanicSwitch },
): Promise<void> {
  const { log, panic } = deps;
  noteGap(deps);
  const switched = log.reads.slice(systemSessionId, { types: ['panic.engaged', 'panic.released'], limit: 1, newest: true });
  panic.restore(switched);
  if (panic.engaged)
    panic.restore(
      log.reads.slice(systemSessionId, { types: ['panic.measured'], after: switched[0]?.sessionSeq ?? 0, limit: 1, newest: true }),
    );
  const recovery = await recoverLog(deps);
  if (recovery.recoveredTurns + recovery.unknownOutcomes + recovery.reaped > 0) {
    log.append(systemSessionId, [{ type: 'instance.started', body: { version: deps.options.version ?? 'library', ...recovery } }]);
  }
}

/** One transaction, on the disk before the head file is written again. After a rewind a stop may be what is missing: it holds. */
function noteGap({ log, head, clock, logger }: Pick<Store, 'log' | 'head'> & Pick<Base, 'clock' | 'logger'>): void {
  const { gap } = head;
  const [switched] = log.reads.slice(systemSessionId, { types: ['panic.engaged', 'panic.released'], limit: 1, newest: true });
  const stops = switched?.type !== 'panic.engaged' && (head.wasStopped || (gap !== null && isRewound(gap)));
  const drafts: AnyDraft[] = [];
  if (log.index.session(systemSessionId) === null) {
    const body = { title: 'System', agentId: 'system', channel: 'library', forkedFrom: null };
    drafts.push({ type: 'session.created', body });
  }
  if (gap !== null) drafts.push({ type: 'log.gap_found', body: gap });
  if (stops) {
    const reason = gap === null ? 'It was engaged, and nothing in the log says that it was released.' : describeGap(gap);
    drafts.push({ type: 'panic.engaged', atMs: clock.nowMs(), body: { reason, by: 'trayclaw' } });
  }
  log.append(systemSessionId, drafts, gap !== null || stops);
  head.begin();
  if (gap !== null) logger.log('warn', describeGap(gap), { missing: gap.missing });
}

const unreadSecrets = 'Until its secrets can be read, what needs one is refused, and they are not recognised in messages and files.';

/** Notices a person sees at every start until they are settled. */
export function startNotices({ log }: Pick<Store, 'log'>, { secrets }: Pick<Guard, 'secrets'>): string[] {
  const gaps = openGaps(log.reads);
  const lines = gaps.map(({ body }) => describeGap(body));
  return [
    ...(lines.length === 0 ? [] : [...lines, gapAdvice]),
    ...(secrets.unread === null ? [] : [`${secrets.unread.message} ${unreadSecrets}`]),
  ];
}

/** Content that a session refers to stays; content for undo stays as long as undo may need it; everything else until its retention ends. */
export function collectGarbage({ clock, config }: Base, { storage, artifacts }: Store, { checkpoints }: Guard): void {
  const { artifactDays, undoDays } = config.retention;
  const nowMs = clock.nowMs();
  checkpoints.releaseOld();
  const used = storage.db.prepare(
    `SELECT 1 FROM artifact_uses u JOIN artifacts a USING (sha256) LEFT JOIN sessions s ON s.session_id = u.session_id
     WHERE u.sha256 = ? AND (s.session_id IS NOT NULL OR a.last_used_at_ms >= ?) LIMIT 1`,
  );
  artifacts.collectGarbage({
    nowMs,
    olderThanDays: Math.min(artifactDays, undoDays),
    isReferenced: (sha256) => used.get(sha256, nowMs - artifactDays * DAY_MS) !== undefined || checkpoints.needs(sha256),
  });
}

/** The work of this process. `taking` resolves once the work of an earlier process is resumed; null when there is none. */
export function workHere(turns: Pick<TurnRuntime, 'runningTurns' | 'whenIdle'>, taking: Promise<void> | null) {
  let isTaking = taking !== null;
  const taken = (taking ?? Promise.resolve()).finally(() => {
    isTaking = false;
  });
  return {
    runningTurns: (): number => turns.runningTurns + (isTaking ? 1 : 0),
    whenIdle: async (): Promise<void> => {
      await taken;
      await turns.whenIdle();
    },
  };
}
