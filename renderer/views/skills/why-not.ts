// Why the agent does not see a skill, as a code with a text. In the host's order of checks. Pure.

import type { SkillListing } from '../../../core/contracts/features/skills.ts';

export type WhyNot = 'off' | 'sunset' | 'deprecated' | 'changed' | 'none' | 'needs' | 'other';

/** Null if the agent sees it. */
export function whyNot(skill: SkillListing): WhyNot | null {
  if (skill.whyNot === null) return null;
  if (!skill.isEnabled) return 'off';
  if (skill.status !== 'active') return skill.status;
  if (skill.trust === 'changed' || skill.trust === 'none') return skill.trust;
  return skill.requirements.some(({ isMet }) => !isMet) ? 'needs' : 'other';
}

/** Local midnight of a day such as `2026-12-31`; null for anything else. */
export function dayOf(text: string | null): number | null {
  const [year, month, day] = (text ?? '').split('-').map(Number);
  if (year === undefined || month === undefined || day === undefined) return null;
  const atMs = new Date(year, month - 1, day).getTime();
  return Number.isNaN(atMs) ? null : atMs;
}
