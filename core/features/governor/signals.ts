// The governor's state of a turn, built from its events, and the signals of one call or answer. Pure; reads no clock and no store.

import type { EventBodies } from '../../contracts/events.ts';
import type { SignalName } from '../../contracts/features/governor.ts';
import { graveKind } from '../../contracts/grave-calls.ts';
import type { CallFacts, ToolClass } from '../../contracts/tools.ts';
import type { TurnEvent } from '../../agent/brain/brain.ts';

export type Signals = Readonly<Record<SignalName, number>>;

/** The hosts and command names that the session has used. */
export interface Familiar {
  readonly hosts: Set<string>;
  readonly commands: Set<string>;
}

export interface Followed {
  readonly familiar: Familiar;
  readonly sources: Set<string>;
  failures: number;
  readonly classFailures: Map<ToolClass, number>;
  denials: number;
  contradictions: number;
  hedging: number;
  /** The arguments and facts of the calls, by call id. */
  readonly calls: Map<string, { tool: string; args: string; facts: CallFacts | null; isPure: boolean }>;
  /** The last result of each pure call since the last change. */
  readonly answers: Map<string, string>;
  readonly stopped: Set<ToolClass>;
  model: 'own' | 'stronger' | 'cheaper';
  isChosen: boolean;
}

export function follow(familiar: Familiar = { hosts: new Set(), commands: new Set() }): Followed {
  return {
    familiar,
    sources: new Set(),
    failures: 0,
    classFailures: new Map(),
    denials: 0,
    contradictions: 0,
    hedging: 0,
    calls: new Map(),
    answers: new Map(),
    stopped: new Set(),
    model: 'own',
    isChosen: false,
  };
}

/** Applies one event. Irrelevant events change nothing. */
export function applyToFollowed(turn: Followed, event: TurnEvent): void {
  switch (event.type) {
    case 'user.message':
      turn.isChosen = event.body.model !== undefined;
      return;
    case 'taint.marked':
      for (const { kind, where } of event.body.sources) turn.sources.add(`${kind}:${where}`);
      return;
    case 'model.finished':
      turn.hedging = countHedges(event.body.text);
      for (const { callId, tool, args } of event.body.calls) turn.calls.set(callId, { tool, args, facts: null, isPure: false });
      return;
    case 'policy.decided':
      return decided(turn, event.body);
    case 'approval.decided':
      if (event.body.decision === 'deny') turn.denials += 1;
      return;
    case 'tool.rejected':
      return ended(turn, event.body.callId, false);
    case 'tool.finished':
      return finished(turn, event.body);
    case 'verification.finished':
      if (!event.body.ok) turn.contradictions += 1;
      return;
    case 'governor.assessed':
      return directed(turn, event.body);
    default:
      return;
  }
}

function decided(turn: Followed, { callId, tool, decision, facts, idempotency }: EventBodies['policy.decided']): void {
  const known = turn.calls.get(callId);
  turn.calls.set(callId, { tool, args: known?.args ?? '', facts, isPure: idempotency === 'pure' });
  if (decision === 'deny') {
    turn.denials += 1;
    return;
  }
  note(turn.familiar, facts);
}

const FAMILIAR_MAX = 2_000;

/** Adds the hosts and the command of a call to those that are known. */
export function note({ hosts, commands }: Familiar, facts: CallFacts): void {
  if (hosts.size < FAMILIAR_MAX) for (const host of facts.hosts) hosts.add(host);
  const command = commandOf(facts);
  if (command !== null && commands.size < FAMILIAR_MAX) commands.add(command);
}

function finished(turn: Followed, { callId, outcome, resultHash }: EventBodies['tool.finished']): void {
  const isWell = outcome === 'ok';
  ended(turn, callId, isWell);
  const call = turn.calls.get(callId);
  if (call === undefined || !isWell) return;
  // A change may change the result of a repeated call, so earlier results are dropped.
  if (!call.isPure) return turn.answers.clear();
  const question = `${call.tool}\n${call.args}`;
  const before = turn.answers.get(question);
  if (before !== undefined && before !== resultHash) turn.contradictions += 1;
  turn.answers.set(question, resultHash);
}

