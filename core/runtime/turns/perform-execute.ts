// Performs `execute` and `verify`: the only place where a tool runs. The request is in the log, with the spent grant, before the effect begins.

import { canonicalJson } from '../../base/json.ts';
import { toAppError } from '../../contracts/errors.ts';
import type { CallState, Intent } from '../../agent/brain/brain.ts';
import { configApprovalId } from '../../contracts/policy.ts';
import type { ToolContext } from '../../contracts/tools.ts';
import { noTaint } from '../../guard/policy/policy.ts';
import { authorizeCall, callsOf } from './perform-authorize.ts';
import type { HostedResult, ParsedCall } from './ports.ts';
import type { RunningTurn, Step } from './running-turn.ts';

interface ReadyCall {
  readonly call: CallState;
  readonly parsed: ParsedCall;
}

export function performExecute(runner: RunningTurn, intent: Extract<Intent, { kind: 'execute' }>): Step | Promise<Step> {
  const ready: ReadyCall[] = [];
  for (const call of callsOf(runner, intent.callIds)) {
    const checked = readyToRun(runner, call);
    if (checked !== null) ready.push(checked);
  }
  if (ready.length === 0) return 'next';
  runner.deps.crashPoints.reach('before-request');
  for (const { call, parsed } of ready) request(runner, call, parsed);
  if (ready.every(({ call }) => call.idempotency === 'pure')) return runPure(runner, ready);
  // What is not pure must be known to have begun, whatever happens to the machine.
  runner.flush(true);
  return runAll(runner, ready);
}

/** A pure call may run again, so its request need not be written first; a slow one is written for people to see. */
async function runPure(runner: RunningTurn, ready: readonly ReadyCall[]): Promise<Step> {
  const showNoMore = runner.flushSoon();
  try {
    return await runAll(runner, ready);
  } finally {
    showNoMore();
  }
}

/** Null when the call may not run now: what it would touch has changed, or the grant behind it is gone, and it was asked about again. */
function readyToRun(runner: RunningTurn, call: CallState): ReadyCall | null {
  const { deps } = runner;
  const parsed = deps.tools.parse(call.tool, call.args);
  if (!parsed.ok) {
    runner.emit('tool.rejected', { callId: call.callId, tool: call.tool, error: parsed.error.toBody() });
    return null;
  }
  // What no person was asked about and only looks is judged by its tool as it runs.
  if (call.idempotency === 'pure' && call.approvalId === null && !deps.panic.engaged) return { call, parsed: parsed.value };
  const drift = describeDrift(runner, call, parsed.value);
  if (drift === null) return { call, parsed: parsed.value };
  deps.logger.log('info', 'a call is asked about again', { callId: call.callId, drift });
  authorizeCall(runner, call);
  return null;
}

function describeDrift(runner: RunningTurn, call: CallState, parsed: ParsedCall): string | null {
  const { deps } = runner;
  if (deps.panic.engaged) return 'panic stop';
  const approval = call.approvalId === null ? null : deps.policy.approval(call.approvalId);
  if (approval !== null) {
    const now = parsed.tool.facts(parsed.args, deps.facts);
    if (canonicalJson(now) !== canonicalJson(approval.facts)) return 'what it would touch has changed';
    if (approval.args !== parsed.argsJson) return 'its arguments have changed';
  }
  const taken = call.grantId === null ? null : describeGrantDrift(runner, call, call.grantId);
  // Nobody was shown this call: what it touches now is what must be allowed.
  const goesOn = call.retried && call.grantId !== null;
  return taken ?? (call.approvalId === null && !goesOn ? describeUnseenDrift(runner, call, parsed) : null);
}

function describeGrantDrift(runner: RunningTurn, call: CallState, grantId: string): string | null {
  const { deps } = runner;
  const grant = deps.policy.grant(grantId);
  if (grant === null || grant.revokedAtMs !== null) return 'its permission was taken back';
  // What ran once on this permission goes on with it: it was spent on this very call.
  if (call.retried) return null;
  if (grant.spentAtMs !== null) return 'its permission was already used';
  if (grant.expiresAtMs !== null && deps.clock.nowMs() >= grant.expiresAtMs) return 'its permission ran out';
  return null;
}

function describeUnseenDrift(runner: RunningTurn, call: CallState, parsed: ParsedCall): string | null {
  const { deps, place, origin } = runner;
  const facts = parsed.tool.facts(parsed.args, deps.facts);
  // Its words are those that were weighed when it was first judged.
  const now = deps.gate.authorize({
    sessionId: place.sessionId,
    tool: call.tool,
    argsHash: parsed.argsHash,
    facts,
    origin,
    taint: noTaint,
    dispatch: { grantId: call.grantId },
  });
  // Bound to nothing yet, though it was when it was judged: what it runs is not what was seen then.
  return now.decision === 'allow' && now.firstUse === null ? null : 'what it would touch is no longer covered';
}

function request(runner: RunningTurn, call: CallState, parsed: ParsedCall): void {
  const { deps } = runner;
  const grant = call.grantId === null ? null : deps.policy.grant(call.grantId);
  if (grant?.scope.kind === 'once' && grant.spentAtMs === null) runner.emit('grant.spent', { grantId: grant.grantId, callId: call.callId });
  // What a rule let through was counted then.
  const asked = call.approvalId === null ? null : deps.policy.approval(call.approvalId);
  if (asked !== null) deps.gate.count(asked);
  runner.emit('tool.requested', {
    callId: call.callId,
    tool: call.tool,
    args: parsed.argsJson,
    argsHash: parsed.argsHash,
    idempotency: call.idempotency,
    idempotencyKey: call.callId,
    grantId: call.grantId,
  });
}

