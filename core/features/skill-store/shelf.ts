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
  /** The instructions, without the front matter. */
  readonly body: string;
  /** The files as they are installed; for a skill of the layers project, the converted files. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly isConverted: boolean;
  /** The hash of all installed files. Trust is given to exactly this content. */
  readonly sha256: string;
  readonly findings: readonly SkillFinding[];
}

export interface Standing {
  readonly name: string;
  readonly path: string;
  readonly version: string | null;
  readonly requires: readonly Need[];
  readonly deprecation: Deprecation | null;
  /** Whether the skill is in the folder where the store installs skills. */
  readonly isOwn: boolean;
}

export interface Shelf {
  /** The folder where the store installs skills, with one subfolder each. */
  readonly folder: string;
  inspect(
    files: ReadonlyMap<string, Uint8Array>,
    folderName: string,
  ): Result<Inspected, { readonly reason: string; readonly hint: string }>;
  readonly hashes: (files: ReadonlyMap<string, Uint8Array>) => { readonly content: string; readonly layers: string };
  standing(): readonly Standing[];
  /** The hash of a folder's current files; null if the folder does not exist. */
  readonly contentOf: (path: string) => string | null;
  /** The folders with a SKILL.md at or below a path. */
  readonly below: (path: string) => readonly string[];
  /** The names of the skills that declare this one as a requirement. */
  usersOf(name: string): readonly string[];
  /** The turns in which the skill was opened. */
  openedIn(name: string): readonly string[];
  reload(): void;
}
