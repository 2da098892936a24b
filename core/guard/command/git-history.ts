// Finds the names of all files whose content a git command may show from the history of a repository, so that they can be judged like files
// of the work tree. Null if they are not all known. Runs nothing.

import { join } from 'node:path';
import { readTree } from '../../base/git-format.ts';
import type { GitFolders } from '../../base/git-places.ts';
import { GitObjects } from './git-objects.ts';
import { look, readSmall } from './project-files.ts';

/**
 * commits: the changes of these commits and, up to `depthMax` generations, of their ancestors. between: the differences of two commits.
 * parted: those of the second one since the histories parted. files: everything in one commit.
 */
export type GitHistory =
  | { readonly kind: 'commits'; readonly revisions: readonly string[]; readonly depthMax: number }
  | { readonly kind: 'between' | 'parted'; readonly revisions: readonly [string, string] }
  | { readonly kind: 'files'; readonly revisions: readonly [string] };

/** Enough for some hundred small commits, or for a few large ones. */
const OBJECTS_MAX = 500;
const NAMES_MAX = 20_000;
const REFS_BYTES_MAX = 4_000_000;
const LINKS_MAX = 5;
const fullName = /^[0-9a-f]{40}$/;

/** Returns the paths from the top of the repository. */
export function namesInHistory(history: GitHistory, folders: GitFolders): readonly string[] | null {
  if (isRewritten(folders)) return null;
  const reader = new HistoryReader(folders);
  return reader.run(history) ? reader.names : null;
}

/** Returns the commit at which the histories of two commits part, as `git merge-base` finds it. Null if it is not known, or not the only one. */
export function mergeBaseOf(revisions: readonly [string, string], folders: GitFolders): string | null {
  return isRewritten(folders) ? null : new HistoryReader(folders).mergeBase(revisions);
}

/** Signs of a commit: it is an ancestor of the first or of the second one, or of one that both have. */
const [ofFirst, ofSecond, isBehind] = [1, 2, 4];
const ofBoth = ofFirst | ofSecond;

/** Returns whether git takes other parents or objects than the commits name. */
function isRewritten({ common }: GitFolders): boolean {
  const packed = readSmall(join(common, 'packed-refs'), REFS_BYTES_MAX);
  if (packed === undefined || packed?.includes(' refs/replace/') === true) return true;
  return ['shallow', 'info/grafts', 'refs/replace'].some((name) => look(join(common, name)) !== null);
}

class HistoryReader {
  readonly #folders: GitFolders;
  readonly #objects: GitObjects;
  readonly #names = new Set<string>();
  #left = OBJECTS_MAX;

  constructor(folders: GitFolders) {
    this.#folders = folders;
    this.#objects = new GitObjects(join(folders.common, 'objects'));
  }

