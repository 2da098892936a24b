// The rules in order, as a pure function from the known facts of a call to a decision with a rule id and a sentence. The first matching
// rule wins. A call that no rule allows needs an approval.

import { counted } from '../../base/counted.ts';
import type { PolicyMode } from '../../contracts/config.ts';
import type { DecisionKind, GrantScope } from '../../contracts/policy.ts';
import {
  onlyChangesFiles,
  ownDataProtection,
  readsOf,
  type CallFacts,
  type CallTaint,
  type TaintSource,
  type ToolClass,
} from '../../contracts/tools.ts';
import { exclusionOf, type JudgedBounds } from './bounds-rules.ts';
import { nameSources } from './call-taint.ts';
import type { MatchedRule } from './config-rules.ts';
import type { PreApproval } from './pre-approved.ts';
import type { OverLimit } from './rate-limits.ts';

export interface RuleInput {
  readonly tool: string;
  readonly facts: CallFacts;
  readonly panicEngaged: boolean;
  readonly deniedTools: readonly string[];
  readonly mode: PolicyMode;
  /** The first rule of config.yaml that matches the call. */
  readonly rule: MatchedRule | null;
  readonly overLimit: OverLimit | null;
  readonly taint: CallTaint;
  /** True if the command runs in an opened folder, and everything it is known to touch is in an opened folder too. */
  readonly staysInside: boolean;
  /** The grant that covers this call. `unseen` are sources it was not given for. */
  readonly grant: { readonly kind: GrantScope['kind']; readonly covers: string; readonly unseen: readonly TaintSource[] } | null;
  /** A grant that would cover the command if its bindings had not changed. */
  readonly outdated: { readonly covers: string; readonly changes: readonly string[] } | null;
  /** The state of a command that config.yaml allows by its words; null if config.yaml does not allow it. */
  readonly preApproved: PreApproval | null;
  readonly domainsAllowed: boolean;
  /** The bounds of the turn; null if there are none. */
  readonly bounds: JudgedBounds | null;
}

export interface RuleDecision {
  readonly decision: DecisionKind;
  readonly ruleId: RuleId;
  readonly reason: string;
  /** False if no grant may ever take the place of an approval. */
  readonly grantable: boolean;
}

/** Every rule id. The tests check that each can be reached. */
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
  'ask.workspace',
  'ask.write-outside-workspace',
  'ask.write',
  'ask.exec',
  'ask.network',
  'ask.message',
  'ask.spend',
  'ask.credential',
  'ask.hardware',
  'ask.destructive',
  'rule.deny',
  'rule.ask',
  'rule.allow',
  'mode.locked-down',
  'taint.three-way',
  'taint.unseen',
  'rate.limit',
  'command.reads',
  'command.allowed',
  'command.changed',
  'domain.allowed',
  'skill.beyond',
  'write.workspace',
  'message.same-chat',
  // From the review of grave calls, which the turn runtime requests after these rules.
  'review.denied',
  'review.asked',
  // From the person's own hooks, which run directly after these rules.
  'hook.denied',
  'hook.asked',
  'ask.plan',
  'ask.outsider',
  // Excluded by the bounds of the turn.
  'bounds.plan',
  'bounds.tool',
  'bounds.class',
  'bounds.folder',
  'bounds.host',
] as const;
export type RuleId = (typeof ruleIds)[number];

type Rule = (input: RuleInput) => RuleDecision | null;

export function decideByRules(input: RuleInput): RuleDecision {
  const first = [...refusals, lockedDown, ...questions, free];
  if (input.bounds?.bounds.grants !== false) return firstOf([...first, ...permissions], input) ?? askByClass(input);
  // No existing grant covers the call, and its approval does not become a grant.
  const decided = firstOf(first, input) ?? askByClass({ ...input, outdated: null });
  return { ...decided, grantable: false };
}

function firstOf(rules: readonly Rule[], input: RuleInput): RuleDecision | null {
  for (const rule of rules) {
    const decided = rule(input);
    if (decided !== null) return decided;
  }
  return null;
}