function ended(turn: Followed, callId: string, isWell: boolean): void {
  turn.failures = isWell ? 0 : turn.failures + 1;
  const toolClass = turn.calls.get(callId)?.facts?.class;
  if (toolClass !== undefined) turn.classFailures.set(toolClass, isWell ? 0 : (turn.classFailures.get(toolClass) ?? 0) + 1);
}

function directed(turn: Followed, { applied, class: toolClass }: EventBodies['governor.assessed']): void {
  if (applied.includes('stop_class') && toolClass !== undefined) turn.stopped.add(toolClass as ToolClass);
  if (applied.includes('escalate')) turn.model = 'stronger';
  // A nearly spent budget takes precedence.
  if (applied.includes('cheaper')) turn.model = 'cheaper';
}

/** Facts about a call that are not part of the turn's state. */
export interface CallMoment {
  readonly facts: CallFacts;
  /** The number of taint sources of the session, and of those that the call may derive from. */
  readonly taint: { readonly session: number; readonly derived: number };
  /** In percent. */
  readonly budget: number;
  readonly grantAgeDays: number;
}

export function signalsOfCall(turn: Followed, { facts, taint, budget, grantAgeDays }: CallMoment): Signals {
  return {
    risk: riskOf(facts),
    taint: Math.max(taint.session, turn.sources.size),
    derived: taint.derived,
    failures: turn.failures,
    classFailures: turn.classFailures.get(facts.class) ?? 0,
    denials: turn.denials,
    contradictions: turn.contradictions,
    hedging: turn.hedging,
    budget,
    novelty: noveltyOf(turn.familiar, facts),
    grantAge: grantAgeDays,
  };
}

/** An answer is not a call, so signals of calls are 0. */
export function signalsOfAnswer(turn: Followed): Signals {
  const { failures, denials, contradictions, hedging, sources } = turn;
  return {
    risk: 0,
    taint: sources.size,
    derived: 0,
    failures,
    classFailures: 0,
    denials,
    contradictions,
    hedging,
    budget: 0,
    novelty: 0,
    grantAge: 0,
  };
}

const classRisks: Readonly<Record<ToolClass, number>> = {
  read: 0,
  write: 35,
  network: 45,
  exec: 55,
  message: 60,
  hardware: 70,
  spend: 85,
  credential: 85,
  destructive: 90,
};
const FETCHED_RISK = 30;
const STATED_RISK = 5;
const STATED_MAX = 2;

export function riskOf(facts: Pick<CallFacts, 'class' | 'risks' | 'runsFetched' | 'command' | 'request'>): number {
  // A web request that only fetches discloses only its address.
  const base = facts.request?.reads === true ? 20 : classRisks[facts.class];
  const fetched = graveKind(facts) === 'network-code' ? FETCHED_RISK : 0;
  const stated = Math.min(facts.risks?.length ?? 0, STATED_MAX) * STATED_RISK;
  return Math.min(100, base + fetched + stated);
}

function noveltyOf({ hosts, commands }: Familiar, facts: CallFacts): number {
  const command = commandOf(facts);
  const unknownHosts = new Set(facts.hosts.filter((host) => !hosts.has(host))).size;
  return unknownHosts + (command !== null && !commands.has(command) ? 1 : 0);
}

/** The first word that is not a variable assignment. */
function commandOf({ command }: CallFacts): string | null {
  if (command === null) return null;
  const words = command.plain?.argv ?? command.line.trim().split(/\s+/, 20);
  return words.find((word) => word !== '' && !/^[A-Za-z_][A-Za-z0-9_]*=/.test(word)) ?? null;
}

/** Field-tested English phrases of doubt. Doubt in other languages is not detected. */
const hedges =
  /\b(?:i(?:'m| am) (?:not (?:sure|certain)|unsure|guessing)|i (?:think|believe|guess|assume|suspect)|(?:might|may|could) be|possibly|perhaps|probably|presumably|it(?: is|'s) (?:unclear|possible that)|as far as i (?:know|can tell)|not entirely (?:sure|clear)|i (?:cannot|can't|could not|couldn't) (?:verify|confirm))\b/gi;
const HEDGED_CHARS_MAX = 20_000;

export function countHedges(text: string): number {
  return text.slice(0, HEDGED_CHARS_MAX).match(hedges)?.length ?? 0;
}
