// Plans an undo, and finds reasons to refuse it: combines the writes of one or more calls to a path into one change, and compares it with
// the current state. Pure; reads no files.

import type { FileImage } from '../../contracts/checkpoints.ts';
import { AppError } from '../../contracts/errors.ts';
import type { Checkpoint } from './checkpoint-rows.ts';
import type { Glance } from './file-look.ts';

/** Everything that some calls did to one path, as one change. */
export interface PathChange {
  readonly path: string;
  readonly before: FileImage;
  /** The state after the last call; null if the program ended during it. */
  readonly after: FileImage | null;
  /** True if the file changed between two of the calls, so another program wrote it. */
  readonly isBroken: boolean;
  /** Log positions of the first and the last call. */
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** The position of the last write for every path that the calls wrote or created on the way. */
  readonly lastSeqs: ReadonlyMap<string, number>;
}

interface Write extends Omit<PathChange, 'lastSeqs'> {
  readonly callId: string;
  /** True for a parent folder that was created for a file and not requested. */
  readonly isOnTheWay: boolean;
}

/** Expects the calls in the order they ran. */
export function composeChanges(checkpoints: readonly Checkpoint[]): PathChange[] {
  const changes = new Map<string, Write>();
  for (const checkpoint of checkpoints.filter((one) => !isCutOffUndo(one, checkpoints))) {
    for (const write of writesOf(checkpoint)) {
      const known = changes.get(write.path);
      changes.set(write.path, known === undefined ? write : join(known, write));
    }
  }
  const named = Array.from(changes.values()).filter(({ isOnTheWay }) => !isOnTheWay);
  const lastSeqs = new Map(Array.from(changes.values(), ({ path, lastSeq }) => [path, lastSeq]));
  return named.map((change) => ({ ...change, lastSeqs }));
}

/**
 * Each file is replaced as a whole, so an undo that the program did not finish left each one as it found it or as it was before the calls.
 * Both are states of these calls, and a later undo of them needs no others.
 */
function isCutOffUndo({ closed, undoes }: Checkpoint, checkpoints: readonly Checkpoint[]): boolean {
  return !closed && checkpoints.some(({ callId }) => undoes.includes(callId));
}

function writesOf({ seq, callId, files, made }: Checkpoint): Write[] {
  const common = { isBroken: false, firstSeq: seq, lastSeq: seq, callId };
  const named = files.map(({ path, before, after }): Write => ({ ...common, path, before, after, isOnTheWay: false }));
  const onTheWay = made.filter(({ path }) => !files.some((file) => file.path === path));
  return [...onTheWay.map(({ path, mode }) => ({ ...common, ...folderMade(path, mode), isOnTheWay: true })), ...named];
}

function folderMade(path: string, mode: number): Pick<Write, 'path' | 'before' | 'after'> {
  return { path, before: { kind: 'absent' }, after: { kind: 'folder', mode } };
}

function join(first: Write, second: Write): Write {
  const joined = {
    ...second,
    firstSeq: first.firstSeq,
    before: first.before,
    isBroken: first.isBroken,
    isOnTheWay: first.isOnTheWay && second.isOnTheWay,
  };
  if (first.after === null && first.callId === second.callId) {
    // The call ran again after a crash. Its second before-state is its first before-state or its own write; otherwise another program
    // changed the file.
    const own = sameImage(second.before, first.before) || (second.after !== null && sameImage(second.before, second.after));
    return own ? joined : second;
  }
  // Created parent folders come and go with their content.
  const isUnbroken = first.isOnTheWay || second.isOnTheWay || (first.after !== null && sameImage(first.after, second.before));
  return { ...joined, isBroken: joined.isBroken || !isUnbroken };
}

/** Never true for unknown states. */
export function sameImage(one: FileImage, other: FileImage): boolean {
  switch (one.kind) {
    case 'absent':
      return other.kind === 'absent';
    case 'file':
      return other.kind === 'file' && one.sha256 === other.sha256 && one.mode === other.mode;
    case 'link':
      return other.kind === 'link' && one.target === other.target;
    case 'folder':
      return other.kind === 'folder' && one.mode === other.mode;
    case 'unknown':
      return false;
  }
}

