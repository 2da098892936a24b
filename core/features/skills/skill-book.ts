// The book of skills: finds, reads, checks and opens them within bounds. The interface of the module. Runs nothing: a script of a skill is
// a command like any other and goes through the gate.

import { hash } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { isInside } from '../../base/inside-folder.ts';
import type { Logger } from '../../base/logger.ts';
import { AppError } from '../../contracts/errors.ts';
import type { AnyDraft } from '../../contracts/events.ts';
import {
  type RefusedSkill,
  type SkillFinding,
  type SkillListing,
  type SkillOrigin,
  type SkillsConfig,
  type SkillView,
  skillOrigins,
} from '../../contracts/features/skills.ts';
import { isTrusted, listSkill, trustOf, type Judging, type LoadedSkill } from './loaded-skill.ts';
import { findSkills, folderNameOf, hashTree, listTree, readSkill, type FoundSkill } from './skill-folders.ts';
import { readHead } from './skill-head.ts';
import { lintSteps, readSteps, skillsOf } from './skill-steps.ts';
import { SkillIndex, type Scored } from './skill-index.ts';
import { lintSkill } from './skill-lint.ts';
import { checkNeeds, type Surroundings } from './skill-needs.ts';
import type { SkillRows } from './rows.ts';

export interface SkillRoot {
  readonly path: string;
  readonly origin: SkillOrigin;
}

export interface SkillBookDeps {
  /** The first beats the later where two skills have one name and are trusted alike. */
  readonly roots: readonly SkillRoot[];
  readonly rows: SkillRows;
  readonly around: Surroundings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly config: SkillsConfig;
  /** Names of the tools there are now. */
  tools(): ReadonlySet<string>;
  record(sessionId: string, drafts: readonly AnyDraft[]): void;
}

export interface ReloadReport {
  readonly skills: number;
  readonly added: string[];
  readonly changed: string[];
  readonly removed: string[];
}

interface Shelf {
  readonly skills: ReadonlyMap<string, LoadedSkill>;
  readonly refused: readonly RefusedSkill[];
  readonly index: SkillIndex;
}

export class SkillBook {
  readonly #deps: SkillBookDeps;
  /** Read at the first look, and whenever a folder changes. */
  #shelf: Shelf | null = null;

  constructor(deps: SkillBookDeps) {
    this.#deps = deps;
  }

  get config(): SkillsConfig {
    return this.#deps.config;
  }

  get roots(): readonly (SkillRoot & { readonly isTrusted: boolean })[] {
    const { roots, rows } = this.#deps;
    const isTrustedRoot = ({ path, origin }: SkillRoot): boolean =>
      origin === 'bundled' || rows.trusted.some((target) => target.kind === 'folder' && isInside(path, target.path));
    return roots.map((root) => ({ ...root, isTrusted: isTrustedRoot(root) }));
  }

  get refused(): readonly RefusedSkill[] {
    return this.#loaded().refused;
  }

