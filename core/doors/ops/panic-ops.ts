// The operations of the panic stop. The order matters: stop in memory, end the processes, then record the stop.

import { sleep } from '../../base/deferred.ts';
import { AppError } from '../../contracts/errors.ts';
import { systemSessionId } from '../../contracts/events.ts';
import type { OpHandlers } from '../../contracts/ops.ts';
import type { PanicStatus } from '../../contracts/policy.ts';
import { mapStorageError } from '../../store/storage/storage.ts';
import type { OpsParts } from './parts.ts';

type Deps = Pick<OpsParts, 'clock' | 'head' | 'log' | 'panic' | 'processes' | 'turns'>;

type PanicOps = Pick<OpHandlers, 'panic.engage' | 'panic.release' | 'panic.status'>;

/** How long the operation waits for turns to record their end. The processes have already ended. */
const SETTLE_MAX_MS = 2_000;

export function createPanicOps(deps: Deps): PanicOps {
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
  };
}

async function engage(deps: Deps, reason: string, by: string): Promise<PanicStatus> {
  const wasEngaged = deps.panic.engaged;
  deps.panic.engage(deps.clock.nowMs(), reason);
  const ending = deps.processes.killAll();
  const unrecorded = record(deps, reason, by);
  deps.turns.stopAll('The panic stop was pressed.');
  const { killed, tookMs } = await ending;
  // Runs even if nothing could be recorded, because the head file stores the stop.
  deps.head.secure();
  if (unrecorded !== null)
    throw new AppError(unrecorded.code, `Everything is stopped; this could not be recorded. ${unrecorded.message}`, { cause: unrecorded });
  if (killed > 0 || !wasEngaged)
    deps.panic.restore(deps.log.append(systemSessionId, [{ type: 'panic.measured', body: { killed, tookMs } }]));
  const waited = new AbortController();
  await Promise.race([deps.turns.whenIdle(), sleep(SETTLE_MAX_MS, waited.signal)]);
  waited.abort();
  return deps.panic.status;
}

/**
 * Records the stop. Returns an error instead of throwing, so that everything stops even if the store fails. A missing event is written when
 * the stop is engaged again.
 */
function record(deps: Deps, reason: string, by: string): AppError | null {
  try {
    const [last] = deps.log.reads.slice(systemSessionId, { types: ['panic.engaged', 'panic.released'], limit: 1, newest: true });
    if (last?.type !== 'panic.engaged')
      deps.log.append(
        systemSessionId,
        [{ type: 'panic.engaged', atMs: deps.panic.status.sinceMs ?? deps.clock.nowMs(), body: { reason, by } }],
        true,
      );
    return null;
  } catch (cause) {
    return mapStorageError(cause);
  }
}