const refusals: readonly Rule[] = [
  ({ panicEngaged }) => (panicEngaged ? deny('panic.engaged', 'Everything is stopped until you release the panic stop.') : null),
  ({ tool, deniedTools }) => (deniedTools.includes(tool) ? deny('tool.denied', `The tool ${tool} is switched off in config.yaml.`) : null),
  ({ facts }) => (facts.refused === undefined ? null : deny('address.refused', facts.refused)),
  ({ facts }) => {
    // Reading is denied as well: the data folder contains the address and token of this instance and every other conversation.
    const own = facts.paths.find((path) => path.protectedBy === ownDataProtection);
    return own === undefined ? null : deny('path.own-data', `${own.given} belongs to TrayClaw itself; no tool may read or change it.`);
  },
  ({ rule }) => (rule?.then === 'deny' ? deny('rule.deny', `${nameRule(rule)} refuses it${because(rule)}`) : null),
  (input) => {
    const { tool, facts, bounds } = input;
    if (bounds === null) return null;
    const excluded = exclusionOf({ tool, facts, effect: effectiveClass(facts), onlyReads: freelyReads(input) !== null }, bounds);
    return excluded === null ? null : deny(excluded.ruleId, excluded.reason);
  },
];

/** Denies every call that would need an approval, because no person is there to answer. */
function lockedDown(input: RuleInput): RuleDecision | null {
  if (input.mode !== 'locked-down') return null;
  const decided = firstOf(questions, input) ?? unlessWithheld(freeReads, input);
  if (decided?.decision === 'allow') return decided;
  return deny('mode.locked-down', 'TrayClaw is locked down: only reading inside the workspace is allowed.');
}

/** These rules ask despite any grant. An approval covers this one call. */
const questions: readonly Rule[] = [
  ({ facts: { opens } }) =>
    opens === undefined ? null : askOnce('ask.workspace', `No person has allowed TrayClaw to work in ${opens.path} in its current state.`),
  ({ facts }) => {
    const guarded = facts.paths.find((path) => path.protectedBy !== null);
    if (guarded === undefined) return null;
    const verb = guarded.access === 'write' ? 'changes' : 'reads';
    return askOnce('path.protected', `It ${verb} ${guarded.given}: ${guarded.protectedBy ?? 'protected'}.`);
  },
  ({ facts }) => (facts.approvesPlan === true ? askOnce('ask.plan', 'You wanted to approve a plan before anything but reads runs.') : null),
  (input) => {
    const { taint } = input;
    if (taint.session.length === 0 || !taint.sensitive || taint.derived.length === 0 || !isOutward(input)) return null;
    const from = nameSources(taint.derived);
    return askOnce('taint.three-way', `It sends something out, may follow words from ${from}, and private things were read before.`);
  },
  ({ overLimit }) =>
    overLimit === null
      ? null
      : askOnce('rate.limit', `More than ${counted(overLimit.limit, 'call')} of ${overLimit.name} within a minute.`),
  ({ facts }) => (facts.beyond === undefined ? null : askOnce('skill.beyond', facts.beyond)),
  ({ rule }) => (rule?.then === 'ask' ? askOnce('rule.ask', `${nameRule(rule)} requires your approval${because(rule)}`) : null),
];

/** Reads inside the opened folders, regardless of untrusted content. */
const freeReads: readonly Rule[] = [
  ({ facts }) => (isFreeRead(facts) ? allow('read.workspace', 'It only reads inside the workspace.') : null),
  (input) => {
    const reads = freelyReads(input);
    return reads === null ? null : allow('command.reads', `The command only ${reads}, inside the workspace.`);
  },
];

/** Calls that need no grant, whatever their text: the answer could say the same without the call. */
const answers: readonly Rule[] = [
  ({ facts }) =>
    isAnswer(facts) ? allow('message.same-chat', 'It goes to the chat this was asked in, where the answer goes anyway.') : null,
];

const free: Rule = (input) => unlessWithheld([...freeReads, ...answers], input);