async function runAll(runner: RunningTurn, ready: readonly ReadyCall[]): Promise<Step> {
  const only = ready[0];
  if (ready.length === 1 && only !== undefined) await runOne(runner, only);
  else await Promise.all(ready.map((item) => runOne(runner, item)));
  return runner.halted ? 'halt' : 'next';
}

async function runOne(runner: RunningTurn, { call, parsed }: ReadyCall): Promise<void> {
  const { tools, crashPoints } = runner.deps;
  crashPoints.reach('after-request');
  const heard = new Set<string>();
  const result = await tools.run(parsed, createContext(runner, call, heard));
  crashPoints.reach('after-effect');
  // A halted program writes no results of what it cut off: the next start finds the call open and settles it by its class.
  if (runner.halted) return;
  const isMarked = markSources(runner, call, parsed, { result, sessions: [...heard] });
  finish(runner, call, result, isMarked);
  crashPoints.reach('after-result');
}

/** Before the result is anybody's to read, the log says whose words are in it. */
function markSources(
  runner: RunningTurn,
  call: CallState,
  parsed: ParsedCall,
  { result, sessions }: { readonly result: HostedResult; readonly sessions: readonly string[] },
): boolean {
  const { deps, place } = runner;
  const { argsJson, argsHash } = parsed;
  const facts = runner.callFacts.get(call.callId) ?? parsed.tool.facts(parsed.args, deps.facts);
  runner.callFacts.delete(call.callId);
  if (deps.taint.isTainted(place.sessionId)) runner.flush();
  const marks = deps.taint.marksOf(
    { sessionId: place.sessionId, callId: call.callId, tool: call.tool, argsJson, argsHash, facts },
    { untrusted: result.untrusted, sessions, resultText: result.forModel, ok: result.outcome === 'ok' },
  );
  if (marks !== null) runner.emit('taint.marked', marks, 'observe');
  return marks !== null;
}

function finish(runner: RunningTurn, call: CallState, result: HostedResult, isMarked: boolean): void {
  const redact = (text: string): string => runner.deps.redact(text);
  runner.emit(
    'tool.finished',
    {
      callId: call.callId,
      tool: call.tool,
      outcome: result.outcome,
      forModel: redact(result.forModel),
      forUser: redact(result.forUser),
      silent: result.silent,
      isAsync: result.isAsync,
      artifacts: [...result.artifacts],
      tookMs: result.tookMs,
      resultHash: result.resultHash,
    },
    'observe',
  );
  // A pure result may be had again; any other is written at once, and so is what the next call is judged by.
  if (isMarked || call.idempotency !== 'pure' || result.tookMs > 50) runner.flush();
}

/** `heard` takes the other conversations that the call is shown parts of. */
function createContext(runner: RunningTurn, call: CallState, heard: Set<string>): ToolContext {
  const { deps, place } = runner;
  return {
    ...deps.facts,
    ...place,
    callId: call.callId,
    attended: call.approvalId !== null || isOfPerson(runner, call.grantId),
    idempotencyKey: call.callId,
    signal: runner.abort.signal,
    processMarker: { ...deps.instanceMarker, TRAYCLAW_CALL: call.callId },
    artifacts: {
      put: (content, about) => deps.artifacts.put(content, about),
      read: (idOrAlias, range) => {
        for (const sessionId of deps.artifactSessions(idOrAlias)) heard.add(sessionId);
        return deps.artifacts.read(idOrAlias, range);
      },
    },
    onOutput: (chunk) => {
      if (deps.wantsDeltas()) deps.publishDelta({ kind: 'output', ...place, callId: call.callId, text: deps.redact(chunk) });
    },
    onSpawn: (record) => {
      runner.emit('tool.spawned', { callId: call.callId, pid: record.pid, startTime: record.startTime }, 'act');
      runner.flush();
      deps.crashPoints.reach('spawned');
    },
    searchSessions: (query, limit) => {
      const hits = deps.searchSessions(query, limit);
      for (const hit of hits) heard.add(hit.sessionId);
      return hits;
    },
  };
}

/** What runs on the first use of a command of config.yaml was never put to anybody. */
function isOfPerson(runner: RunningTurn, grantId: string | null): boolean {
  if (grantId === null) return false;
  const grant = runner.deps.policy.grant(grantId);
  return grant !== null && grant.approvalId !== configApprovalId;
}

export async function performVerify(runner: RunningTurn, intent: Extract<Intent, { kind: 'verify' }>): Promise<Step> {
  for (const call of callsOf(runner, intent.callIds)) {
    const { ok, detail } = await verifyCall(runner, call);
    if (runner.halted) return 'halt';
    runner.emit('verification.finished', { callId: call.callId, ok, detail });
  }
  return 'next';
}

async function verifyCall(runner: RunningTurn, call: CallState): Promise<{ ok: boolean; detail: string }> {
  const parsed = runner.deps.tools.parse(call.tool, call.args);
  if (!parsed.ok) return { ok: false, detail: parsed.error.message };
  const { tool, args } = parsed.value;
  if (tool.verify === undefined) return { ok: true, detail: 'nothing to check' };
  try {
    return await tool.verify(args, createContext(runner, call, new Set()));
  } catch (cause) {
    return { ok: false, detail: toAppError(cause).message };
  }
}
