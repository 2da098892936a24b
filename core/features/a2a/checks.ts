// Health checks of the agents on other machines: peers that cannot be used, and the group. Reports nothing if there are none.

import { counted } from '../../base/counted.ts';
import { toAppError } from '../../contracts/errors.ts';
import { unwell, well, type Finding, type HealthSource } from '../../contracts/health.ts';
import type { PeerView } from '../../contracts/features/a2a.ts';

interface Looked {
  readonly group: (() => Promise<{ readonly waiting: number }>) | null;
  readonly peers: readonly string[];
  readonly look: () => Promise<readonly PeerView[]>;
}

/** Contacts the peers only in a full check, since each unreachable peer takes a moment. */
export function a2aChecks({ peers, look, group }: Looked): HealthSource {
  return {
    check: async (full) => [
      ...(full && peers.length > 0 ? (await look()).map(findingOf) : []),
      ...(group === null ? [] : [await groupFinding(group)]),
    ],
  };
}

async function groupFinding(look: () => Promise<{ readonly waiting: number }>): Promise<Finding> {
  try {
    const { waiting } = await look();
    return well('a2a.group', `The NATS server of the group answers; ${counted(waiting, 'task waits or runs', 'tasks wait or run')}.`);
  } catch (cause) {
    const { message, hint } = toAppError(cause);
    return unwell('a2a.group', message, hint ?? 'Check a2a.nats in config.yaml.');
  }
}

function findingOf({ peer, state, problem, name }: PeerView): Finding {
  const id = `a2a.${peer}`;
  if (state === 'connected') return well(id, `The agent ${peer} answers${name === '' ? '' : ` as ${name}`}.`);
  return unwell(id, problem ?? `The agent ${peer} cannot be used.`, 'trayclaw a2a peers');
}
