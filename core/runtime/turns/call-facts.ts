// The workspace of a turn's calls: the session's folder with which calls are judged and run, and whether that folder is trusted. Each check
// verifies on disk that it is still the folder that the person trusted.

import type { CallState } from '../../agent/brain/brain.ts';
import { ok, type Result } from '../../base/result.ts';
import { AppError } from '../../contracts/errors.ts';
import type { RequestedCall } from '../../contracts/llm.ts';
import type { Outsider, PrivatePart } from '../../contracts/outsider.ts';
import { configApprovalId } from '../../contracts/policy.ts';
import type { CallFacts, FactContext, ToolDefinition } from '../../contracts/tools.ts';
import { openWorkspaceTool } from '../../contracts/workspace-ops.ts';
import type { ParsedCall, TurnDeps } from './ports.ts';
import type { RunningTurn } from './running-turn.ts';

/**
 * Returns the arguments of a call, parsed once per turn, so that its decision, its run and its check use the same value. Parses them again
 * if the tool of that name has been replaced. Fails as `ToolPort.parse` does.
 */
export function parseOnce({ deps: { tools }, parsedCalls }: RunningTurn, { callId, tool, args }: CallState): Result<ParsedCall, AppError> {
  const known = parsedCalls.get(callId);
  if (known?.given === args && tools.get(tool) === known.call.tool) return ok(known.call);
  const parsed = tools.parse(tool, args);
  if (parsed.ok) parsedCalls.set(callId, { given: args, call: parsed.value });
  else parsedCalls.delete(callId);
  return parsed;
}

/** Fails with `denied` while the folder is not trusted. The call that asks for that trust is exempt. */
export function contextOf({ deps, place, workspace }: RunningTurn, { tool }: ParsedCall): FactContext {
  return { ...deps.workspaces.contextOf(asksForTrust(tool) ? null : workspace), ...place };
}

export function factsOf({ workspace, bounds }: RunningTurn, { tool, args }: ParsedCall, context: FactContext): CallFacts {
  const told = tool.facts(args, context);
  const facts = { ...told, ...withheldFrom(bounds?.outsider, tool, told) };
  return workspace === null || asksForTrust(tool) ? facts : { ...facts, workspace };
}

/** The first calls of a chat, before its model is asked: whether it may work in its folder. */
export function openingCalls({ ids, workspaces }: Pick<TurnDeps, 'ids' | 'workspaces'>, workspace: string | null): RequestedCall[] {
  if (workspace === null || workspaces.holds(workspace)) return [];
  const callId = ids.next('call');
  return [{ callId, providerCallId: callId, tool: openWorkspaceTool, args: JSON.stringify({ path: workspace }) }];
}

/** Refuses an internal tool that a model calls, as if the name were unknown. Null for every other call. */
export function refuseInternal({ state }: RunningTurn, { tool }: ParsedCall): AppError | null {
  // The operation for direct calls refuses these names, so a direct call of an internal tool comes from the program itself.
  const isProgram = state.kind === 'tool' || state.modelCalls === 0;
  return tool.isInternal !== true || isProgram ? null : new AppError('unknown_tool', `There is no tool called ${tool.name}.`);
}

/** Returns whether a person approved the grant. A command of config.yaml was not shown for approval at its first use. */
export function isOfPerson({ deps }: RunningTurn, grantId: string | null): boolean {
  if (grantId === null) return false;
  const grant = deps.policy.grant(grantId);
  return grant !== null && grant.approvalId !== configApprovalId;
}

function asksForTrust({ name }: ParsedCall['tool']): boolean {
  return name === openWorkspaceTool;
}

// Limits what a turn shows to its outsider: finds the calls that show private data, and the sessions that a result may contain. The gate
// decides about the calls.

const partNames: Readonly<Record<PrivatePart, string>> = {
  memory: 'what is remembered',
  documents: 'your documents',
  sessions: 'your conversations',
  files: 'files of the workspace',
};

/** For the facts of a call: the private data that it shows beyond what the outsider may see. */
function withheldFrom(outsider: Outsider | undefined, { isPrivate }: ToolDefinition, facts: CallFacts): Pick<CallFacts, 'withheld'> {
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
