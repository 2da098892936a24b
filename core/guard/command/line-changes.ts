// Judges a line of several commands that changes files: whether each command still does what was seen of it when the earlier ones have run.
// No command here makes a link, so a path leads to the same place throughout. Changes nothing.

import { basename, resolve } from 'node:path';
import { isInside } from '../../base/inside-folder.ts';
import { readsRepository, type PathFact } from '../../contracts/tools.ts';
import { isIgnoreFile } from './ignore-files.ts';
import { outputsOf, type Joint } from './joined-line.ts';
import type { LookedAt } from './joined-command.ts';
import { isOpen } from './plain-command.ts';
import type { CommandPlaces } from './protected-walk.ts';
import { isAnythingElse, type Earlier } from './write-command.ts';

type Place = Pick<CommandPlaces, 'fact'>;

/** Some disks take names that differ in case for the same. */
const folded = (path: string): string => path.normalize('NFKC').toLowerCase();

export class LineChanges {
  readonly #cwd: string;
  readonly #places: Place;
  /** The parts of earlier pipelines. The commands of one pipeline run at the same time. */
  #before: LookedAt[] = [];
  #pipeline: LookedAt[] = [];
  #all: LookedAt[] = [];
  #isKnown = true;

  constructor(cwd: string, places: Place) {
    this.#cwd = cwd;
    this.#places = places;
  }

  /** Begins the next part. Returns the changes that the parts before it may have made by then. */
  next(joint: Joint | null): Earlier {
    if (joint !== '|') {
      this.#before = [...this.#before, ...this.#pipeline];
      this.#pipeline = [];
    }
    const real = (path: string): string => folded(this.#places.fact(path, this.#cwd, 'write').real);
    const made = changedBy(this.#before.filter(isMkdir));
    const changed = changedBy(this.#before);
    return {
      changes: (path) => changed.includes(real(path)),
      makes: (path) => made.some((folder) => isInside(folder, real(path))),
    };
  }

  add(looked: LookedAt): void {
    const { part, look, inputs, outputs } = looked;
    const isReader = look.plain.reads !== null;
    const isKnown = isReader || look.plain.writes !== undefined;
    const areFiles = outputsOf(part).every((file) => !isAnythingElse(resolve(this.#cwd, file)));
    // A file may decide how git reads a word, and git obeys some files.
    const isUnmoved = !readsRepository(look.plain.family) || changedBy(this.#before).length === 0;
    this.#isKnown &&= isKnown && areFiles && isUnmoved && [...look.paths, ...inputs, ...outputs].every(isOpen);
    this.#pipeline.push(looked);
    this.#all.push(looked);
  }

  /** Returns whether the line changes the files among its paths and does nothing else. */
  get onlyChangesFiles(): boolean {
    const changed = changedBy(this.#all);
    return changed.length > 0 && this.#isKnown && !this.#all.some((_, at) => this.#runsBeside(at)) && !this.#changesSearch(changed);
  }

  /** Returns whether the part changes named files while the parts that it is piped to read, in an order that is not known. */
  #runsBeside(at: number): boolean {
    const { part, look } = this.#all[at] ?? {};
    const isPiped = part?.joint === '|' || this.#all[at + 1]?.part.joint === '|';
    return isPiped && look?.plain.writes !== undefined && part?.argv[0] !== 'tee';
  }

  /** Returns whether a search of the line obeys a file that the line changes, and may then show files that it left out before. */
  #changesSearch(changed: readonly string[]): boolean {
    return this.#all.some(({ look }) => look.walks) && changed.some((path) => isIgnoreFile(basename(path)));
  }
}

const isMkdir = ({ part }: LookedAt): boolean => part.argv[0] === 'mkdir';

function changedBy(parts: readonly LookedAt[]): readonly string[] {
  const written = (paths: readonly PathFact[]): string[] =>
    paths.filter(({ access }) => access === 'write').map(({ real }) => folded(real));
  return parts.flatMap(({ look, outputs }) => written([...look.paths, ...outputs]));
}
