// Renders a capsule as text for the model. Pure.

import type { Capsule, RiskPosture } from '../../contracts/features/identity.ts';

const postures: Readonly<Record<RiskPosture, string>> = {
  balanced: '',
  careful: 'Before you change anything, say in one sentence what you are about to change and what could go wrong. When in doubt, ask.',
  'read-only': 'You only look and report. You change nothing, send nothing and start nothing; say what should be done instead.',
};

/** Empty for an empty capsule. Deterministic, so that the prompt prefix stays cached. */
export function capsuleText(capsule: Capsule, promptTexts: readonly string[]): string {
  const { role, style, constraints, risk } = capsule;
  return [
    role ?? '',
    style === undefined ? '' : `How you speak: ${style}`,
    constraints.length === 0 ? '' : ['These hold always:', ...constraints.map((one) => `- ${one}`)].join('\n'),
    postures[risk],
    ...promptTexts,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}
