// Performs `execute` and `verify`: the only place where a tool runs. The request is in the log, with the spent grant, before the effect
// begins.

import { canonicalJson } from '../../base/json.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import type { CallState, Intent } from '../../agent/brain/brain.ts';
import { noTaint, type CallFacts, type FactContext, type ToolContext } from '../../contracts/tools.ts';
import { hasRunOut } from '../../guard/policy/policy.ts';
import type { Copies, FindCopies } from '../../guard/taint/taint.ts';
import { keepFiles, writtenPaths, type KeptCall, type ReadyCall } from './keep-files.ts';
import { LiveText } from './live-text.ts';
import { tellHooks } from './hooks-of-turn.ts';
import { assertMayRead, contextOf, factsOf, isOfPerson, maySee, parseOnce } from './call-facts.ts';
import { afterChecks, authorizeCall, callsOf, rejectCall } from './perform-authorize.ts';
import type { HostedResult, LastOutputPort, LateCopiesPort, ParsedCall } from './ports.ts';
import type { RunningTurn, Step } from './running-turn.ts';

/** How often a call whose facts differ each time it is about to run is judged again before it is refused. */
const DRIFTS_MAX = 5;
/** How many hits are searched for those that an outsider may see. */
const SEARCHED_MAX = 1_000;

export function performExecute(runner: RunningTurn, intent: Extract<Intent, { kind: 'execute' }>): Step | Promise<Step> {
  const ready: ReadyCall[] = [];
  const checks: Promise<void>[] = [];
  for (const call of callsOf(runner, intent.callIds)) {
    const checked = readyToRun(runner, call);
    if (checked instanceof Promise) checks.push(checked);
    else if (checked !== null) ready.push(checked);
  }
  if (checks.length > 0) return afterChecks(runner, checks).then((step) => (step === 'next' ? runReady(runner, ready) : step));
  return runReady(runner, ready);
}

function runReady(runner: RunningTurn, ready: readonly ReadyCall[]): Step | Promise<Step> {
  if (ready.length === 0) return 'next';
  const kept = keepFiles(runner, ready);
  return kept instanceof Promise ? kept.then((items) => beginIfUnchanged(runner, items)) : begin(runner, kept);
}

function begin(runner: RunningTurn, kept: readonly KeptCall[]): Step | Promise<Step> {
  if (runner.halted) return 'halt';
  if (kept.length === 0) return 'next';
  runner.deps.crashPoints.reach('before-request');
  for (const item of kept) request(runner, item);
  if (kept.every(({ call }) => call.idempotency === 'pure')) return runPure(runner, kept);
  // A call with side effects must be recorded durably before it begins, even if the machine fails.
  runner.flush(true);
  return runAll(runner, kept);
}

/** Begins only calls that may still run: while a large file was being saved, anything checked before may have changed. */
async function beginIfUnchanged(runner: RunningTurn, kept: readonly KeptCall[]): Promise<Step> {
  if (runner.halted) return 'halt';
  const still: KeptCall[] = [];
  const checks: Promise<void>[] = [];
  for (const item of kept) {
    const now = readyToRun(runner, item.call);
    if (now === null) continue;
    if (now instanceof Promise) checks.push(now);
    else if (writtenPaths(now.facts).join('\0') === writtenPaths(item.facts).join('\0')) still.push(item);
    else {
      const check = judgeAgain(runner, item.call);
      if (check !== null) checks.push(check);
    }
  }
  const step = checks.length === 0 ? 'next' : await afterChecks(runner, checks);
  return step === 'next' ? begin(runner, still) : step;
}

/** A pure call may run again, so its request does not have to be written first. The request of a slow one is written for people to see. */
async function runPure(runner: RunningTurn, ready: readonly KeptCall[]): Promise<Step> {
  const showNoMore = runner.flushSoon(false);
  try {
    return await runAll(runner, ready);
  } finally {
    showNoMore();
  }
}

/** Null if the call may not run now, because its facts changed or its grant is gone: it is judged again. A promise until that is done. */
function readyToRun(runner: RunningTurn, call: CallState): ReadyCall | Promise<void> | null {
  const { deps } = runner;
  const parsed = parseOnce(runner, call);
  if (!parsed.ok) {
    runner.emit('tool.rejected', { callId: call.callId, tool: call.tool, error: parsed.error.toBody() });
    return null;
  }
  const looked = lookAgain(runner, call, parsed.value);
  if (looked === null) return null;
  const { context, facts } = looked;
  const ready = { call, parsed: parsed.value, context };
  // A read-only call without an approval is checked by its tool as it runs.
  if (facts === null) return { ...ready, facts };
  const checked = { ...ready, facts };
  const drift = describeDrift(runner, checked);
  if (drift === null) return checked;
  deps.logger.log('info', 'a call is asked about again', { callId: call.callId, drift });
  return judgeAgain(runner, call);
}