/** The current state of a path. */
export interface PathNow {
  readonly glance: Glance;
  readonly image: FileImage;
}

export interface Circumstances {
  readonly hasCopy: boolean;
  /** The later call whose state is on disk now. */
  readonly rewrittenBy: string | null;
  /** Why a later call must be undone first. */
  readonly heldBy: string | null;
  /** True to include files that were changed since. */
  readonly force: boolean;
}

export type Verdict = { readonly kind: 'restore' } | { readonly kind: 'already' } | { readonly kind: 'refuse'; readonly reason: string };

const restore: Verdict = { kind: 'restore' };
const already: Verdict = { kind: 'already' };
const refuse = (reason: string): Verdict => ({ kind: 'refuse', reason });

/** Decides whether a change may be undone. The reasons are whole sentences. */
export function judge(change: PathChange, now: PathNow, circumstances: Circumstances): Verdict {
  const { before } = change;
  if (before.kind === 'unknown') return refuse(`No copy of it was kept: ${before.reason}.`);
  if (sameImage(now.image, before)) return already;
  if (before.kind === 'file' && !circumstances.hasCopy) return refuse('The copy of it is no longer kept.');
  const misfit = findMisfit(before, change.after, now);
  if (misfit !== null) return refuse(misfit);
  return circumstances.force ? restore : judgeSince(change, now, circumstances);
}

function judgeSince({ after, isBroken }: PathChange, now: PathNow, { rewrittenBy, heldBy }: Circumstances): Verdict {
  if (after === null)
    return refuse('The program ended while it was being changed, so what was left there is not known; it is not what was there before.');
  if (after.kind === 'unknown') return refuse(`What was left there is not known, because ${after.reason}.`);
  if (!sameImage(now.image, after))
    return refuse(rewrittenBy === null ? describeSince(after, now.image) : `It was changed again by ${rewrittenBy}; undo that first.`);
  if (isBroken) return refuse('Something else changed it between these calls, and undoing them all would lose that.');
  return heldBy === null ? restore : refuse(heldBy);
}

function describeSince(after: FileImage, now: FileImage): string {
  if (now.kind === 'absent') return 'It was removed since.';
  if (after.kind === 'absent') return 'Something was put there since.';
  if (after.kind === 'file' && now.kind === 'file' && after.sha256 === now.sha256) return 'Its permissions were changed since.';
  return 'It was changed since.';
}

/** Refused even with force: replacing an entry of another kind, or a file with further hard links. */
function findMisfit(before: FileImage, after: FileImage | null, { glance, image }: PathNow): string | null {
  if (glance.kind === 'other') return 'It is a pipe, a socket or a device now.';
  if (glance.kind === 'file' && glance.links > 1)
    return 'It has further names elsewhere (hard links) now, which would keep what is in it or lose it.';
  if (glance.kind === 'link' && !sameImageKind(image, before) && !sameImageKind(image, after)) return 'It is a symbolic link now.';
  if (glance.kind === 'folder' && before.kind !== 'folder' && after?.kind !== 'folder') return 'It is a folder now.';
  if (before.kind === 'folder' && glance.kind !== 'folder' && glance.kind !== 'absent') return 'It was a folder and is not one now.';
  return null;
}

function sameImageKind(one: FileImage, other: FileImage | null): boolean {
  return other !== null && one.kind === other.kind;
}

const NAMED_MAX = 5;

/** The change of one file. Fails with not_found, and names those that were changed. */
export function changeAt(changes: readonly PathChange[], path: string): PathChange {
  const change = changes.find((one) => one.path === path);
  if (change !== undefined) return change;
  const paths = changes.slice(0, NAMED_MAX).map((one) => one.path);
  const more = changes.length > NAMED_MAX ? ' and others' : '';
  const hint = `These were changed: ${paths.join(', ')}${more}.`;
  throw new AppError('not_found', `${path} is not among the files that were changed.`, { hint });
}
