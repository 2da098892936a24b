// What a grant would have covered lately: the calls of the last days that it matches, and how many of them a person was asked about.

import type { OpParsed, OpResult } from '../../contracts/ops.ts';
import type { CallFacts } from '../../contracts/tools.ts';
import { matches } from '../../guard/policy/policy.ts';
import type { OpsDeps } from './deps.ts';

const DAY_MS = 86_400_000;
const SCANNED_MAX = 20_000;
const SHOWN_MAX = 200;

export function previewGrant(deps: OpsDeps, params: OpParsed<'grant.preview'>): OpResult<'grant.preview'> {
  const sinceMs = deps.clock.nowMs() - (params.days ?? 30) * DAY_MS;
  const covered: OpResult<'grant.preview'>['covered'] = [];
  let asked = 0;
  for (const call of recentCalls(deps, sinceMs)) {
    const parsed = deps.tools.parse(call.tool, call.args);
    if (!parsed.ok) continue;
    const { argsHash, tool, args } = parsed.value;
    if (!matches(params.match, { tool: call.tool, argsHash, facts: call.facts, workspace: deps.facts.workspace })) continue;
    if (call.wasAsked) asked += 1;
    if (covered.length < SHOWN_MAX)
      covered.push({
        callId: call.callId,
        tool: call.tool,
        summary: tool.summarize(args),
        atMs: call.atMs,
        outcome: call.wasAsked ? 'asked' : 'allowed',
      });
  }
  return { covered, asked };
}

interface RecentCall {
  readonly callId: string;
  readonly tool: string;
  readonly args: string;
  readonly facts: CallFacts;
  readonly atMs: number;
  readonly wasAsked: boolean;
}

/** Calls that came before the gate, newest first. The scan is newest first too, so arguments are met before the decision they belong to. */
function* recentCalls(deps: OpsDeps, sinceMs: number): Generator<RecentCall> {
  const args = new Map<string, string>();
  for (const event of deps.log.reads.newestOfTypes(['policy.decided', 'tool.requested', 'approval.requested'], sinceMs, SCANNED_MAX)) {
    if (event.type === 'tool.requested') args.set(event.body.callId, event.body.args);
    else if (event.type === 'approval.requested') args.set(event.body.approval.callId, event.body.approval.args);
    else if (event.type === 'policy.decided') {
      const { callId, tool, facts, decision } = event.body;
      const text = args.get(callId);
      args.delete(callId);
      if (text !== undefined) yield { callId, tool, args: text, facts, atMs: event.atMs, wasAsked: decision === 'ask' };
    }
  }
}