  get names(): readonly string[] {
    return [...this.#names];
  }

  /** Returns false if something could not be read. */
  run(history: GitHistory): boolean {
    const commits = history.revisions.map((revision) => this.#commitOf(revision));
    const [first = null, second = null] = commits;
    if (first === null || commits.includes(null)) return false;
    if (history.kind === 'files') return this.#compare(null, this.#treeOf(first), '');
    if (history.kind === 'commits')
      return this.#walk(
        commits.filter((commit) => commit !== null),
        history.depthMax,
      );
    const base = history.kind === 'parted' ? this.mergeBase(history.revisions) : first;
    return base !== null && second !== null && this.#compare(this.#treeOf(base), this.#treeOf(second), '');
  }

  /** The newest commits come first, so that few of those that both have are read. */
  mergeBase(revisions: readonly [string, string]): string | null {
    const [first, second] = revisions.map((revision) => this.#commitOf(revision));
    if (typeof first !== 'string' || typeof second !== 'string') return null;
    const signs = new Map([[first, ofFirst]]);
    const signsOf = (id: string): number => signs.get(id) ?? 0;
    signs.set(second, signsOf(second) | ofSecond);
    const waiting = new Map([first, second].map((id) => [id, this.#timeOf(id)]));
    const shared: string[] = [];
    while ([...waiting.keys()].some((id) => (signsOf(id) & isBehind) === 0)) {
      const [id] = [...waiting].reduce((one, other) => (other[1] > one[1] ? other : one));
      const parents = this.#parentsOf(id);
      if (parents === null) return null;
      waiting.delete(id);
      if (signsOf(id) === ofBoth) shared.push(id);
      const given = (signsOf(id) & ofBoth) === ofBoth ? signsOf(id) | isBehind : signsOf(id);
      for (const parent of parents.filter((one) => (signsOf(one) & given) !== given)) {
        signs.set(parent, signsOf(parent) | given);
        waiting.set(parent, waiting.get(parent) ?? this.#timeOf(parent));
      }
    }
    const bases = shared.filter((id) => (signsOf(id) & isBehind) === 0);
    return bases.length === 1 ? (bases[0] ?? null) : null;
  }

  #timeOf(commit: string): number {
    return Number(/^committer .*> (\d+) /m.exec(this.#bytesOf(commit, 'commit')?.toString('latin1') ?? '')?.[1] ?? 0);
  }

  #walk(starts: readonly string[], depthMax: number): boolean {
    const seen = new Set(starts);
    let level = [...seen];
    for (let depth = 0; depth < depthMax && level.length > 0; depth++) {
      const above: string[] = [];
      for (const commit of level) {
        const parents = this.#parentsOf(commit);
        if (parents === null) return false;
        const trees = parents.length === 0 ? [null] : parents.map((parent) => this.#treeOf(parent));
        if (!trees.every((tree) => this.#compare(tree, this.#treeOf(commit), ''))) return false;
        above.push(...parents.filter((parent) => !seen.has(parent)));
        for (const parent of parents) seen.add(parent);
      }
      level = above;
    }
    return true;
  }

  /** Adds the names of all files that differ. `before` is null for an empty tree; an id that cannot be read ends the search. */
  #compare(before: string | null | undefined, after: string | null | undefined, prefix: string): boolean {
    if (before === undefined || after === undefined) return false;
    if (before === after) return true;
    const [old, now] = [this.#entriesOf(before), this.#entriesOf(after)];
    if (old === null || now === null) return false;
    const names = [...new Set([...old.keys(), ...now.keys()])];
    return names.every((name) => this.#compareEntries(old.get(name), now.get(name), `${prefix}${name}`));
  }

  #compareEntries(before: TreeEntry | undefined, after: TreeEntry | undefined, path: string): boolean {
    const found = [before?.kind, after?.kind];
    if (before?.id === after?.id && found[0] === found[1]) return true;
    // Some settings show what changed in a submodule.
    if (found.includes('commit')) return false;
    if (found.includes('file')) this.#names.add(path);
    return this.#names.size <= NAMES_MAX && this.#compare(treeIn(before), treeIn(after), `${path}/`);
  }

  #entriesOf(id: string | null): ReadonlyMap<string, TreeEntry> | null {
    if (id === null) return new Map();
    const bytes = this.#bytesOf(id, 'tree');
    return bytes === null ? null : namedEntries(bytes);
  }

  #treeOf(commit: string): string | undefined {
    return /^tree ([0-9a-f]{40})\n/.exec(this.#bytesOf(commit, 'commit')?.toString('latin1') ?? '')?.[1];
  }

  #parentsOf(commit: string): readonly string[] | null {
    const text = this.#bytesOf(commit, 'commit')?.toString('latin1');
    if (text === undefined) return null;
    const [head = ''] = text.split('\n\n', 1);
    return [...head.matchAll(/^parent ([0-9a-f]{40})$/gm)].map(([, id = '']) => id);
  }

  #bytesOf(id: string, kind: 'commit' | 'tree'): Buffer | null {
    this.#left -= 1;
    const object = this.#left < 0 ? null : this.#objects.read(id);
    return object?.kind === kind ? object.bytes : null;
  }

  /** Reads `main`, `HEAD~2`, `v1^2` or the beginning of a name. Returns null for an object that is not a commit. */
  #commitOf(revision: string): string | null {
    const [, name = '', steps = ''] = /^(@|[A-Za-z0-9][\w./-]*)((?:~\d*|\^\d*)*)$/.exec(revision) ?? [];
    let commit = this.#named(name === '@' ? 'HEAD' : name);
    for (const [, sign, digits] of steps.matchAll(/([~^])(\d*)/g)) {
      commit = this.#ancestor(commit, sign === '~', digits === '' ? 1 : Number(digits));
    }
    return commit !== null && this.#bytesOf(commit, 'commit') !== null ? commit : null;
  }

  /** `~3` is the first parent, three times; `^3` is the third parent. */
  #ancestor(commit: string | null, isStep: boolean, count: number): string | null {
    const [steps, parent] = isStep ? [count, 0] : [Math.min(count, 1), count - 1];
    let found = commit;
    for (let step = steps; step > 0 && found !== null; step--) found = this.#parentsOf(found)?.[parent] ?? null;
    return found;
  }

  /** The places where git looks for a name. A name that is in several of them counts as unknown. */
  #named(name: string): string | null {
    if (name === '' || /\.\.|\/\/|\.lock$|[./]$/.test(name)) return null;
    if (fullName.test(name)) return name;
    const { own, common } = this.#folders;
    const refs = ['refs/', 'refs/tags/', 'refs/heads/', 'refs/remotes/'].map((start) => `${start}${name}`);
    const found = [
      ...(own === common ? [] : [this.#loose(join(own, name), LINKS_MAX)]),
      this.#loose(join(common, name), LINKS_MAX),
      ...[...refs, `refs/remotes/${name}/HEAD`].map((ref) => this.#ref(ref, LINKS_MAX)),
    ].filter((id) => id !== null);
    const distinct = name === 'HEAD' ? found.slice(0, 1) : [...new Set(found)];
    if (distinct.length > 1) return null;
    return distinct[0] ?? (/^[0-9a-f]{4,40}$/.test(name) ? this.#objects.complete(name) : null);
  }

  #ref(ref: string, left: number): string | null {
    const { own, common } = this.#folders;
    const loose = this.#loose(join(common, ref), left) ?? (own === common ? null : this.#loose(join(own, ref), left));
    if (loose !== null) return loose;
    const packed = readSmall(join(common, 'packed-refs'), REFS_BYTES_MAX) ?? '';
    return (
      packed
        .split('\n')
        .find((line) => line.slice(41) === ref)
        ?.slice(0, 40) ?? null
    );
  }

  #loose(file: string, left: number): string | null {
    const text = look(file)?.isFile() === true ? readSmall(file, REFS_BYTES_MAX)?.trim() : undefined;
    const target = /^ref: (refs\/\S+)$/.exec(text ?? '')?.[1];
    if (target !== undefined) return left === 0 ? null : this.#ref(target, left - 1);
    return text !== undefined && fullName.test(text) ? text : null;
  }
}

interface TreeEntry {
  readonly kind: 'tree' | 'file' | 'commit';
  readonly id: string;
}

const treeIn = (entry: TreeEntry | undefined): string | null => (entry?.kind === 'tree' ? entry.id : null);

function namedEntries(tree: Buffer): ReadonlyMap<string, TreeEntry> | null {
  try {
    return new Map(readTree(tree).map(({ mode, name, id }) => [name.toString('utf8'), { kind: kindOf(mode), id }]));
  } catch {
    // A damaged tree shows unknown names.
    return null;
  }
}

function kindOf(mode: string): TreeEntry['kind'] {
  return mode === '40000' ? 'tree' : mode === '160000' ? 'commit' : 'file';
}
