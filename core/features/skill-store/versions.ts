// Compares versions of skills by semver. A missing or unreadable version is older than any other. Pure.

import semver from 'semver';

export const noVersion = '0.0.0';

/** The version as semver reads it; `0.0.0` if there is none. */
export function versionOf(stated: string | null): string {
  return stated === null ? noVersion : (semver.parse(stated)?.version ?? semver.coerce(stated)?.version ?? noVersion);
}

/** Negative if the first is older. */
export function versionOrder(a: string | null, b: string | null): number {
  return semver.compare(versionOf(a), versionOf(b));
}

/** Pre-releases match only if the range names one. */
export function fits(version: string, range: string): boolean {
  return range === '*' || semver.satisfies(version, range);
}

/** Null if the text is not a range. */
export function rangeOf(text: string): string | null {
  return semver.validRange(text) === null ? null : text;
}

export function isExact(range: string): boolean {
  return semver.valid(range) !== null;
}

/** Newest first; pre-releases after the others. */
export function newestFirst(a: string, b: string): number {
  const early = (version: string): number => (semver.prerelease(version) === null ? 0 : 1);
  return early(a) - early(b) || semver.rcompare(a, b);
}
