// A skill as read from disk, and its state given this machine, the person's decisions, and the date. Pure.

import { isInside } from '../../base/inside-folder.ts';
import type { SkillFinding, SkillListing, SkillOrigin, SkillRequirement, SkillTrust } from '../../contracts/features/skills.ts';
import type { Trusts } from './rows.ts';
import type { SkillTree } from './skill-folders.ts';
import type { SkillFile } from './skill-file.ts';
import type { SkillHead } from './skill-head.ts';
import type { SkillRead } from './skill-reads.ts';
import { areMet } from './skill-needs.ts';

/** A skill as lists and the shortlist use it. */
export interface ShelvedSkill extends SkillRead {
  readonly folder: string;
  readonly fileName: string;
  readonly origin: SkillOrigin;
  readonly tree: SkillTree;
  readonly needs: readonly SkillRequirement[];
  readonly shadowed: readonly string[];
}

/** A skill whose files were just read. */
export interface LoadedSkill extends ShelvedSkill {
  readonly file: SkillFile;
  readonly trust: SkillTrust;
  /** The hash of all files, if it had to be computed. */
  readonly sha256: string | null;
}

/** The trust in a skill. Hashes its files only if the person trusted some content of it; a null hash matches no content. */
export function trustOf(
  { folder, origin, tree }: Pick<ShelvedSkill, 'folder' | 'origin' | 'tree'>,
  { contents, folders }: Trusts,
  hashed: () => string | null,
): { trust: SkillTrust; sha256: string | null } {
  if (origin === 'bundled') return { trust: 'bundled', sha256: null };
  if (!tree.hasLinks && folders.some((path) => isInside(folder, path))) return { trust: 'folder', sha256: null };
  const own = contents.get(folder);
  if (own === undefined) return { trust: 'none', sha256: null };
  const sha256 = hashed();
  return { trust: sha256 === own && !tree.hasLinks ? 'content' : 'changed', sha256 };
}

export function isTrusted({ trust }: Pick<LoadedSkill, 'trust'>): boolean {
  return trust === 'bundled' || trust === 'folder' || trust === 'content';
}

export interface Judging {
  readonly disabled: ReadonlySet<string>;
  /** For example `2026-01-31`. */
  readonly today: string;
  readonly hasTool: (name: string) => boolean;
  readonly hasSkill: (name: string) => boolean;
  readonly trustOf: (skill: ShelvedSkill) => SkillTrust;
}

export function statusOf({ deprecation }: SkillHead, today: string): SkillListing['status'] {
  if (deprecation === null) return 'active';
  return deprecation.removeAfter !== null && today > deprecation.removeAfter ? 'sunset' : 'deprecated';
}

export function listSkill(skill: ShelvedSkill, judging: Judging): SkillListing {
  const { head, folder, origin, findings, shadowed } = skill;
  const trust = judging.trustOf(skill);
  const status = statusOf(head, judging.today);
  const isEnabled = !judging.disabled.has(head.name);
  const requirements = [
    ...skill.needs,
    ...head.tools.map((name): SkillRequirement => ({ kind: 'tool', name, isMet: judging.hasTool(name), hint: null })),
    ...head.skills.map((name): SkillRequirement => ({ kind: 'skill', name, isMet: judging.hasSkill(name), hint: null })),
  ];
  const whyNot = reasonAgainst(skill.head, { trust, status, isEnabled, requirements });
  const count = (severity: SkillFinding['severity']): number => findings.filter((one) => one.severity === severity).length;
  return {
    name: head.name,
    description: head.description,
    version: head.version,
    status,
    replacedBy: head.deprecation?.replacedBy ?? null,
    removeAfter: head.deprecation?.removeAfter ?? null,
    origin,
    path: folder,
    trust,
    isEnabled,
    requirements,
    tools: [...head.tools],
    isOffered: whyNot === null,
    whyNot,
    errors: count('error'),
    warnings: count('warning'),
    shadowed: [...shadowed],
  };
}

type Standing = Pick<SkillListing, 'trust' | 'status' | 'isEnabled' | 'requirements'>;

/** Why the skill is not offered to the model, as a sentence; null if it is offered. */
function reasonAgainst(head: SkillHead, { trust, status, isEnabled, requirements }: Standing): string | null {
  if (!isEnabled) return 'It is switched off.';
  if (status === 'sunset') return `It was to be removed after ${head.deprecation?.removeAfter ?? ''}.${insteadOf(head)}`;
  if (status === 'deprecated') return `It is deprecated.${insteadOf(head)}`;
  if (trust === 'changed') return 'Its files have changed since you trusted them.';
  if (!isTrusted({ trust })) return 'Its text is not trusted yet.';
  if (!areMet(requirements, head)) {
    const missing = requirements.filter(({ isMet }) => !isMet).map(({ kind, name }) => `${kind} ${name}`);
    return `It needs what is not there: ${missing.join(', ')}.`;
  }
  return head.modelInvocable ? null : 'Only you can open it, with /skill.';
}

export function insteadOf({ deprecation }: SkillHead): string {
  const replacedBy = deprecation?.replacedBy ?? null;
  return replacedBy === null ? '' : ` Use ${replacedBy} in its place.`;
}
