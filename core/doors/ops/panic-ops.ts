// The panic stop as operations. The order matters: stop in memory, end the processes, then write it down.

import { sleep } from '../../base/deferred.ts';
import { systemSessionId } from '../../contracts/events.ts';
import type { OpHandlers } from '../../contracts/ops.ts';
import type { PanicStatus } from '../../contracts/policy.ts';
import type { OpsDeps } from './deps.ts';

type PanicOps = Pick<OpHandlers, 'panic.engage' | 'panic.release' | 'panic.status'>;

/** How long the op waits for turns to write their end; the processes are dead before that. */
const SETTLE_MAX_MS = 2_000;

export function createPanicOps(deps: OpsDeps): PanicOps {
  return {
    'panic.engage': (params, caller) => engage(deps, params.reason ?? 'A person pressed the panic stop.', caller.actor),
    'panic.release': (_params, caller) => {
      if (deps.panic.engaged) {
        const events = deps.log.append(systemSessionId, [{ type: 'panic.released', body: { by: caller.actor } }], true);
        deps.panic.restore(events);
      }
      return deps.panic.status;
    },
    'panic.status': () => deps.panic.status,
  };
}

async function engage(deps: OpsDeps, reason: string, by: string): Promise<PanicStatus> {
  const wasEngaged = deps.panic.engaged;
  deps.panic.engage(deps.clock.nowMs(), reason);
  const ending = deps.processes.killAll();
  if (!wasEngaged) deps.log.append(systemSessionId, [{ type: 'panic.engaged', body: { reason, by } }], true);
  deps.runtime.stopAll('The panic stop was pressed.');
  const { killed, tookMs } = await ending;
  if (killed > 0 || !wasEngaged)
    deps.panic.restore(deps.log.append(systemSessionId, [{ type: 'panic.measured', body: { killed, tookMs } }]));
  const waited = new AbortController();
  await Promise.race([deps.runtime.whenIdle(), sleep(SETTLE_MAX_MS, waited.signal)]);
  waited.abort();
  return deps.panic.status;
}