/** Null if the folder of the call is no longer trusted, which is then recorded. */
function lookAgain(runner: RunningTurn, call: CallState, parsed: ParsedCall): Pick<ReadyCall, 'context' | 'facts'> | null {
  try {
    const context = contextOf(runner, parsed);
    const isFree = call.idempotency === 'pure' && call.approvalId === null && !runner.deps.panic.engaged;
    return { context, facts: isFree ? null : factsOf(runner, parsed, context) };
  } catch (cause) {
    rejectCall(runner, call, cause);
    return null;
  }
}

/** Returns a promise only if a hook or a verifier is still being asked. */
function judgeAgain(runner: RunningTurn, call: CallState): Promise<void> | null {
  const { callId, tool } = call;
  const times = (runner.drifts.get(callId) ?? 0) + 1;
  runner.drifts.set(callId, times);
  if (times <= DRIFTS_MAX) return authorizeCall(runner, call);
  const error = new AppError('conflict', `Each time ${tool} was about to run, what it would touch had changed; it was not run.`, {
    hint: 'See what keeps changing it, then try again.',
  });
  runner.emit('tool.rejected', { callId, tool, error: error.toBody() });
  return null;
}

type CheckedCall = ReadyCall & { readonly facts: CallFacts };

function describeDrift(runner: RunningTurn, { call, parsed, context, facts }: CheckedCall): string | null {
  const { deps } = runner;
  if (deps.panic.engaged) return 'panic stop';
  const approval = call.approvalId === null ? null : deps.policy.approval(call.approvalId);
  if (approval !== null) {
    if (canonicalJson(facts) !== canonicalJson(approval.facts)) return 'what it would touch has changed';
    if (approval.args !== parsed.argsJson) return 'its arguments have changed';
  }
  const taken = call.grantId === null ? null : describeGrantDrift(runner, call, call.grantId);
  // The person was not shown this call, so its current facts are what must be allowed.
  const continuesOnGrant = call.retried && call.grantId !== null;
  return taken ?? (call.approvalId === null && !continuesOnGrant ? describeUnseenDrift(runner, { call, parsed, context, facts }) : null);
}

function describeGrantDrift(runner: RunningTurn, call: CallState, grantId: string): string | null {
  const { deps } = runner;
  const grant = deps.policy.grant(grantId);
  if (grant === null || grant.revokedAtMs !== null) return 'its grant was revoked';
  // A call that already ran on this grant continues with it: the grant was spent on this very call.
  if (call.retried) return null;
  if (grant.spentAtMs !== null) return 'its grant was already spent';
  if (hasRunOut(grant, deps.clock.nowMs())) return 'its grant ran out';
  return null;
}

function describeUnseenDrift(runner: RunningTurn, { call, parsed, facts }: CheckedCall): string | null {
  const { deps, place, origin, bounds } = runner;
  // Untrusted sources were judged in the first decision, and are not judged again here.
  const now = deps.gate.authorize({
    sessionId: place.sessionId,
    tool: call.tool,
    argsHash: parsed.argsHash,
    facts,
    origin,
    taint: noTaint,
    dispatch: { grantId: call.grantId },
    ...(bounds === null ? {} : { bounds }),
  });
  // A first use now means that files decide what the command does which no grant covers: they appeared after the first decision.
  return now.decision === 'allow' && now.firstUse === null ? null : 'what it would touch is no longer covered';
}

function request(runner: RunningTurn, { call, parsed, before }: KeptCall): void {
  const { deps } = runner;
  const grant = call.grantId === null ? null : deps.policy.grant(call.grantId);
  if (grant?.scope.kind === 'once' && grant.spentAtMs === null) runner.emit('grant.spent', { grantId: grant.grantId, callId: call.callId });
  // A call that a rule allowed was counted at that time.
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
  if (before !== null) runner.emit('checkpoint.taken', { callId: call.callId, files: [...before] });
}

