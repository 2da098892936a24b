// The rules in order, as a pure function from what is known of a call to a decision with a rule id and a sentence.
// First match wins. What no rule allows asks.

import type { DecisionKind } from '../../contracts/policy.ts';
import { ownDataProtection, type CallFacts, type TaintSource, type ToolClass } from '../../contracts/tools.ts';

export interface CallTaint {
  readonly session: readonly TaintSource[];
  readonly derived: readonly TaintSource[];
  readonly sensitive: boolean;
}

export interface RuleInput {
  readonly tool: string;
  readonly facts: CallFacts;
  readonly panicEngaged: boolean;
  readonly deniedTools: readonly string[];
  /** The person's standing permission that covers this very call, in words; null when there is none. */
  readonly coveredBy: { readonly grantId: string; readonly kind: string; readonly covers: string; readonly seen?: readonly string[] } | null;
  readonly taint?: CallTaint;
}

export interface RuleDecision {
  readonly decision: DecisionKind;
  readonly ruleId: string;
  readonly reason: string;
  /** False where no grant may ever answer for the person. */
  readonly grantable: boolean;
}

/** Every rule id with what it means; the suite checks that each is reachable. */
export const ruleIds = [
  'panic.engaged',
  'tool.denied',
  'path.own-data',
  'path.protected',
  'read.outside-workspace',
  'read.workspace',
  'grant.once',
  'grant.minutes',
  'grant.session',
  'grant.always',
  'ask.write-outside-workspace',
  'ask.write',
  'ask.exec',
  'ask.network',
  'ask.message',
  'ask.spend',
  'ask.credential',
  'ask.hardware',
  'ask.destructive',
  'taint.three-way',
  'taint.unseen',
] as const;
export type RuleId = (typeof ruleIds)[number];

const askReasons: Readonly<Record<Exclude<ToolClass, 'read'>, string>> = {
  write: 'It changes files.',
  exec: 'It runs a command on this machine.',
  network: 'It sends data over the network.',
  message: 'It sends a message to somebody.',
  spend: 'It can spend money.',
  credential: 'It touches credentials.',
  hardware: 'It controls hardware.',
  destructive: 'It destroys something that may not come back.',
};

export function decideByRules(input: RuleInput): RuleDecision {
  const { facts } = input;
  if (input.panicEngaged) return deny('panic.engaged', 'Everything is stopped until a person releases the panic stop.');
  if (input.deniedTools.includes(input.tool)) return deny('tool.denied', `The tool ${input.tool} is switched off in config.yaml.`);
  const protectedPath = decideProtectedPath(facts);
  if (protectedPath !== null) return protectedPath;
  const taint = input.taint ?? { session: [], derived: [], sensitive: false };
  if (taint.derived.length > 0 && taint.sensitive && ['exec', 'network', 'message', 'spend', 'credential'].includes(facts.class))
    return {
      decision: 'ask',
      ruleId: 'taint.three-way',
      reason: 'It may follow words of others and sends something out.',
      grantable: false,
    };
  if (facts.class === 'read') return decideRead(input);
  const grant = input.coveredBy;
  if (grant !== null && taint.derived.some((source) => !(grant.seen ?? []).includes(`${source.kind}:${source.where}`)))
    return { decision: 'ask', ruleId: 'taint.unseen', reason: 'It may follow words of others.', grantable: true };
  if (grant !== null) return allowByGrant(grant);
  const outside = facts.class === 'write' ? facts.paths.find((path) => !path.insideWorkspace) : undefined;
  if (outside !== undefined) {
    const reason = `It changes ${outside.given}, which is outside the workspace.`;
    return { decision: 'ask', ruleId: 'ask.write-outside-workspace', reason, grantable: true };
  }
  return { decision: 'ask', ruleId: `ask.${facts.class}`, reason: askReasons[facts.class], grantable: true };
}

function decideProtectedPath(facts: CallFacts): RuleDecision | null {
  const own = facts.paths.find((path) => path.access === 'write' && path.protectedBy === ownDataProtection);
  if (own !== undefined) return deny('path.own-data', `${own.given} belongs to TrayClaw itself; no tool may change it.`);
  const guarded = facts.paths.find((path) => path.protectedBy !== null);
  if (guarded === undefined) return null;
  const verb = guarded.access === 'write' ? 'changes' : 'reads';
  return {
    decision: 'ask',
    ruleId: 'path.protected',
    reason: `It ${verb} ${guarded.given}: ${guarded.protectedBy ?? 'protected'}.`,
    grantable: false,
  };
}

function decideRead(input: RuleInput): RuleDecision {
  const outside = input.facts.paths.find((path) => !path.insideWorkspace);
  if (outside === undefined) {
    return { decision: 'allow', ruleId: 'read.workspace', reason: 'It only reads inside the workspace.', grantable: false };
  }
  if (input.coveredBy !== null) return allowByGrant(input.coveredBy);
  return {
    decision: 'ask',
    ruleId: 'read.outside-workspace',
    reason: `It reads ${outside.given}, which is outside the workspace.`,
    grantable: true,
  };
}

function allowByGrant(grant: NonNullable<RuleInput['coveredBy']>): RuleDecision {
  return { decision: 'allow', ruleId: `grant.${grant.kind}`, reason: `You allowed this: ${grant.covers}.`, grantable: true };
}

function deny(ruleId: RuleId, reason: string): RuleDecision {
  return { decision: 'deny', ruleId, reason, grantable: false };
}
