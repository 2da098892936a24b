// Compares an installed skill with the versions that its source offers now. Pure.

import type { LockEntry } from '../../contracts/features/skill-store.ts';
import type { OpResult } from '../../contracts/ops.ts';
import type { Offer } from './offer.ts';
import { fits, newestFirst, versionOf, versionOrder } from './versions.ts';

type News = Omit<OpResult<'skill.outdated'>['skills'][number], 'state' | 'isPinned' | 'isUnneeded'>;

export interface Offered {
  readonly offers: readonly Offer[];
  /** Why the source could not be asked or no longer offers the skill; null if there is no problem. */
  readonly problem: string | null;
  /** For a repository: its current commit, if that differs from the installed one. */
  readonly newCommit?: string | null;
}

/** `all` are the installed skills, whose requirements limit how new this one may be. */
export function newsOf(lock: LockEntry, all: readonly LockEntry[], { offers, problem, newCommit = null }: Offered): News {
  const ranges = all.flatMap(({ requires }) => requires.filter(({ name }) => name === lock.name).map(({ range }) => range));
  const newer = offers
    .filter(({ revoked, version }) => revoked === null && versionOrder(version, lock.version) > 0)
    .map(({ version }) => version ?? '')
    .sort((a, b) => newestFirst(versionOf(a), versionOf(b)));
  const own = offers.find(({ version }) => version === lock.version);
  const revoked = own?.revoked ?? null;
  return {
    name: lock.name,
    version: lock.version,
    newer: newCommit ?? newer.find((version) => ranges.every((range) => fits(versionOf(version), range))) ?? null,
    latest: newCommit ?? newer[0] ?? null,
    deprecation: own?.deprecation ?? null,
    revoked,
    problem: revoked === null ? problem : `It was withdrawn: ${revoked}`,
  };
}
