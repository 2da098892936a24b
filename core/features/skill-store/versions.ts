// Versions of skills in the words of semver. What has no version, or none that can be read, is older than everything that has one. Pure.

import semver from 'semver';

export const noVersion = '0.0.0';

/** As semver reads it; `0.0.0` for none. */
export function versionOf(stated: string | null): string {
  return stated === null ? noVersion : (semver.parse(stated)?.version ?? semver.coerce(stated)?.version ?? noVersion);
}

/** Below zero where the first is older. */
export function versionOrder(a: string | null, b: string | null): number {
  return semver.compare(versionOf(a), versionOf(b));
}

/** A pre-release is meant only where the range names one. */
export function fits(version: string, range: string): boolean {
  return range === '*' || semver.satisfies(version, range);
}

/** Null for what is no range. */
export function rangeOf(text: string): string | null {
  return semver.validRange(text) === null ? null : text;
}

export function isExact(range: string): boolean {
  return semver.valid(range) !== null;
}

/** The newest first; a pre-release after the others. */
export function newestFirst(a: string, b: string): number {
  const early = (version: string): number => (semver.prerelease(version) === null ? 0 : 1);
  return early(a) - early(b) || semver.rcompare(a, b);
}
