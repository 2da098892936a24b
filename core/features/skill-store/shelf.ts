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
  /** The instructions, without the head. */
  readonly body: string;
  /** As they are installed: of the layers shape the rewritten ones. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly isConverted: boolean;
  /** Of the installed files together; trust is for exactly this content. */
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
  /** The hash of a folder's files as they are now; null where there is none. */
  readonly contentOf: (path: string) => string | null;
  /** Folders with a SKILL.md at or below a path. */
  readonly below: (path: string) => readonly string[];
  /** Names of the skills that declare this one as a part of their work. */
  usersOf(name: string): readonly string[];
  /** Turns in which it was opened. */
  openedIn(name: string): readonly string[];
  reload(): void;
}
