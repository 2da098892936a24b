// One version of a skill as a source offers it, and how to get its files. Every kind of source converts its skills to this form.

import { skillNameSchema } from '../../contracts/skill-parts.ts';
import type { SkillRisk, SkillSource } from '../../contracts/features/skill-store.ts';
import type { ReadPackage } from './read-package.ts';
import type { Need } from './resolver.ts';
import { risk } from './skill-scan.ts';

export interface Deprecation {
  readonly replacedBy: string | null;
  readonly removeAfter: string | null;
}

export interface Delivered {
  readonly read: ReadPackage;
  readonly source: SkillSource;
  /** Risks that the source itself reports. */
  readonly risks: readonly SkillRisk[];
  /** For a repository: the named ref, such as a tag, is not expected to move to another commit. */
  readonly isFixedRef?: boolean;
}

export interface Offer {
  readonly name: string;
  /** The version as stated; null if the source states none. */
  readonly version: string | null;
  readonly description: string;
  readonly market: string | null;
  readonly publisher: string | null;
  /** The verdict of the source in a sentence. */
  readonly verdict: string | null;
  readonly deprecation: Deprecation | null;
  /** Why the source withdrew this version; null if it did not. */
  readonly revoked: string | null;
  /** Null if only the files of the skill state its requirements. */
  readonly requires: readonly Need[] | null;
  /** Downloads and verifies the skill. Fails with an AppError. */
  deliver(signal: AbortSignal): Promise<Delivered>;
}

export interface Market {
  readonly name: string;
  readonly kind: SkillSource['kind'];
  search(query: string, signal: AbortSignal): Promise<readonly Offer[]>;
  /** All versions of a skill, in any order. */
  offers(name: string, signal: AbortSignal): Promise<readonly Offer[]>;
}

/** Normalizes a name: `Error_Budget` becomes `error-budget`. Null if it is not a valid name. */
export function nameOfSkill(text: string): string | null {
  const name = text.trim().toLowerCase().replaceAll('_', '-');
  return skillNameSchema.safeParse(name).success ? name : null;
}

export function matches(query: string, ...texts: readonly string[]): boolean {
  const whole = texts.join(' ').toLowerCase().replaceAll('_', '-');
  return query
    .toLowerCase()
    .replaceAll('_', '-')
    .split(/\s+/)
    .every((word) => whole.includes(word));
}

export function leftOutRisk(leftOut: readonly string[]): SkillRisk[] {
  if (leftOut.length === 0) return [];
  return [
    risk(
      'note',
      'left-out',
      `Left out, because it is not part of a skill or its published hash does not cover it: ${leftOut.slice(0, 5).join(', ')}.`,
    ),
  ];
}
