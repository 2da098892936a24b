// The workspace of a turn's calls: the session's folder with which calls are judged and run, and whether that folder is trusted. Each check
// verifies on disk that it is still the folder that the person trusted.

import { ok, type Result } from '../../base/result.ts';
import { AppError } from '../../contracts/errors.ts';
import type { RequestedCall } from '../../contracts/llm.ts';
import type { CallFacts, FactContext } from '../../contracts/tools.ts';
import { configApprovalId } from '../../contracts/policy.ts';
import { openWorkspaceTool } from '../../contracts/workspace-ops.ts';
import type { CallState } from '../../agent/brain/brain.ts';
import { withheldFrom } from './outsider-view.ts';
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
