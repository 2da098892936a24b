// The gate's order of decisions for display: each step with the rules it may name. Pure; the texts are in the catalogue.

import type { Words } from '../../lib/i18n/words.ts';

export type StepName = keyof Words['approvals']['policy']['steps'];

interface PolicyStep {
  readonly name: StepName;
  readonly answer: 'allow' | 'ask' | 'deny';
  /** Rule ids; an id that ends in a dot is a prefix. */
  readonly rules: readonly string[];
}

export const policySteps: readonly PolicyStep[] = [
  { name: 'panic', answer: 'deny', rules: ['panic.engaged'] },
  { name: 'toolOff', answer: 'deny', rules: ['tool.denied'] },
  { name: 'address', answer: 'deny', rules: ['address.refused'] },
  { name: 'ownData', answer: 'deny', rules: ['path.own-data'] },
  { name: 'ruleDeny', answer: 'deny', rules: ['rule.deny'] },
  { name: 'lockedDown', answer: 'deny', rules: ['mode.locked-down'] },
  { name: 'protectedPath', answer: 'ask', rules: ['path.protected'] },
  { name: 'threeWay', answer: 'ask', rules: ['taint.three-way'] },
  { name: 'rate', answer: 'ask', rules: ['rate.limit'] },
  { name: 'ruleAsk', answer: 'ask', rules: ['rule.ask'] },
  { name: 'freeRead', answer: 'allow', rules: ['read.workspace', 'command.reads'] },
  { name: 'sameChat', answer: 'allow', rules: ['message.same-chat'] },
  { name: 'grants', answer: 'allow', rules: ['grant.', 'taint.unseen'] },
  { name: 'ruleAllow', answer: 'allow', rules: ['rule.allow'] },
  { name: 'commands', answer: 'allow', rules: ['command.allowed', 'command.changed'] },
  { name: 'domains', answer: 'allow', rules: ['domain.allowed'] },
  { name: 'workspaceFree', answer: 'allow', rules: ['write.workspace'] },
  { name: 'rest', answer: 'ask', rules: ['ask.', 'read.outside-workspace'] },
  { name: 'review', answer: 'ask', rules: ['review.'] },
];

/** The colour of a decision: red for deny, waiting for ask. */
export const answerTones = { deny: 'bad', allow: 'accent', ask: 'warn' } as const;

/** The index of a rule's step; -1 for a rule this program does not know. */
export function stepOfRule(ruleId: string): number {
  return policySteps.findIndex(({ rules }) => rules.some((rule) => (rule.endsWith('.') ? ruleId.startsWith(rule) : rule === ruleId)));
}
