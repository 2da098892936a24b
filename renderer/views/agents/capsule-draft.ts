// The form of an agent's identity capsule, and its changes. Pure.

import type { Capsule, RiskPosture } from '../../../core/contracts/features/identity.ts';
import type { OpParams } from '../../../core/contracts/ops.ts';

export interface CapsuleDraft {
  role: string;
  style: string;
  /** One per line. */
  constraints: string;
  risk: RiskPosture;
  prompts: string[];
}

export function draftOf({ role, style, constraints, risk, prompts }: Capsule): CapsuleDraft {
  return { role: role ?? '', style: style ?? '', constraints: constraints.join('\n'), risk, prompts: [...prompts] };
}

/** The fields that differ from the capsule; null if none does. */
export function changesOf(draft: CapsuleDraft, capsule: Capsule): Omit<OpParams<'identity.set'>, 'agentId'> | null {
  const before = draftOf(capsule);
  const lines = linesOf(draft.constraints);
  const isOther = (one: readonly string[], other: readonly string[]): boolean => JSON.stringify(one) !== JSON.stringify(other);
  const changes = {
    ...(draft.role.trim() === before.role ? {} : { role: draft.role.trim() }),
    ...(draft.style.trim() === before.style ? {} : { style: draft.style.trim() }),
    ...(isOther(lines, capsule.constraints) ? { constraints: lines } : {}),
    ...(draft.risk === capsule.risk ? {} : { risk: draft.risk }),
    ...(isOther(draft.prompts, capsule.prompts) ? { prompts: [...draft.prompts] } : {}),
  };
  return Object.keys(changes).length === 0 ? null : changes;
}

/** The capsule's prompts in order, then all others. */
export function promptChoices(names: readonly string[], { prompts }: Capsule): string[] {
  return [...prompts, ...names.filter((name) => !prompts.includes(name))];
}

/** Appends a prompt, or removes it. */
export function withPrompt(prompts: readonly string[], name: string, isOn: boolean): string[] {
  const others = prompts.filter((one) => one !== name);
  return isOn ? [...others, name] : others;
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
