// Summarises a turn from its view: its effects, its sources and its reasons. Codes and counts only; the view adds the texts. Pure.

import type { TurnStatus } from '../../../core/contracts/events.ts';
import { changedNames, isOpen, type CallView, type TurnView } from '../../../core/contracts/turn-view.ts';

export type TurnSummary = ReturnType<typeof sumUpTurn>;

/** `name` describes a call as the conversation does. */
export function sumUpTurn(turn: TurnView, nowMs: number, name: (call: CallView) => string) {
  const { usage, costUsd, others, filesUndone, packs, requests } = turn;
  const all = Object.values(turn.calls);
  const ran = all.filter(({ startedAtMs }) => startedAtMs !== null);
  const facts = ran.flatMap(({ decision }) => decision?.facts ?? []);
  const checked = all.flatMap(({ verified }) => verified ?? []);
  const [message] = turn.messages;
  const endMs = turn.finishedAtMs ?? Math.max(nowMs, turn.beganAtMs);
  return {
    /** Null if the call was made directly. */
    asked: message === undefined ? null : { sender: message.sender, channel: message.channel },
    steered: turn.entries.filter(({ kind }) => kind === 'steer').length,
    tools: count(ran.map(({ tool }) => tool)),
    calls: ran.length,
    outcomes: count(all.filter(({ endedAtMs }) => endedAtMs !== null).map(({ state }) => state)),
    filesChanged: unique([...changedNames(turn).values()]),
    filesUndone,
    hosts: unique(facts.flatMap(({ hosts }) => hosts)),
    commands: unique(facts.flatMap(({ command }) => (command === null ? [] : [command.line]))),
    requests: requests.length,
    model: requests.at(-1)?.model ?? null,
    largestPack: packs.toSorted((a, b) => b.tokens - a.tokens)[0] ?? null,
    leftOut: Math.max(0, ...packs.map(({ leftOut }) => leftOut)),
    filesRead: unique(facts.flatMap(({ paths }) => paths.flatMap(({ access, given }) => (access === 'read' ? [given] : [])))),
    others,
    allowed: ran.filter(({ decision }) => decision?.decision === 'allow').length,
    refused: all.flatMap((call) => (call.decision?.decision === 'deny' ? [`${name(call)}: ${call.decision.reason}`] : [])),
    approvals: Object.values(turn.approvals),
    checks: { ok: checked.filter(({ ok }) => ok).length, wrong: checked.filter(({ ok }) => !ok).length },
    failures: [...requests.flatMap(({ error }) => error?.message ?? []), ...all.flatMap((call) => failuresOf(call, name(call)))],
    /** Null while the turn runs. */
    status: isOpen(turn) ? null : (turn.status as Exclude<TurnStatus, 'running' | 'waiting'>),
    error: turn.error?.message ?? null,
    tookMs: endMs - turn.beganAtMs,
    waitedMs: turn.waits.reduce((sum, { fromMs, toMs }) => sum + Math.max(0, (toMs ?? nowMs) - fromMs), 0),
    usage,
    costUsd,
  };
}

function failuresOf({ state, error, forModel, verified }: CallView, name: string): string[] {
  const why = error === null ? (state === 'error' || state === 'timeout' ? forModel : null) : error.message;
  return [...(why === null ? [] : [`${name}: ${why}`]), ...(verified?.ok === false ? [verified.detail] : [])];
}

/** Most frequent first. */
function count<T>(values: readonly T[]): (readonly [T, number])[] {
  const times = new Map<T, number>();
  for (const value of values) times.set(value, (times.get(value) ?? 0) + 1);
  return [...times].toSorted(([, a], [, b]) => b - a);
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}
