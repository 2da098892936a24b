// The operations of the panic stop. The order matters: stop in memory, end the processes, then record the stop.

import { settlesWithin } from '../../base/waits.ts';
import { AppError } from '../../contracts/errors.ts';
import { systemSessionId } from '../../contracts/events.ts';
import type { OpHandlers } from '../../contracts/ops.ts';
import { stoppedWords } from '../../contracts/panic-words.ts';
import type { PanicStatus } from '../../contracts/policy.ts';
import { mapStorageError } from '../../store/storage/storage.ts';
import type { OpsParts } from './parts.ts';

type Deps = Pick<OpsParts, 'clock' | 'head' | 'log' | 'panic' | 'processes' | 'turns'>;

/** How long the operation waits for turns to record their end. The processes have already ended. */
const SETTLE_MAX_MS = 2_000;

export function createPanicOps(deps: Deps) {
  return {
    'panic.engage': (params, caller) => engage(deps, params.reason ?? 'A person pressed the panic stop.', caller.actor),
    'panic.release': (_params, caller) => {
      if (deps.panic.engaged) {
        const events = deps.log.append(systemSessionId, [{ type: 'panic.released', body: { by: caller.actor } }], true);
        deps.panic.restore(events);
        deps.head.secure();
      }
      return deps.panic.status;
    },
    'panic.status': () => deps.panic.status,
  } satisfies Partial<OpHandlers>;
}

async function engage(deps: Deps, reason: string, by: string): Promise<PanicStatus> {
  deps.panic.engage(deps.clock.nowMs(), reason);
  const ending = deps.processes.killAll();
  const unstopped = recording(() => recordStop(deps, reason, by));
  deps.turns.stopAll('The panic stop was pressed.');
  deps.panic.measure(await ending);
  // Runs even if nothing could be recorded, because the head file stores the stop.
  deps.head.secure();
  const unrecorded = unstopped ?? recording(() => recordMeasure(deps));
  if (unrecorded !== null)
    throw new AppError(unrecorded.code, `${stoppedWords(deps.panic.status)}. This could not be recorded. ${unrecorded.message}`, {
      cause: unrecorded,
    });
  await settlesWithin(deps.turns.whenIdle(), SETTLE_MAX_MS);
  return deps.panic.status;
}

/**
 * Returns an error instead of throwing, so that everything stops even if the store fails. A missing event is written when the stop is
 * engaged again.
 */
function recording(write: () => void): AppError | null {
  try {
    write();
    return null;
  } catch (cause) {
    return mapStorageError(cause);
  }
}

function recordStop({ clock, log, panic }: Deps, reason: string, by: string): void {
  const [last] = log.reads.slice(systemSessionId, { types: ['panic.engaged', 'panic.released'], limit: 1, newest: true });
  if (last?.type === 'panic.engaged') return;
  const atMs = panic.status.sinceMs ?? clock.nowMs();
  log.append(systemSessionId, [{ type: 'panic.engaged', atMs, body: { reason, by } }], true);
}

/** Records how many processes this stop has ended so far. */
function recordMeasure({ log, panic }: Deps): void {
  const { killed, tookMs } = panic.status;
  const [last] = log.reads.slice(systemSessionId, { types: ['panic.engaged', 'panic.measured'], limit: 1, newest: true });
  if (last?.type === 'panic.measured' && last.body.killed === killed) return;
  log.append(systemSessionId, [{ type: 'panic.measured', body: { killed, tookMs: tookMs ?? 0 } }]);
}
