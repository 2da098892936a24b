// A skill as read from the disk, and what follows from it for this machine, the person's decisions, and today. Pure apart from the hash of
// a trusted skill.

import { isInside } from '../../base/inside-folder.ts';
import type {
  SkillFinding,
  SkillListing,
  SkillOrigin,
  SkillRequirement,
  SkillTrust,
  SkillTrustTarget,
} from '../../contracts/features/skills.ts';
import { hashTree, hasLinks, type TreeFile } from './skill-folders.ts';
import type { SkillFile } from './skill-file.ts';
import type { SkillHead } from './skill-head.ts';
import { areMet } from './skill-needs.ts';

export interface LoadedSkill {
  readonly head: SkillHead;
  readonly file: SkillFile;
  readonly folder: string;
  readonly fileName: string;
  readonly origin: SkillOrigin;
  readonly files: readonly TreeFile[];
  readonly needs: readonly SkillRequirement[];
  readonly findings: readonly SkillFinding[];
  readonly trust: SkillTrust;
  /** Of all files, if requested; otherwise computed when needed. */
  readonly sha256: string | null;
  /** Of the SKILL.md as read: detects a change. */
  readonly stamp: string;
  readonly shadowed: readonly string[];
}

/** The trust of a skill. Computes a hash only if the person trusted some content of it. */
export function trustOf(
  skill: Pick<LoadedSkill, 'folder' | 'origin' | 'files'>,
  targets: readonly SkillTrustTarget[],
): { trust: SkillTrust; sha256: string | null } {
  if (skill.origin === 'bundled') return { trust: 'bundled', sha256: null };
  const own = targets.find((target) => target.path === skill.folder && target.kind === 'content');
  const around = targets.some((target) => target.kind === 'folder' && isInside(skill.folder, target.path));
  if (around && !hasLinks(skill.folder)) return { trust: 'folder', sha256: null };
  if (own?.kind !== 'content') return { trust: 'none', sha256: null };
  const sha256 = hashTree(skill.folder, skill.files);
  return { trust: sha256 === own.sha256 && !hasLinks(skill.folder) ? 'content' : 'changed', sha256 };
}

export function isTrusted({ trust }: Pick<LoadedSkill, 'trust'>): boolean {
  return trust === 'bundled' || trust === 'folder' || trust === 'content';
}

export interface Judging {
  readonly disabled: ReadonlySet<string>;
  /** `2026-01-31` */
  readonly today: string;
  readonly hasTool: (name: string) => boolean;
  readonly hasSkill: (name: string) => boolean;
}

export function statusOf({ deprecation }: SkillHead, today: string): SkillListing['status'] {
  if (deprecation === null) return 'active';
  return deprecation.removeAfter !== null && today > deprecation.removeAfter ? 'sunset' : 'deprecated';
}

export function listSkill(skill: LoadedSkill, judging: Judging): SkillListing {
  const { head, folder, origin, findings, trust, shadowed } = skill;
  const status = statusOf(head, judging.today);
  const isEnabled = !judging.disabled.has(head.name);
  const requirements = [
    ...skill.needs,
    ...head.tools.map((name): SkillRequirement => ({ kind: 'tool', name, isMet: judging.hasTool(name), hint: null })),
    ...head.skills.map((name): SkillRequirement => ({ kind: 'skill', name, isMet: judging.hasSkill(name), hint: null })),
  ];
  const whyNot = reasonAgainst(skill, { status, isEnabled, requirements });
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

type Standing = Pick<SkillListing, 'status' | 'isEnabled' | 'requirements'>;

/** Why the skill is not offered to the model, in a sentence; null if it is. */
function reasonAgainst(skill: LoadedSkill, { status, isEnabled, requirements }: Standing): string | null {
  const { head, trust } = skill;
  if (!isEnabled) return 'It is switched off.';
  if (status === 'sunset') return `It was to be removed after ${head.deprecation?.removeAfter ?? ''}.${insteadOf(head)}`;
  if (status === 'deprecated') return `It is deprecated.${insteadOf(head)}`;
  if (trust === 'changed') return 'Its files have changed since you trusted them.';
  if (!isTrusted(skill)) return 'Its text is not trusted yet.';
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