  list(): SkillListing[] {
    const judging = this.#judging();
    return this.all()
      .map((skill) => listSkill(skill, judging))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  listed(name: string): SkillListing {
    return listSkill(this.skill(name), this.#judging());
  }

  /** Fails with not_found, with the nearest names. */
  skill(name: string): LoadedSkill {
    const { skills } = this.#loaded();
    const found = skills.get(name);
    if (found !== undefined) return found;
    const near = this.#loaded()
      .index.find(name.replaceAll('-', ' '), 3)
      .map((scored) => scored.name);
    const hint = near.length > 0 ? `Did you mean ${near.join(', ')}?` : 'See what there is with: trayclaw skills list';
    throw new AppError('not_found', `There is no skill ${JSON.stringify(name.slice(0, 80))}.`, { data: { hint } });
  }

  has(name: string): boolean {
    return this.#loaded().skills.has(name);
  }

  all(): readonly LoadedSkill[] {
    return [...this.#loaded().skills.values()];
  }

  /** Names of the skills that declare this one as a part of their work. */
  composedBy(name: string): string[] {
    return this.all()
      .filter(({ head }) => head.skills.includes(name))
      .map(({ head }) => head.name);
  }

  get(name: string): SkillView {
    const skill = this.fresh(name);
    const { head, file, files, findings } = skill;
    return {
      ...listSkill(skill, this.#judging()),
      body: file.body,
      license: head.license,
      compatibility: head.compatibility,
      homepage: head.homepage,
      findings: [...findings],
      files: files.filter(({ path }) => path !== skill.fileName).map(({ path, sizeBytes }) => ({ path, sizeBytes })),
      sha256: hashTree(skill.folder, files),
    };
  }

  /** The skill in the current state of its files; rereads them if they changed. */
  fresh(name: string): LoadedSkill {
    const before = this.skill(name);
    const now = this.#load({ folder: before.folder, fileName: before.fileName }, before.origin);
    const same = 'stamp' in now && now.stamp === before.stamp && now.trust === before.trust && now.head.name === name;
    if (same) return before;
    this.reload();
    return this.skill(name);
  }

  /** Best first: skills that may be offered to the model and whose tools are available. */
  shortlist(query: string, offered: ReadonlySet<string>, limit = this.#deps.config.shortlist): Scored[] {
    if (limit === 0) return [];
    const { index, skills } = this.#loaded();
    const judging = { ...this.#judging(), hasTool: (tool: string) => offered.has(tool) };
    const accepts = (name: string): boolean => {
      const skill = skills.get(name);
      return skill !== undefined && listSkill(skill, judging).isOffered;
    };
    return index.find(query, limit, accepts);
  }

  /** The skill to which a file belongs; null for any other file, for which no folder is read. */
  owning(path: string): LoadedSkill | null {
    if (!this.#deps.roots.some((root) => isInside(path, root.path))) return null;
    return this.all().find(({ folder }) => isInside(path, folder)) ?? null;
  }

  /**
   * Returns why a command must not run with these paths: a file among them belongs to a skill whose current content is not trusted. Null
   * otherwise.
   */
  refusalOf(paths: readonly string[]): string | null {
    for (const path of paths) {
      const skill = this.owning(path);
      if (skill === null || isTrusted(this.#withTrust(skill))) continue;
      return `It would run a file of the skill ${skill.head.name}, which you have not trusted as it is now. See: trayclaw skills show ${skill.head.name}`;
    }
    return null;
  }

  /** Findings for any folder with skills. Fails with not_found. */
  lint(path: string): { name: string; path: string; findings: SkillFinding[] }[] {
    const found = findSkills(path);
    if (found.length === 0) {
      throw new AppError('not_found', `There is no SKILL.md in ${path} or below it.`, {
        data: { hint: 'Name the folder that holds the SKILL.md.' },
      });
    }
    return found.map((one) => {
      const loaded = this.#load(one, 'folder');
      if ('head' in loaded) return { name: loaded.head.name, path: one.folder, findings: [...loaded.findings] };
      const message = `${loaded.reason} ${loaded.hint}`;
      return {
        name: folderNameOf(one.folder),
        path: one.folder,
        findings: [{ rule: 'not-loadable', severity: 'error', message, line: null }],
      };
    });
  }

  reload(): ReloadReport {
    const before = this.#shelf?.skills ?? new Map<string, LoadedSkill>();
    this.#shelf = this.#read();
    const now = this.#shelf.skills;
    const names = [...now.keys()];
    return {
      skills: now.size,
      added: names.filter((name) => !before.has(name)),
      changed: names.filter((name) => before.has(name) && before.get(name)?.stamp !== now.get(name)?.stamp),
      removed: [...before.keys()].filter((name) => !now.has(name)),
    };
  }

  #loaded(): Shelf {
    this.#shelf ??= this.#read();
    return this.#shelf;
  }

  #read(): Shelf {
    const { roots, logger } = this.#deps;
    const refused: RefusedSkill[] = [];
    const byName = new Map<string, LoadedSkill[]>();
    const seen = new Set<string>();
    for (const { path, origin } of roots) {
      for (const found of findSkills(path)) {
        if (seen.has(found.folder)) continue;
        seen.add(found.folder);
        const loaded = this.#load(found, origin);
        if ('reason' in loaded) refused.push({ path: found.folder, ...loaded });
        else byName.set(loaded.head.name, [...(byName.get(loaded.head.name) ?? []), loaded]);
      }
    }
    const skills = new Map([...byName].map(([name, ones]) => [name, foremost(ones)] as const));
    if (refused.length > 0) logger.log('warn', 'some skills could not be taken in', { refused: refused.length });
    return { skills, refused, index: new SkillIndex([...skills.values()].map(indexed)) };
  }

  #load(found: FoundSkill, origin: SkillOrigin): LoadedSkill | { reason: string; hint: string } {
    const read = readSkill(found);
    if (!read.ok) return read.error;
    const { file, files, source } = read.value;
    const folderName = folderNameOf(found.folder);
    const head = readHead(file.head, folderName, file.body);
    if (head.name === '')
      return { reason: 'It has no name that could be used.', hint: 'Give it a name of small letters, digits and hyphens.' };
    if (head.description === '') return { reason: 'It says nothing of what it is for.', hint: 'Add "description: …" to its head.' };
    const filePaths = files.map(({ path }) => path);
    const steps = readSteps(found.folder, files);
    const linted = lintSkill({ file, head, folderName, fileName: found.fileName, files: filePaths, tools: this.#deps.tools() });
    const findings = [...linted, ...lintSteps(steps)];
    const needs = checkNeeds(head, this.#deps.around);
    const whole = { ...head, skills: [...new Set([...head.skills, ...skillsOf(steps)])] };
    const base = { head: whole, file, ...found, origin, files, needs, findings, shadowed: [] };
    const stamp = hash('sha256', `${source}\0${files.map(({ path, sizeBytes }) => `${path} ${sizeBytes}`).join('\0')}`, 'hex');
    return { ...base, stamp, ...trustOf(base, this.#deps.rows.trusted) };
  }

  #withTrust(skill: LoadedSkill): LoadedSkill {
    const files = listTree(skill.folder);
    return files === null ? { ...skill, trust: 'changed' } : { ...skill, ...trustOf({ ...skill, files }, this.#deps.rows.trusted) };
  }

  #judging(): Judging {
    const { rows, clock } = this.#deps;
    const tools = this.#deps.tools();
    return {
      disabled: rows.disabled,
      today: new Date(clock.nowMs()).toISOString().slice(0, 10),
      hasTool: (name) => tools.has(name),
      hasSkill: (name) => this.has(name),
    };
  }
}

/** A trusted skill takes precedence over an untrusted one: a folder that anyone can write to cannot take over a name. */
function foremost(ones: readonly LoadedSkill[]): LoadedSkill {
  const rank = (one: LoadedSkill): number => (isTrusted(one) ? 0 : skillOrigins.length) + skillOrigins.indexOf(one.origin);
  const [first, ...others] = [...ones].sort((a, b) => rank(a) - rank(b));
  if (first === undefined) throw new AppError('internal', 'a name without a skill');
  return { ...first, shadowed: others.map(({ folder }) => folder) };
}

function indexed({ head, file }: LoadedSkill) {
  const headings = file.body.split('\n').filter((line) => /^#{1,6}\s/.test(line));
  return { name: head.name, description: head.description, topics: [...headings, ...head.tools].join(' ').replaceAll('_', ' ') };
}
