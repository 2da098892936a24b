// Limits what a turn shows to its outsider: finds the calls that show private data, and the sessions that a result may contain. The gate
// decides about the calls.

import { AppError } from '../../contracts/errors.ts';
import type { Outsider, PrivatePart } from '../../contracts/outsider.ts';
import type { CallFacts, ToolDefinition } from '../../contracts/tools.ts';
import type { RunningTurn } from './running-turn.ts';

const partNames: Readonly<Record<PrivatePart, string>> = {
  memory: 'what is remembered',
  documents: 'your documents',
  sessions: 'your conversations',
  files: 'files of the workspace',
};

/** For the facts of a call: the private data that it shows beyond what the outsider may see. */
export function withheldFrom(outsider: Outsider | undefined, { isPrivate }: ToolDefinition, facts: CallFacts): Pick<CallFacts, 'withheld'> {
  if (outsider === undefined) return {};
  const { name, sees } = outsider;
  const shows = (what: string): Pick<CallFacts, 'withheld'> => ({ withheld: `It shows ${what} to ${name}, who began this turn.` });
  if (isPrivate === true) return shows('private data');
  // Other sessions are left out of the result itself.
  if (isPrivate !== undefined && isPrivate !== 'sessions' && !sees.includes(isPrivate)) return shows(partNames[isPrivate]);
  const readsFiles = facts.command !== null || facts.paths.some(({ access }) => access === 'read');
  return readsFiles && !sees.includes('files') ? shows(partNames.files) : {};
}

/** Whether a result may contain parts of a session: an outsider sees their own only. */
export function maySee({ bounds, deps, place }: RunningTurn, sessionId: string): boolean {
  const outsider = bounds?.outsider;
  if (outsider === undefined || outsider.sees.includes('sessions') || sessionId === place.sessionId) return true;
  const first = (type: 'session.created' | 'turn.started') => deps.log.reads.slice(sessionId, { types: [type], limit: 1 })[0];
  const created = first('session.created');
  // The owner may have continued a fork.
  if (created?.type !== 'session.created' || created.body.forkedFrom !== null) return false;
  const started = first('turn.started');
  return started?.type === 'turn.started' && started.body.bounds?.outsider?.id === outsider.id;
}

/** Fails with not_found, as for an unknown artifact. */
export function assertMayRead(runner: RunningTurn, artifact: string, sessions: readonly string[]): void {
  if (runner.bounds?.outsider === undefined || sessions.some((sessionId) => maySee(runner, sessionId))) return;
  throw new AppError('not_found', `There is no artifact ${artifact.slice(0, 100)}.`);
}
