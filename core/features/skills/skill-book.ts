// The skill book: finds, reads, checks and opens skills within bounds. The main interface of this module. Runs nothing: a skill's script is
// a command like any other and passes the gate.

import { isInside } from '../../base/inside-folder.ts';
import { didYouMean } from '../../base/near-names.ts';
import { AppError, noSuch } from '../../contracts/errors.ts';
import type { AnyDraft } from '../../contracts/events.ts';
import type { OpResult } from '../../contracts/ops.ts';
import {
  type RefusedSkill,
  type SkillFinding,
  type SkillListing,
  type SkillOrigin,
  type SkillsConfig,
  type SkillTrust,
  type SkillView,
  skillOrigins,
} from '../../contracts/features/skills.ts';
import type { Spine } from '../feature.ts';
import { isTrusted, listSkill, trustOf, type Judging, type LoadedSkill, type ShelvedSkill } from './loaded-skill.ts';
import { findSkills, folderNameOf, hashTree, seeTree, SKILLS_MAX, type FoundSkill, type SkillTree } from './skill-folders.ts';
import { SkillIndex, type Scored } from './skill-index.ts';
import { lintTools } from './skill-lint.ts';
import { checkNeeds, type Surroundings } from './skill-needs.ts';
import { readWhole, SkillReads, type SkillRead } from './skill-reads.ts';
import type { SkillRows, Trusts } from './rows.ts';

export interface SkillRoot {
  readonly path: string;
  readonly origin: SkillOrigin;
}

export interface SkillBookDeps extends Pick<Spine, 'clock' | 'logger'> {
  /** If two skills have the same name and equal trust, the one in the earlier root wins. */
  readonly roots: readonly SkillRoot[];
  readonly rows: SkillRows;
  readonly around: Surroundings;
  readonly config: SkillsConfig;
  /** Returns the opened folder in which the agent may write at or below this path, or null. */
  openedAround(folder: string): string | null;
  /** The names of the tools that are currently available. */
  tools(): ReadonlySet<string>;
  record(sessionId: string, drafts: readonly AnyDraft[]): void;
}

export type ReloadReport = OpResult<'skill.reload'>;

interface Shelf {
  readonly skills: ReadonlyMap<string, ShelvedSkill>;
  readonly refused: readonly RefusedSkill[];
  readonly index: SkillIndex;
  /** For each skill, the names of the skills that declare it as a requirement. */
  readonly users: ReadonlyMap<string, readonly string[]>;
}

export class SkillBook {
  readonly #deps: SkillBookDeps;
  /** Read on first use, and again whenever a folder changes. */
  #shelf: Shelf | null = null;
  readonly #reads: SkillReads;

  constructor(deps: SkillBookDeps) {
    this.#deps = deps;
    this.#reads = new SkillReads(deps.rows, deps.clock);
  }

  get config(): SkillsConfig {
    return this.#deps.config;
  }

  get roots(): readonly (SkillRoot & { readonly isTrusted: boolean })[] {
    const { folders } = this.#trusts;
    const isTrustedRoot = ({ path, origin }: SkillRoot): boolean =>
      origin === 'bundled' || folders.some((folder) => isInside(path, folder));
    return this.#deps.roots.map((root) => ({ ...root, isTrusted: isTrustedRoot(root) }));
  }

