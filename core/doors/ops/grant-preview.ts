// Previews a grant: lists the recent calls that it would match, and how many of them a person approved. Reads the log newest first, for a
// bounded time.

import type { OpParsed, OpResult } from '../../contracts/ops.ts';
import type { GrantMatch } from '../../contracts/policy.ts';
import type { CallFacts } from '../../contracts/tools.ts';
import { matches } from '../../guard/policy/policy.ts';
import type { OpsParts } from './parts.ts';

type Deps = Pick<OpsParts, 'clock' | 'facts' | 'log' | 'tools'>;

const DAY_MS = 86_400_000;
const SHOWN_MAX = 200;
const SEQS_AT_ONCE = 2_000;
/** Short, because a person waits for the preview with an approval on the screen. */
const LOOKING_MS_MAX = 250;

export function previewGrant(deps: Deps, params: OpParsed<'grant.preview'>): OpResult<'grant.preview'> {
  const sinceMs = deps.clock.nowMs() - (params.days ?? 30) * DAY_MS;
  const looking = { lookedBackToMs: null as number | null };
  const covered: OpResult<'grant.preview'>['covered'] = [];
  let asked = 0;
  let total = 0;
  for (const call of recentCalls(deps, sinceMs, looking)) {
    if (call.callId === params.exceptCallId || !covers(deps, params.match, call)) continue;
    total += 1;
    if (call.wasAsked) asked += 1;
    if (covered.length < SHOWN_MAX) covered.push(describeCall(deps, call));
  }
  return { covered, asked, total, ...looking };
}

/** Parses the arguments only if the match depends on them. */
function covers(deps: Deps, match: GrantMatch, call: RecentCall): boolean {
  if (match.kind !== 'writes' && match.tool !== call.tool) return false;
  const parsed = match.kind === 'exact' ? deps.tools.parse(call.tool, call.args) : null;
  if (parsed !== null && !parsed.ok) return false;
  const argsHash = parsed?.value.argsHash ?? '';
  return matches(match, { tool: call.tool, argsHash, facts: call.facts, workspace: call.facts.workspace ?? deps.facts.workspace });
}

function describeCall(deps: Deps, call: RecentCall): OpResult<'grant.preview'>['covered'][number] {
  const { callId, tool, atMs } = call;
  const parsed = deps.tools.parse(tool, call.args);
  // If the tool no longer exists, or its arguments have changed, only its name is known.
  const summary = parsed.ok ? parsed.value.tool.summarize(parsed.value.args) : tool;
  return { callId, tool, summary, atMs, outcome: call.wasAsked ? 'asked' : 'allowed' };
}

interface RecentCall {
  readonly callId: string;
  readonly tool: string;
  readonly args: string;
  readonly facts: CallFacts;
  readonly atMs: number;
  readonly wasAsked: boolean;
}

/**
 * Yields the calls that reached the gate, newest first. Since the log records arguments after the decision, they are met first when reading
 * backwards.
 */
function* recentCalls(deps: Deps, sinceMs: number, looking: { lookedBackToMs: number | null }): Generator<RecentCall> {
  const args = new Map<string, string>();
  const endMs = deps.clock.monotonicMs() + LOOKING_MS_MAX;
  for (let to = deps.log.lastSeq + 1; to > 1; to -= SEQS_AT_ONCE) {
    let oldestMs = Number.MAX_SAFE_INTEGER;
    for (const event of deps.log.reads.newestBetween(['policy.decided', 'tool.requested', 'approval.requested'], to - SEQS_AT_ONCE, to)) {
      oldestMs = Math.min(oldestMs, event.atMs);
      if (event.atMs < sinceMs) continue;
      if (event.type === 'tool.requested') args.set(event.body.callId, event.body.args);
      else if (event.type === 'approval.requested') args.set(event.body.approval.callId, event.body.approval.args);
      else if (event.type === 'policy.decided') {
        const { callId, tool, facts, decision } = event.body;
        const text = args.get(callId);
        args.delete(callId);
        if (text !== undefined) yield { callId, tool, args: text, facts, atMs: event.atMs, wasAsked: decision === 'ask' };
      }
    }
    if (oldestMs < sinceMs) return;
    if (to > SEQS_AT_ONCE && deps.clock.monotonicMs() > endMs) {
      looking.lookedBackToMs = oldestMs === Number.MAX_SAFE_INTEGER ? deps.clock.nowMs() : oldestMs;
      return;
    }
  }
}
