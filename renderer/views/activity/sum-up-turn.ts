// What a turn did, what it saw and why, from the facts of the log alone. Codes and counts; the view finds the words. Pure.

import type { AnyEvent, EventBodies, EventOf, TurnStatus } from '../../../core/contracts/events.ts';
import type { FileImage } from '../../../core/contracts/checkpoints.ts';
import type { Usage } from '../../../core/contracts/llm.ts';
import type { TaintSource, ToolOutcome } from '../../../core/contracts/tools.ts';

export interface AskedApproval {
  readonly summary: string;
  readonly answer: { readonly decision: EventBodies['approval.decided']['decision']; readonly by: string } | null;
}

export interface TurnSummary {
  /** Null for a call made directly. */
  readonly asked: { readonly sender: string; readonly channel: string } | null;
  readonly steered: number;
  readonly tools: readonly (readonly [tool: string, times: number])[];
  readonly calls: number;
  readonly outcomes: readonly (readonly [outcome: ToolOutcome, times: number])[];
  readonly filesChanged: readonly string[];
  readonly filesUndone: number;
  readonly hosts: readonly string[];
  readonly commands: readonly string[];
  readonly requests: number;
  readonly model: string | null;
  readonly largestPack: { readonly tokens: number; readonly budgetTokens: number } | null;
  readonly leftOut: number;
  readonly filesRead: readonly string[];
  readonly others: readonly TaintSource[];
  readonly allowed: number;
  readonly refused: readonly { readonly tool: string; readonly reason: string }[];
  readonly approvals: readonly AskedApproval[];
  readonly checks: { readonly ok: number; readonly wrong: number };
  readonly failures: readonly string[];
  /** Null while it has not ended. */
  readonly status: Exclude<TurnStatus, 'running' | 'waiting'> | null;
  readonly error: string | null;
  readonly tookMs: number;
  readonly waitedMs: number;
  readonly usage: Usage;
  readonly costUsd: number | null;
}

export function sumUpTurn(events: readonly AnyEvent[], nowMs: number): TurnSummary {
  // Filtered by the very type, which the compiler cannot follow.
  const of = <T extends AnyEvent['type']>(type: T): EventOf<T>[] =>
    events.filter((event) => event.type === type) as unknown as EventOf<T>[];
  const finished = of('tool.finished');
  const ran = new Set(of('tool.requested').map(({ body }) => body.callId));
  const decided = of('policy.decided').filter(({ body }) => ran.has(body.callId));
  const end = of('turn.finished').at(-1) ?? null;
  const packs = of('pack.built');
  const [message] = of('user.message');
  const startMs = events[0]?.atMs ?? nowMs;
  return {
    asked: askedBy(message),
    steered: of('turn.steered').length,
    tools: count(of('tool.requested').map(({ body }) => body.tool)),
    calls: ran.size,
    outcomes: count(finished.map(({ body }) => body.outcome)),
    ...files(events, namesOf(of('policy.decided'))),
    hosts: unique(decided.flatMap(({ body }) => body.facts.hosts)),
    commands: unique(decided.flatMap(({ body }) => (body.facts.command === null ? [] : [body.facts.command.line]))),
    requests: of('model.requested').length,
    model: of('model.requested').at(-1)?.body.model ?? null,
    largestPack: packs.reduce<EventBodies['pack.built'] | null>(
      (most, { body }) => (most === null || body.tokens > most.tokens ? body : most),
      null,
    ),
    leftOut: Math.max(0, ...packs.map(({ body }) => body.dropped.reduce((sum, drop) => sum + drop.count, 0))),
    filesRead: unique(decided.flatMap(({ body }) => body.facts.paths.flatMap(({ access, given }) => (access === 'read' ? [given] : [])))),
    others: of('taint.marked').flatMap(({ body }) => body.sources),
    allowed: decided.filter(({ body }) => body.decision === 'allow').length,
    refused: of('policy.decided').flatMap(({ body: { decision, tool, reason } }) => (decision === 'deny' ? [{ tool, reason }] : [])),
    approvals: approvals(of('approval.requested'), of('approval.decided')),
    checks: checks(of('verification.finished')),
    failures: failuresOf(events),
    ...endOf(end),
    tookMs: (end?.atMs ?? Math.max(nowMs, startMs)) - startMs,
    waitedMs: waited(events, end?.atMs ?? nowMs),
    usage: usageOf(of('model.finished'), of('model.failed')),
    costUsd: end === null ? costSoFar(of('model.finished')) : end.body.costUsd,
  };
}