  /** A folder that was opened after a person trusted it is not trusted as a whole: the agent may write there now. */
  get #trusts(): Trusts {
    const { contents, folders } = this.#deps.rows.trusts;
    return { contents, folders: folders.filter((folder) => this.#deps.openedAround(folder) === null) };
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

  /** Fails with not_found; the hint suggests similar names. */
  skill(name: string): ShelvedSkill {
    const { skills, index } = this.#loaded();
    const found = skills.get(name);
    if (found !== undefined) return found;
    const about = index.find(name.replaceAll('-', ' '), 3).map((scored) => scored.name);
    throw noSuch('skill', name, skills.keys(), didYouMean(about) ?? 'See: trayclaw skills list');
  }

  has(name: string): boolean {
    return this.#loaded().skills.has(name);
  }

  all(): readonly ShelvedSkill[] {
    return [...this.#loaded().skills.values()];
  }

  /** The names of the skills that declare this one as a requirement. */
  composedBy(name: string): readonly string[] {
    return this.#loaded().users.get(name) ?? [];
  }

  /** All folders below the roots that contain files of a skill, as last read. Empty before the first read. */
  get folders(): readonly string[] {
    if (this.#shelf === null) return [];
    const own = [...this.#shelf.skills.values()].flatMap(({ folder, shadowed, tree }) => {
      const below = new Set(tree.files.map(({ path }) => path.split('/').slice(0, -1).join('/')).filter((path) => path !== ''));
      return [folder, ...shadowed, ...[...below].map((path) => `${folder}/${path}`)];
    });
    return [...own, ...this.#shelf.refused.map(({ path }) => path)];
  }

  get(name: string): SkillView {
    const skill = this.fresh(name);
    const { head, file, tree, findings } = skill;
    return {
      ...listSkill(skill, { ...this.#judging(), trustOf: () => skill.trust }),
      body: file.body,
      license: head.license,
      compatibility: head.compatibility,
      homepage: head.homepage,
      findings: [...findings],
      files: tree.files.filter(({ path }) => path !== skill.fileName).map(({ path, sizeBytes }) => ({ path, sizeBytes })),
      sha256: skill.sha256 ?? hashTree(skill.folder, tree.files),
    };
  }

  /** The skill with the current state of its files, all of which are read. Rereads the folders if the files have changed. */
  fresh(name: string): LoadedSkill {
    const before = this.skill(name);
    const now = this.#load(before, before.origin);
    const isSame = 'stamp' in now && now.stamp === before.stamp && now.trust === this.#trustOf(before) && now.head.name === name;
    if (isSame) return { ...now, shadowed: before.shadowed };
    this.#reads.forget(before.folder);
    this.reload();
    const after = this.skill(name);
    const again = this.#load(after, after.origin);
    if ('stamp' in again) return { ...again, shadowed: after.shadowed };
    throw new AppError('conflict', `The files of ${name} are being changed.`, { hint: 'Try again in a moment.' });
  }

  /** Best first. Contains only skills that may be offered to the model and whose tools are available. */
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

  /** The skill that a file belongs to, or null. Reads no folder if the path is outside all roots. */
  owning(path: string): ShelvedSkill | null {
    if (!this.#deps.roots.some((root) => isInside(path, root.path))) return null;
    return this.all().find(({ folder }) => isInside(path, folder)) ?? null;
  }

  /**
   * Why a command with these paths must not run: one of them is a file of a skill whose current content is not trusted. Null if the command
   * may run.
   */
  refusalOf(paths: readonly string[]): string | null {
    for (const path of paths) {
      const skill = this.owning(path);
      if (skill === null || isTrusted({ trust: this.#trustNow(skill) })) continue;
      return `It would run a file of the skill ${skill.head.name}, which you have not trusted as it is now. See: trayclaw skills show ${skill.head.name}`;
    }
    return null;
  }

  /** Findings for any folder with skills. Fails with not_found. */
  lint(path: string): { name: string; path: string; findings: SkillFinding[] }[] {
    const found = findSkills(path);
    if (found.length === 0) {
      throw new AppError('not_found', `There is no SKILL.md in ${path} or below it.`, { hint: 'Name the folder that holds the SKILL.md.' });
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
    const before = this.#shelf?.skills ?? new Map<string, ShelvedSkill>();
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

  /** Stores the cached reads for the next start. */
  save(): void {
    this.#reads.save();
  }

  #loaded(): Shelf {
    this.#shelf ??= this.#read();
    return this.#shelf;
  }

  #read(): Shelf {
    const { roots, logger } = this.#deps;
    const refused: RefusedSkill[] = [];
    const byName = new Map<string, ShelvedSkill[]>();
    const seen = new Set<string>();
    for (const { path, origin } of roots) {
      const found = findSkills(path);
      if (found.length >= SKILLS_MAX) refused.push({ path, ...tooMany() });
      for (const one of found) {
        if (seen.has(one.folder)) continue;
        seen.add(one.folder);
        const tree = seeTree(one.folder, one.entries);
        const read = this.#reads.read(one, tree);
        if ('reason' in read || tree === null) refused.push({ path: one.folder, ...('reason' in read ? read : tooMany()) });
        else byName.set(read.head.name, [...(byName.get(read.head.name) ?? []), this.#shelve(read, one, { origin, tree })]);
      }
    }
    this.#reads.retain(seen);
    if (refused.length > (this.#shelf?.refused.length ?? 0))
      logger.log('warn', 'some skills could not be taken in', { refused: refused.length });
    const skills = new Map([...byName].map(([name, ones]) => [name, this.#foremost(ones)] as const));
    return { skills, refused, index: this.#indexOf(skills), users: usersIn(skills) };
  }

  /** Reuses the index as long as the texts are unchanged. */
  #indexOf(skills: ReadonlyMap<string, ShelvedSkill>): SkillIndex {
    const before = this.#shelf;
    const isSame =
      before?.skills.size === skills.size && [...skills].every(([name, { stamp }]) => before.skills.get(name)?.stamp === stamp);
    if (isSame) return before.index;
    return new SkillIndex([...skills.values()].map(({ head, topics }) => ({ name: head.name, description: head.description, topics })));
  }

  #shelve(read: SkillRead, found: FoundSkill, { origin, tree }: { origin: SkillOrigin; tree: SkillTree }): ShelvedSkill {
    const { around } = this.#deps;
    const findings = [...read.findings, ...lintTools(read.head, this.#deps.tools())];
    const { folder, fileName } = found;
    return { ...read, folder, fileName, origin, tree, findings, needs: checkNeeds(read.head, around), shadowed: [] };
  }

  #load(found: FoundSkill, origin: SkillOrigin): LoadedSkill | { reason: string; hint: string } {
    const tree = seeTree(found.folder);
    const whole = readWhole(found, tree);
    if (!whole.ok) return whole.error;
    if (tree === null) return tooMany();
    const shelved = this.#shelve(whole.value.read, found, { origin, tree });
    return { ...shelved, file: whole.value.file, ...this.#trusted(shelved) };
  }

  /** The trust according to the current files. */
  #trusted(skill: ShelvedSkill): Pick<LoadedSkill, 'trust' | 'sha256'> {
    return trustOf(skill, this.#trusts, () => hashTree(skill.folder, skill.tree.files));
  }

  #trustNow(skill: ShelvedSkill): SkillTrust {
    const tree = seeTree(skill.folder);
    return tree === null ? 'changed' : this.#trusted({ ...skill, tree }).trust;
  }

  /**
   * The trust as shown in lists. The files are hashed once and not again while they look the same. Files that change during hashing are not
   * trusted.
   */
  #trustOf(skill: ShelvedSkill): SkillTrust {
    const { folder, tree } = skill;
    const hashed = (): string | null => {
      try {
        const sha256 = hashTree(folder, tree.files);
        return seeTree(folder)?.seen === tree.seen ? sha256 : null;
      } catch {
        // A file is missing or unreadable, so these are not the trusted files.
        return null;
      }
    };
    return trustOf(skill, this.#trusts, () => this.#reads.sha256(folder, tree, hashed)).trust;
  }

  /**
   * Chooses the skill to use among those with the same name. A trusted skill takes precedence, so that a folder anyone can write to cannot
   * take over a name.
   */
  #foremost(ones: readonly ShelvedSkill[]): ShelvedSkill {
    const rank = (one: ShelvedSkill): number =>
      (isTrusted({ trust: this.#trustOf(one) }) ? 0 : skillOrigins.length) + skillOrigins.indexOf(one.origin);
    const ranked =
      ones.length < 2
        ? ones
        : ones
            .map((one) => ({ one, at: rank(one) }))
            .sort((a, b) => a.at - b.at)
            .map(({ one }) => one);
    const [first, ...others] = ranked;
    if (first === undefined) throw new AppError('internal', 'a name without a skill');
    return { ...first, shadowed: others.map(({ folder }) => folder) };
  }

  #judging(): Judging {
    const { rows, clock } = this.#deps;
    const tools = this.#deps.tools();
    return {
      disabled: rows.disabled,
      today: new Date(clock.nowMs()).toISOString().slice(0, 10),
      hasTool: (name) => tools.has(name),
      hasSkill: (name) => this.has(name),
      trustOf: (skill) => this.#trustOf(skill),
    };
  }
}

/** Built on demand, because formatting a number makes Node load its locale data. */
const tooMany = () => ({
  reason: `There are more skills or files than are read: ${SKILLS_MAX.toLocaleString('en')} skills of a folder, 500 files or 50 MB of a skill.`,
  hint: 'Remove what does not belong there.',
});

function usersIn(skills: ReadonlyMap<string, ShelvedSkill>): ReadonlyMap<string, readonly string[]> {
  const users = new Map<string, string[]>();
  for (const { head } of skills.values()) for (const name of head.skills) users.set(name, [...(users.get(name) ?? []), head.name]);
  return users;
}