async function runAll(runner: RunningTurn, ready: readonly KeptCall[]): Promise<Step> {
  const only = ready[0];
  if (ready.length === 1 && only !== undefined) await runOne(runner, only);
  else await Promise.all(ready.map((item) => runOne(runner, item)));
  return runner.halted ? 'halt' : 'next';
}

async function runOne(runner: RunningTurn, { call, parsed, context, before, facts }: KeptCall): Promise<void> {
  const { tools, crashPoints, checkpoints } = runner.deps;
  crashPoints.reach('after-request');
  const output = new LiveText(runner, { kind: 'output', ...runner.place, callId: call.callId });
  const kept = keepOutput(runner, call);
  const shown = new Set<string>();
  if (parsed.tool.abortGraceMs !== undefined) runner.reportingCalls.began(call.callId);
  const watch = watchCopies(runner, facts);
  if (watch.found !== null) await watch.found;
  const result = await tools.run(parsed, createContext(runner, call, { context, output, kept, shown }));
  runner.reportingCalls.ended(call.callId);
  const given = output.end();
  if (given !== null) await given;
  crashPoints.reach('after-effect');
  const left = before === null ? null : await checkpoints.after(before);
  const copies = watch.copiesOf === null ? undefined : await watch.copiesOf(result.fetched !== undefined);
  if (watch.found !== null) await accountFor(runner, facts, copies);
  if (result.ended !== undefined) watch.follow?.(call.callId, result.ended, result.fetched !== undefined);
  // If the program is closing, results of aborted calls are not recorded: the next start finds the call open and settles it by its class.
  if (runner.halted && result.isOwnEnd !== true) return;
  if (left !== null) runner.emit('checkpoint.closed', { callId: call.callId, files: left }, 'observe');
  const ended = { parsed, facts: runner.callFacts.get(call.callId) ?? factsOf(runner, parsed, context), result };
  runner.callFacts.delete(call.callId);
  const isMarked = markSources(runner, call, ended, { sessions: [...shown], copies });
  finish(runner, call, ended, isMarked);
  kept.end();
  if (parsed.tool.verify === undefined) runner.parsedCalls.delete(call.callId);
  crashPoints.reach('after-result');
}

/** Stores the output of a call that must not run again, in case of a crash. */
function keepOutput({ deps: { lastOutput } }: RunningTurn, call: CallState): ReturnType<LastOutputPort['begin']> {
  const kept = call.idempotency === 'unsafe' ? lastOutput?.begin(call.callId) : undefined;
  return kept ?? { push: () => undefined, end: () => undefined };
}

interface CopyWatch {
  /** Settles when copies made by background commands so far are recorded; null if none runs. */
  readonly found: Promise<void> | null;
  /** Checks afterwards for files that the call itself copied. */
  readonly copiesOf: FindCopies | null;
  /** For a command that continues after its call. */
  readonly follow: ReturnType<LateCopiesPort['begin']>;
}

function watchCopies({ deps: { taint, lateCopies } }: RunningTurn, facts: CallFacts | null): CopyWatch {
  const found = lateCopies?.catchUp() ?? null;
  const copiesOf = facts === null ? null : taint.watch(facts);
  return { found, copiesOf, follow: facts === null ? null : (lateCopies?.begin(facts) ?? null) };
}

/** Files that the call itself wrote, and files marked as copies by its own command, do not count as copies by a background command. */
async function accountFor({ deps: { lateCopies } }: RunningTurn, facts: CallFacts | null, copies: Copies | undefined): Promise<void> {
  const written = facts?.paths.filter(({ access }) => access === 'write').map(({ real }) => real) ?? [];
  await lateCopies?.account([...written, ...(copies?.paths ?? [])]);
  await lateCopies?.catchUp();
}

interface EndedCall {
  readonly parsed: ParsedCall;
  readonly facts: CallFacts;
  readonly result: HostedResult;
}

interface Sources {
  /** Other conversations that the result contains parts of. */
  readonly sessions: readonly string[];
  readonly copies: Copies | undefined;
}