/** A call is not free if it shows an outsider what they may not see. */
function unlessWithheld(rules: readonly Rule[], input: RuleInput): RuleDecision | null {
  return input.facts.withheld === undefined ? firstOf(rules, input) : null;
}

/** The rules of existing grants. None covers a call that may follow untrusted content it was not given for. */
const permissions: readonly Rule[] = [
  ({ grant }) => {
    if (grant === null) return null;
    if (grant.unseen.length > 0) return unseen(grant.unseen, `which you had not seen when you allowed: ${grant.covers}`);
    return allow(`grant.${grant.kind}`, `You allowed this: ${grant.covers}.`);
  },
  (input) => {
    const { rule } = input;
    if (rule?.then !== 'allow') return null;
    // A command that is allowed by its words stays bound to its form at the first run.
    if (rule.allowsCommand && input.preApproved !== null)
      return rule.allowsPaths || input.staysInside ? byWords(input, input.preApproved, 'rule.allow', nameRule(rule)) : null;
    return trusted(input, nameRule(rule)) ?? allow('rule.allow', `${nameRule(rule)} allows it${because(rule)}`);
  },
  (input) => {
    if (input.preApproved === null || !input.staysInside) return null;
    return byWords(input, input.preApproved, 'command.allowed', 'policy.allowCommands');
  },
  (input) => {
    const { facts } = input;
    const fetches = facts.class === 'network' && facts.command === null && facts.request?.reads === true;
    if (!fetches || !input.domainsAllowed || facts.paths.length > 0) return null;
    return (
      trusted(input, 'policy.allowDomains') ??
      allow(
        'domain.allowed',
        `It only fetches from ${facts.hosts.join(' and ')}, which ${input.tool === 'browser' ? 'the settings list' : 'is in policy.allowDomains'}.`,
      )
    );
  },
  (input) => {
    if (input.mode !== 'workspace-free' || !isWorkspaceWrite(input.facts)) return null;
    return (
      trusted(input, 'The mode workspace-free') ??
      allow('write.workspace', 'It changes files inside the workspace, which is free in this mode and can be undone.')
    );
  },
];

function byWords(input: RuleInput, pre: PreApproval, ruleId: 'rule.allow' | 'command.allowed', by: string): RuleDecision | null {
  // Revoked by the person, although it is still in config.yaml.
  if (pre.state === 'revoked') return null;
  const distrusted = trusted(input, by);
  if (distrusted !== null) return distrusted;
  if (pre.state === 'written')
    return ask('command.changed', `${by} allows it, but ${whatWasWritten(pre.changes)}. Approving accepts it as it is now.`);
  if (pre.state !== 'changed') return allow(ruleId, `${by} allows ${pre.covers.replace(', as config.yaml says', '')}.`);
  return ask('command.changed', `${by} allows it, but ${listChanges(pre.changes)} since it first ran. Approving accepts it as it is now.`);
}

/** Settings in config.yaml cover only calls that follow the person's own text. */
function trusted({ taint }: RuleInput, by: string): RuleDecision | null {
  return taint.derived.length === 0 ? null : unseen(taint.derived, `and ${by} does not cover untrusted content`);
}

function askByClass(input: RuleInput): RuleDecision {
  const { facts, outdated } = input;
  if (facts.withheld !== undefined && firstOf([...freeReads, ...answers], input) !== null) return ask('ask.outsider', facts.withheld);
  if (outdated !== null) return ask('command.changed', `You allowed ${outdated.covers}, but ${listChanges(outdated.changes)} since then.`);
  const kind = isWorkspaceWrite(facts) ? 'write' : effectiveClass(facts);
  const outside = facts.paths.find((path) => !path.insideWorkspace);
  if (kind === 'read') {
    return ask('read.outside-workspace', `It reads ${outside?.given ?? 'something'}, which is outside the workspace.`);
  }
  if (kind === 'write' && outside !== undefined)
    return ask('ask.write-outside-workspace', `It changes ${outside.given}, which is outside the workspace.`);
  const isOwnPlan = kind === 'write' && facts.paths.length === 0;
  return ask(`ask.${kind}`, isOwnPlan ? 'It changes what TrayClaw will do later.' : askReasons[kind]);
}

