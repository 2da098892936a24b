// Decides whether an approval also covers the call as the person changed it: only if the approval already showed everything the changed
// call can do. Pure; anything else needs another approval.

import { graveKind } from '../../contracts/grave-calls.ts';
import type { CallFacts } from '../../contracts/tools.ts';

/** Returns whether a person must first see something of the changed call: another class, a wider reach, or a risk that was not named. */
export function showsMore(asked: CallFacts, edited: CallFacts): boolean {
  return edited.class !== asked.class || graveKind(edited) !== null || reachesFurther(asked, edited) || isLessClear(asked, edited);
}

function reachesFurther(asked: CallFacts, edited: CallFacts): boolean {
  const known = new Set(asked.paths.map(({ real, access }) => `${access} ${real}`));
  const isNew = ({ real, access }: CallFacts['paths'][number]): boolean => !known.has(`${access} ${real}`);
  return (
    edited.paths.some((path) => isNew(path) && (!path.insideWorkspace || path.protectedBy !== null)) ||
    edited.hosts.some((host) => !asked.hosts.includes(host)) ||
    (edited.risks ?? []).some((risk) => !(asked.risks ?? []).includes(risk)) ||
    JSON.stringify(edited.recipient) !== JSON.stringify(asked.recipient) ||
    (edited.request !== undefined && edited.request.method !== asked.request?.method)
  );
}

/** A line that is not understood can do anything, and so can a command that runs in another folder. */
function isLessClear(asked: CallFacts, edited: CallFacts): boolean {
  if (edited.command === null) return false;
  return asked.command === null || edited.command.cwd !== asked.command.cwd || isUnclear(edited.command) > isUnclear(asked.command);
}

function isUnclear({ plain, joined }: NonNullable<CallFacts['command']>): number {
  return plain === undefined && joined === undefined ? 1 : 0;
}