/** Records the untrusted sources of a result before the result can be read. */
function markSources(runner: RunningTurn, call: CallState, { parsed, facts, result }: EndedCall, { sessions, copies }: Sources): boolean {
  const { deps, place } = runner;
  const { argsJson, argsHash } = parsed;
  if (deps.taint.isTainted(place.sessionId)) runner.flush();
  const marks = deps.taint.marksOf(
    { sessionId: place.sessionId, callId: call.callId, tool: call.tool, argsJson, argsHash, facts },
    {
      untrusted: result.untrusted,
      sessions,
      resultText: result.forModel,
      ok: result.outcome === 'ok',
      ...(copies === undefined ? {} : { copies }),
      ...(result.fetched === undefined ? {} : { fetched: result.fetched }),
    },
  );
  if (marks !== null) runner.emit('taint.marked', marks, 'observe');
  return marks !== null;
}

function finish(runner: RunningTurn, call: CallState, { parsed, facts, result }: EndedCall, isMarked: boolean): void {
  runner.emit(
    'tool.finished',
    {
      callId: call.callId,
      tool: call.tool,
      outcome: result.outcome,
      forModel: result.forModel,
      forUser: result.forUser,
      silent: result.silent,
      isAsync: result.isAsync,
      artifacts: [...result.artifacts],
      tookMs: result.tookMs,
      resultHash: result.resultHash,
    },
    'observe',
  );
  // As after a crash, a person is asked whether it happened.
  if (result.outcome === 'unknown' && call.idempotency === 'unsafe') {
    const reason = 'The tool could not tell whether this call took effect.';
    runner.emit('tool.outcome_unknown', { callId: call.callId, tool: call.tool, args: parsed.argsJson, reason, reported: true }, 'observe');
  }
  tellHooks(runner, 'after_tool', () => ({
    tool: {
      callId: call.callId,
      name: call.tool,
      class: facts.class,
      args: call.args,
      summary: parsed.tool.summarize(parsed.args),
      outcome: result.outcome,
      result: result.forModel,
    },
  }));
  // A pure result can be recomputed. Any other result is written at once, and so are the inputs of the next decision.
  if (isMarked || call.idempotency !== 'pure' || result.tookMs > 50) runner.flush();
}

interface ContextParts {
  /** The folders of the call. */
  readonly context: FactContext;
  /** Null without listeners. */
  readonly output: LiveText | null;
  /** Stores the output in case of a crash. */
  readonly kept?: { push(piece: string): void };
  /** Collects the other conversations that the call is shown parts of. */
  readonly shown: Set<string>;
}

function createContext(runner: RunningTurn, call: CallState, { context, output, kept, shown }: ContextParts): ToolContext {
  const { deps, place } = runner;
  return {
    ...context,
    ...place,
    callId: call.callId,
    attended: call.approvalId !== null || isOfPerson(runner, call.grantId),
    idempotencyKey: call.callId,
    signal: runner.abort.signal,
    processMarker: { ...deps.instanceMarker, TRAYCLAW_CALL: call.callId },
    artifacts: {
      put: (content, about) => deps.artifacts.put(content, about),
      read: (idOrAlias, range) => {
        const sessions = deps.artifactStore.sessionsOf(idOrAlias);
        assertMayRead(runner, idOrAlias, sessions);
        for (const sessionId of sessions) shown.add(sessionId);
        return deps.artifacts.read(idOrAlias, range);
      },
    },
    redaction: { redact: (text) => deps.redact(text), unfinishedAt: (text) => deps.unfinishedAt(text) },
    onOutput: (chunk) => {
      output?.push(chunk);
      kept?.push(chunk);
    },
    onSpawn: (record) => {
      runner.emit('tool.spawned', { callId: call.callId, pid: record.pid, startTime: record.startTime }, 'act');
      runner.flush();
      deps.crashPoints.reach('spawned');
    },
    searchSessions: (query, limit) => {
      const isWhole = runner.bounds?.outsider === undefined;
      const hits = deps.log.search.find(query, isWhole ? limit : SEARCHED_MAX).filter(({ sessionId }) => maySee(runner, sessionId));
      for (const hit of hits) shown.add(hit.sessionId);
      return hits.slice(0, limit);
    },
  };
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
  const parsed = parseOnce(runner, call);
  if (!parsed.ok) return { ok: false, detail: parsed.error.message };
  const { tool, args } = parsed.value;
  runner.parsedCalls.delete(call.callId);
  if (tool.verify === undefined) return { ok: true, detail: 'nothing to check' };
  try {
    return await tool.verify(
      args,
      createContext(runner, call, { context: contextOf(runner, parsed.value), output: null, shown: new Set() }),
    );
  } catch (cause) {
    return { ok: false, detail: toAppError(cause).message };
  }
}