const askReasons: Readonly<Record<Exclude<ToolClass, 'read'>, string>> = {
  write: 'It changes files.',
  exec: 'It runs a command on this machine.',
  network: 'It sends data over the network.',
  message: 'It sends a message.',
  spend: 'It can spend money.',
  credential: 'It touches credentials.',
  hardware: 'It controls hardware.',
  destructive: 'It destroys something that may not come back.',
};

/** A call that is declared as a read but would do more is judged by what it would do. */
function effectiveClass(facts: CallFacts): ToolClass {
  if (facts.class !== 'read') return facts.class;
  if (facts.command !== null) return 'exec';
  if (facts.hosts.length > 0) return 'network';
  return facts.paths.some((path) => path.access === 'write') ? 'write' : 'read';
}

function isFreeRead(facts: CallFacts): boolean {
  return effectiveClass(facts) === 'read' && facts.paths.every((path) => path.insideWorkspace && path.protectedBy === null);
}

/** Text, and files that may be read freely, sent to the chat the turn came from: nothing that its answer could not contain. */
function isAnswer({ class: kind, recipient, command, hosts, paths }: CallFacts): boolean {
  const onlyReads = paths.every((path) => path.access === 'read' && path.insideWorkspace && path.protectedBy === null);
  return kind === 'message' && recipient?.isOrigin === true && command === null && hosts.length === 0 && onlyReads;
}

/** Describes what a command reads if it is known to do nothing else and to stay inside. Otherwise returns null. */
function freelyReads({ facts, staysInside }: RuleInput): string | null {
  const inside = facts.class === 'exec' && staysInside && facts.hosts.length === 0 && facts.paths.every((path) => path.access === 'read');
  return inside && facts.command !== null ? readsOf(facts.command) : null;
}

const outwardClasses: readonly ToolClass[] = ['network', 'message', 'spend', 'credential', 'exec'];

/** Returns whether the call could send something out of this machine. */
function isOutward(input: RuleInput): boolean {
  const { facts } = input;
  if (facts.command !== null) return freelyReads(input) === null && !isWorkspaceWrite(facts);
  return facts.hosts.length > 0 || outwardClasses.includes(effectiveClass(facts));
}

function isWorkspaceWrite(facts: CallFacts): boolean {
  return onlyChangesFiles(facts) && facts.paths.every((path) => path.insideWorkspace && path.protectedBy === null);
}

function unseen(sources: readonly TaintSource[], why: string): RuleDecision {
  return ask('taint.unseen', `These arguments may come from ${nameSources(sources)}, ${why}.`);
}

function nameRule(rule: MatchedRule): string {
  return `Rule ${rule.number} of policy.rules`;
}

function because({ reason }: MatchedRule): string {
  if (reason === null) return '.';
  return /[.!?]$/.test(reason) ? `: ${reason}` : `: ${reason}.`;
}

function whatWasWritten(names: readonly string[]): string {
  if (names.length === 0) return 'files were written here since you last saw it, and nothing confines it on this machine';
  return `${joinNames(names)} ${names.length > 1 ? 'were' : 'was'} written by the agent`;
}

function joinNames(names: readonly string[]): string {
  const last = names.at(-1) ?? 'what it runs';
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`;
}

function listChanges(changes: readonly string[]): string {
  return `${joinNames(changes)} ${changes.length > 1 ? 'have' : 'has'} changed`;
}

function allow(ruleId: RuleId, reason: string): RuleDecision {
  return { decision: 'allow', ruleId, reason, grantable: false };
}

function ask(ruleId: RuleId, reason: string): RuleDecision {
  return { decision: 'ask', ruleId, reason, grantable: true };
}

function askOnce(ruleId: RuleId, reason: string): RuleDecision {
  return { decision: 'ask', ruleId, reason, grantable: false };
}

function deny(ruleId: RuleId, reason: string): RuleDecision {
  return { decision: 'deny', ruleId, reason, grantable: false };
}
