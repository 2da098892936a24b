// Describes the gate's settings in config.yaml in words.

import { counted } from '../../base/counted.ts';
import type { Config, PolicyRule } from '../../contracts/config.ts';
import { facts } from './table.ts';

const modes: Readonly<Record<Config['policy']['mode'], string>> = {
  supervised: 'reading in the workspace is free, everything else asks',
  'workspace-free': 'reading and changing files in the workspace is free, everything else asks',
  'locked-down': 'reading in the workspace is free, everything else is refused',
};

export function describePolicy(policy: Config['policy'], path: string): string {
  const lists = [
    ['Commands', policy.allowCommands],
    ['Domains', policy.allowDomains],
    ['Never opened', policy.denyDomains],
    ['Refused tools', policy.denyTools],
  ] as const;
  return facts([
    ['Mode', `${policy.mode}: ${modes[policy.mode]}`],
    ...policy.rules.map((rule, at) => [`Rule ${at + 1}`, describeRule(rule)] as const),
    ...lists.map(([name, entries]) => [name, entries.length === 0 ? 'none' : entries.join(', ')] as const),
    ...Object.entries(policy.limits.callsPerMinute).map(
      ([name, limit]) => ['Limit', `${counted(limit, 'call')} of ${name} a minute, then it asks`] as const,
    ),
    ['Kept in', `${path}; a change takes effect at the next start`],
  ]);
}

function describeRule({ when, then, reason }: PolicyRule): string {
  const conditions = Object.entries(when).map(([name, entries = []]) => `${name} ${entries.join(' or ')}`);
  return `${then} ${conditions.join(' and ')}${reason === undefined ? '' : ` (${reason})`}`;
}
