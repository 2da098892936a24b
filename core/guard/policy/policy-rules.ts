// The rules in order, as a pure function from what is known of a call to a decision with a rule id and a sentence.
// First match wins. What no rule allows asks.

import type { DecisionKind } from '../../contracts/policy.ts';
import { ownDataProtection, type CallFacts, type ToolClass } from '../../contracts/tools.ts';

export interface RuleInput {
  readonly tool: string;
  readonly facts: CallFacts;
  readonly panicEngaged: boolean;
  readonly deniedTools: readonly string[];
  /** The person's standing permission that covers this very call, in words; null when there is none. */
  readonly coveredBy: { readonly grantId: string; readonly kind: string; readonly covers: string } | null;
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
  'address.refused',
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
  // Of the further look at grave calls, which the turn runtime asks for after these rules.
  'review.denied',
  'review.asked',
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
  if (facts.refused !== undefined) return deny('address.refused', facts.refused);
  const protectedPath = decideProtectedPath(facts);
  if (protectedPath !== null) return protectedPath;
  if (facts.class === 'read') return decideRead(input);
  if (input.coveredBy !== null) return allowByGrant(input.coveredBy);
  const outside = facts.class === 'write' ? facts.paths.find((path) => !path.insideWorkspace) : undefined;
  if (outside !== undefined) {
    const reason = `It changes ${outside.given}, which is outside the workspace.`;
    return { decision: 'ask', ruleId: 'ask.write-outside-workspace', reason, grantable: true };
  }
  return { decision: 'ask', ruleId: `ask.${facts.class}`, reason: askReasons[facts.class], grantable: true };
}

function decideProtectedPath(facts: CallFacts): RuleDecision | null {
  // Reading counts too: the address and the token of this very instance are kept there, and every other conversation.
  const own = facts.paths.find((path) => path.protectedBy === ownDataProtection);
  if (own !== undefined) return deny('path.own-data', `${own.given} belongs to TrayClaw itself; no tool may read or change it.`);
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