function askedBy(message: EventOf<'user.message'> | undefined): TurnSummary['asked'] {
  return message === undefined ? null : { sender: message.body.sender, channel: message.body.channel };
}

function endOf(end: EventOf<'turn.finished'> | null): Pick<TurnSummary, 'status' | 'error'> {
  return end === null ? { status: null, error: null } : { status: end.body.status, error: end.body.error?.message ?? null };
}

function approvals(asked: readonly EventOf<'approval.requested'>[], answers: readonly EventOf<'approval.decided'>[]): AskedApproval[] {
  const byId = new Map(answers.map(({ body }) => [body.approvalId, body]));
  return asked.map(({ body: { approval } }) => {
    const answer = byId.get(approval.approvalId);
    return { summary: approval.summary, answer: answer === undefined ? null : { decision: answer.decision, by: answer.by } };
  });
}

function checks(all: readonly EventOf<'verification.finished'>[]): TurnSummary['checks'] {
  const ok = all.filter(({ body }) => body.ok).length;
  return { ok, wrong: all.length - ok };
}

/** Paths as the calls gave them, which is shorter than where they lead and means the same to a person. */
function namesOf(decided: readonly EventOf<'policy.decided'>[]): ReadonlyMap<string, string> {
  return new Map(decided.flatMap(({ body }) => body.facts.paths.map(({ real, given }) => [real, given])));
}

function files(events: readonly AnyEvent[], names: ReadonlyMap<string, string>): Pick<TurnSummary, 'filesChanged' | 'filesUndone'> {
  const before = new Map<string, FileImage>();
  const changed = new Set<string>();
  const undos = new Set<string>();
  let filesUndone = 0;
  for (const event of events) {
    if (event.type === 'checkpoint.taken') {
      // An undo keeps what it replaces as a call does; it is no work of the turn.
      if (event.body.undoes !== undefined) undos.add(event.body.callId);
      for (const file of event.body.files) before.set(`${event.body.callId} ${file.path}`, file.before);
    } else if (event.type === 'checkpoint.closed' && !undos.has(event.body.callId)) {
      for (const { path, after } of event.body.files) {
        const was = before.get(`${event.body.callId} ${path}`) ?? { kind: 'absent' as const };
        if (JSON.stringify(was) !== JSON.stringify(after)) changed.add(names.get(path) ?? path);
      }
    } else if (event.type === 'checkpoint.restored') filesUndone += event.body.files.length;
  }
  return { filesChanged: [...changed], filesUndone };
}

function failuresOf(events: readonly AnyEvent[]): string[] {
  return events.flatMap((event) => {
    switch (event.type) {
      case 'tool.finished':
        return event.body.outcome === 'error' || event.body.outcome === 'timeout' ? [`${event.body.tool}: ${event.body.forModel}`] : [];
      case 'tool.rejected':
        return [`${event.body.tool}: ${event.body.error.message}`];
      case 'model.failed':
        return [event.body.error.message];
      case 'verification.finished':
        return event.body.ok ? [] : [event.body.detail];
      default:
        return [];
    }
  });
}

function waited(events: readonly AnyEvent[], endMs: number): number {
  let sinceMs: number | null = null;
  let total = 0;
  for (const event of events) {
    if (event.type === 'turn.waiting') sinceMs ??= event.atMs;
    else if ((event.type === 'turn.resumed' || event.type === 'turn.finished') && sinceMs !== null) {
      total += event.atMs - sinceMs;
      sinceMs = null;
    }
  }
  return sinceMs === null ? total : total + Math.max(0, endMs - sinceMs);
}

function usageOf(finished: readonly EventOf<'model.finished'>[], failed: readonly EventOf<'model.failed'>[]): Usage {
  const all = [...finished.map(({ body }) => body.usage), ...failed.flatMap(({ body }) => body.usage ?? [])];
  return {
    inputTokens: all.reduce((sum, usage) => sum + usage.inputTokens, 0),
    outputTokens: all.reduce((sum, usage) => sum + usage.outputTokens, 0),
    cachedInputTokens: all.reduce((sum, usage) => sum + usage.cachedInputTokens, 0),
  };
}

function costSoFar(finished: readonly EventOf<'model.finished'>[]): number | null {
  return finished.reduce<number | null>((sum, { body }) => (sum === null || body.costUsd === null ? null : sum + body.costUsd), 0);
}

/** Most often first. */
function count<T>(values: readonly T[]): (readonly [T, number])[] {
  const times = new Map<T, number>();
  for (const value of values) times.set(value, (times.get(value) ?? 0) + 1);
  return [...times].toSorted(([, a], [, b]) => b - a);
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}
