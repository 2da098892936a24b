// The interface through which the store reaches the skills. Types only.

import type { Result } from '../../base/result.ts';
import type { SkillFinding } from '../../contracts/skill-parts.ts';
import type { Deprecation } from './offer.ts';
import type { Need } from './resolver.ts';
import type { DeclaredEffects } from './skill-effects.ts';

export interface Inspected {
  readonly name: string;
  readonly head: DeclaredEffects & {
    readonly description: string;
    readonly version: string | null;
    readonly license: string | null;
    readonly homepage: string | null;
    readonly deprecation: Deprecation | null;
    readonly requires: readonly Need[];
  };
  readonly body: string;
  /** As they are installed. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly isConverted: boolean;
  readonly sha256: string;
  readonly findings: readonly SkillFinding[];
}

export interface Standing {
  readonly name: string;
  readonly path: string;
  readonly version: string | null;
  readonly requires: readonly Need[];
  readonly deprecation: Deprecation | null;
  /** It is in the folder where the store puts skills. */
  readonly isOwn: boolean;
}

export interface Shelf {
  /** Where the store puts skills, one folder each. */
  readonly folder: string;
  inspect(
    files: ReadonlyMap<string, Uint8Array>,
    folderName: string,
  ): Result<Inspected, { readonly reason: string; readonly hint: string }>;
  readonly hashes: (files: ReadonlyMap<string, Uint8Array>) => { readonly content: string; readonly layers: string };
  standing(): readonly Standing[];
  readonly contentOf: (path: string) => string | null;
  readonly below: (path: string) => readonly string[];
  usersOf(name: string): readonly string[];
  openedIn(name: string): readonly string[];
  reload(): void;
}
