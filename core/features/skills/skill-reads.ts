// Caches the parsed form of each skill together with the names, sizes and times of its files, so that a start or a reload reads only what
// has changed. Used for lists and the shortlist only: a skill that is opened or run is read and hashed again. The cache can be deleted at
// any time.

import { hash } from 'node:crypto';
import * as z from 'zod';
import type { Clock } from '../../base/clock.ts';
import { jsonIn } from '../../base/json.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { skillFindingSchema } from '../../contracts/skill-parts.ts';
import type { KeptRead, SkillRows } from './rows.ts';
import { folderNameOf, readSkill, type FoundSkill, type SkillTree } from './skill-folders.ts';
import type { FileRefusal, SkillFile } from './skill-file.ts';
import { readHead, skillHeadSchema } from './skill-head.ts';
import { lintSkill } from './skill-lint.ts';
import { lintSteps, readSteps, skillsOf } from './skill-steps.ts';

/** Raise this number whenever the same files are read in another way. A test enforces it. */
const FORM = 1;
/**
 * Files changed this recently are not cached: a file may change again within one tick of the file system's clock, without a change of its
 * times.
 */
const TICK_MS = 2_000;

const skillReadSchema = z.object({
  head: skillHeadSchema,
  /** Headings and tools: words for the shortlist. */
  topics: z.string(),
  findings: z.array(skillFindingSchema),
  /** Changes with the SKILL.md and with the names of the other files. */
  stamp: z.string(),
});
export type SkillRead = z.infer<typeof skillReadSchema>;
const refusalSchema = z.object({ reason: z.string(), hint: z.string() });
const keptSchema = z.union([skillReadSchema, refusalSchema]);

/** Reads the files, bypassing the cache. */
export function readWhole(found: FoundSkill, tree: SkillTree | null): Result<{ read: SkillRead; file: SkillFile }, FileRefusal> {
  const whole = readSkill(found, tree);
  if (!whole.ok) return whole;
  const { file, source, tree: seen } = whole.value;
  const folderName = folderNameOf(found.folder);
  const head = readHead(file.head, folderName, file.body);
  if (head.name === '')
    return err({ reason: 'It has no name that could be used.', hint: 'Give it a name of small letters, digits and hyphens.' });
  if (head.description === '') return err({ reason: 'It says nothing of what it is for.', hint: 'Add "description: …" to its head.' });
  const steps = readSteps(found.folder, seen.files);
  const linted = lintSkill({ file, head, folderName, fileName: found.fileName, files: seen.files.map(({ path }) => path) });
  const headings = file.body.split('\n').filter((line) => /^#{1,6}\s/.test(line));
  const read = {
    head: { ...head, skills: [...new Set([...head.skills, ...skillsOf(steps)])] },
    topics: [...headings, ...head.tools].join(' ').replaceAll('_', ' '),
    findings: [...linted, ...lintSteps(steps)],
    stamp: hash('sha256', `${source}\0${seen.files.map(({ path, sizeBytes }) => `${path} ${sizeBytes}`).join('\0')}`, 'hex'),
  };
  return ok({ read, file });
}

interface Kept {
  readonly seen: string;
  readonly read: SkillRead | FileRefusal;
  sha256: string | null;
  isNew: boolean;
}

export class SkillReads {
  readonly #rows: Pick<SkillRows, 'reads' | 'keepReads'>;
  readonly #clock: Clock;
  #kept: Map<string, Kept> | null = null;
  readonly #gone = new Set<string>();

  constructor(rows: Pick<SkillRows, 'reads' | 'keepReads'>, clock: Clock) {
    this.#rows = rows;
    this.#clock = clock;
  }

  /** Returns the cached read while the files look the same; otherwise reads them. */
  read(found: FoundSkill, tree: SkillTree | null): SkillRead | FileRefusal {
    const seen = seenOf(tree);
    const kept = this.#all().get(found.folder);
    if (kept?.seen === seen) return kept.read;
    const nowMs = this.#clock.nowMs();
    const now = readWhole(found, tree);
    const read = now.ok ? now.value.read : now.error;
    if (tree !== null && tree.changedAtMs + TICK_MS < nowMs) this.#put(found.folder, { seen, read, sha256: null, isNew: true });
    return read;
  }

  /** The hash of all files; calls `hashNow` if it is not cached for these files. */
  sha256(folder: string, tree: SkillTree, hashNow: () => string | null): string | null {
    const kept = this.#all().get(folder);
    const isKept = kept?.seen === seenOf(tree);
    if (isKept && kept.sha256 !== null) return kept.sha256;
    const sha256 = hashNow();
    if (isKept && sha256 !== null) this.#put(folder, { ...kept, sha256, isNew: true });
    return sha256;
  }

  forget(folder: string): void {
    if (this.#all().delete(folder)) this.#gone.add(folder);
  }

  /** Drops the cached reads of skills that are no longer in any folder. */
  retain(folders: ReadonlySet<string>): void {
    for (const folder of this.#all().keys()) if (!folders.has(folder)) this.forget(folder);
  }

  /** Stores what has changed since the last call. */
  save(): void {
    const fresh = [...(this.#kept ?? [])].filter(([, { isNew }]) => isNew);
    if (fresh.length + this.#gone.size === 0) return;
    const put = fresh.map(([folder, { seen, read, sha256 }]): KeptRead => ({ folder, seen, read: JSON.stringify(read), sha256 }));
    this.#rows.keepReads(put, [...this.#gone]);
    for (const [, kept] of fresh) kept.isNew = false;
    this.#gone.clear();
  }

  #put(folder: string, kept: Kept): void {
    this.#gone.delete(folder);
    this.#all().set(folder, kept);
  }

  #all(): Map<string, Kept> {
    this.#kept ??= new Map(
      this.#rows.reads().flatMap(({ folder, seen, read, sha256 }) => {
        const parsed = seen.startsWith(`${FORM} `) ? keptSchema.safeParse(jsonIn(read)) : null;
        return parsed?.success === true ? [[folder, { seen, read: parsed.data, sha256, isNew: false }] as const] : [];
      }),
    );
    return this.#kept;
  }
}

function seenOf(tree: SkillTree | null): string {
  return `${FORM} ${tree?.seen ?? ''}`;
}
