// Checks a call against the bounds of its turn, as a pure function. Can only refuse; the other rules decide about calls within the bounds.

import { isInside } from '../../base/inside-folder.ts';
import type { CallFacts, ToolClass } from '../../contracts/tools.ts';
import type { TurnBounds } from '../../contracts/turn-bounds.ts';

export interface JudgedBounds {
  readonly bounds: TurnBounds;
  /** Returns whether the hosts of the bounds cover this host. */
  coversHost(host: string): boolean;
}

export interface BoundedCall {
  readonly tool: string;
  readonly facts: CallFacts;
  /** The class of the actual effect, if it is graver than the declared class. */
  readonly effect: ToolClass;
  /** True for a command that is known to do nothing but read inside the workspace. */
  readonly onlyReads: boolean;
}

export interface Exclusion {
  readonly ruleId: 'bounds.plan' | 'bounds.tool' | 'bounds.class' | 'bounds.folder' | 'bounds.host';
  readonly reason: string;
}

export function exclusionOf(call: BoundedCall, judged: JudgedBounds): Exclusion | null {
  return (
    byPlan(call, judged.bounds) ??
    byTool(call, judged.bounds) ??
    byClass(call, judged.bounds) ??
    byFolder(call, judged.bounds) ??
    byHost(call, judged)
  );
}

/** A call that only fetches a page counts as a read; the other rules decide whether it may. */
function byPlan({ facts, effect, onlyReads }: BoundedCall, { planFirst }: TurnBounds): Exclusion | null {
  if (planFirst === undefined || facts.approvesPlan === true || effect === 'read' || onlyReads) return null;
  const isFetch = effect === 'network' && facts.command === null && facts.request?.reads === true;
  if (isFetch && facts.paths.every(({ access }) => access === 'read')) return null;
  return { ruleId: 'bounds.plan', reason: 'Only reads run here until a person has approved a plan. Propose it with the tool plan.' };
}

function byTool({ tool }: BoundedCall, { tools }: TurnBounds): Exclusion | null {
  if (tools === null || tools.includes(tool)) return null;
  return { ruleId: 'bounds.tool', reason: `This turn may not use the tool ${tool}.` };
}

function byClass(call: BoundedCall, { classes }: TurnBounds): Exclusion | null {
  if (classes === null) return null;
  const missing = classesOf(call).find((needed) => !classes.includes(needed));
  return missing === undefined ? null : { ruleId: 'bounds.class', reason: `This turn may do nothing of the class ${missing}.` };
}

/** A call that fetches or sends and also stores something is a write as well. */
function classesOf({ facts, effect }: BoundedCall): ToolClass[] {
  const writesToo = (effect === 'network' || effect === 'message') && facts.paths.some((path) => path.access === 'write');
  return writesToo ? [effect, 'write'] : [effect];
}

function byFolder({ facts, onlyReads }: BoundedCall, { folders }: TurnBounds): Exclusion | null {
  if (folders === null) return null;
  const where = folders.length === 0 ? 'nowhere' : `only in ${folders.join(', ')}`;
  const outside = facts.paths.find((path) => path.access === 'write' && !folders.some((folder) => isInside(path.real, folder)));
  if (outside !== undefined) return { ruleId: 'bounds.folder', reason: `This turn may write ${where}, and ${outside.given} is not there.` };
  // Only some of the files a command writes are known beforehand.
  if (facts.command === null || onlyReads) return null;
  return { ruleId: 'bounds.folder', reason: `This turn may write ${where}; what a command writes is not known before it runs.` };
}

function byHost({ facts, onlyReads }: BoundedCall, judged: JudgedBounds): Exclusion | null {
  const { hosts } = judged.bounds;
  if (hosts === null) return null;
  const which = hosts.length === 0 ? 'no host' : `only ${hosts.join(', ')}`;
  const foreign = facts.hosts.find((host) => !judged.coversHost(host));
  if (foreign !== undefined) return { ruleId: 'bounds.host', reason: `This turn may reach ${which}, and ${foreign} is another.` };
  if (facts.command === null || onlyReads) return null;
  return { ruleId: 'bounds.host', reason: `This turn may reach ${which}; what a command reaches is not known before it runs.` };
}
