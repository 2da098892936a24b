// Checkpoints: the state of a path before a call writes it, and its restore. Owns the rows of images, the checks and the restore. Requests
// no approvals and appends no events: the turn runtime records checkpoints, and the operation records restores.

import type { AfterFile, BeforeFile, FileDiff, FileImage, RefusedFile, ReviewedFile } from '../../contracts/checkpoints.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../contracts/errors.ts';
import type { SqlDatabase } from '../storage/storage.ts';
import { BeforeImages, defaultImageLimits, type ImageLimits, type ImageStore } from './before-images.ts';
import type { Checkpoint, CheckpointRows } from './checkpoint-rows.ts';
import { fileFailure, realFileCalls, whyItFailed, type FileCalls } from './file-calls.ts';
import { changeOf, describeDiff, diffBytesMax, textOf, type DiffSide } from './file-diff.ts';
import { ImageContents } from './image-contents.ts';
import { FileLook, notSeen } from './file-look.ts';
import { CallHistory } from './call-history.ts';
import { undoHunksOfFile } from './hunk-undo.ts';
import { RestoreFiles } from './restore-files.ts';
import { versionOf, withFolders, type Judged } from './judged-change.ts';
import { composeChanges, changeAt, judge, sameImage, type PathChange, type PathNow } from './restore-plan.ts';

export type { ImageLimits, ImageStore } from './before-images.ts';
export { CheckpointRows, checkpointMigrations, type Checkpoint } from './checkpoint-rows.ts';
export type { FileCalls } from './file-calls.ts';
export { changeOf } from './file-diff.ts';

export interface CheckpointsOptions {
  readonly db: SqlDatabase;
  readonly rows: CheckpointRows;
  /** For content too large for the database. */
  readonly store: ImageStore;
  readonly clock: Clock;
  /** Returns why a path must never be restored, as a sentence, or null. */
  readonly forbids: (path: string) => string | null;
  /** How long images are kept. */
  readonly undoDays: number;
  readonly isStopped: () => boolean;
  readonly fs?: FileCalls;
  readonly limits?: Partial<ImageLimits>;
}

export type UndoTarget =
  | { readonly callId: string }
  | { readonly turnId: string }
  /** Everything since a position in the log, for a session and the sessions of its subagents. */
  | { readonly sessionIds: readonly string[]; readonly fromSeq: number };

/** A part of a target: one of its files, or some hunks of that file. */
export interface UndoPart {
  readonly path: string;
  /** Hunk indexes in the order of the diff, counted from 0, and the version of that diff. */
  readonly hunks?: { readonly indexes: readonly number[]; readonly version: string } | undefined;
}

/** Records a restore before and after it runs. */
export interface RestoreJournal {
  /** Durable on return. Returns the id of the undo. */
  begin(taken: readonly BeforeFile[]): string;
  end(done: {
    readonly restoreId: string | null;
    readonly left: readonly AfterFile[];
    readonly restored: readonly string[];
    readonly refused: readonly RefusedFile[];
  }): void;
}

export interface RestoreReport {
  readonly restoreId: string | null;
  readonly restored: readonly string[];
  readonly refused: readonly RefusedFile[];
  readonly unchanged: readonly string[];
}

const DAY_MS = 86_400_000;
/** The limit for all diffs of one review together. */
const reviewCharsMax = 2_000_000;
const absent: DiffSide = { image: { kind: 'absent' }, content: null };

export class Checkpoints {
  readonly #rows: CheckpointRows;
  readonly #store: ImageContents;
  readonly #options: CheckpointsOptions;
  readonly #fs: FileCalls;
  readonly #look: FileLook;
  readonly #images: BeforeImages;
  readonly #history: CallHistory;
  #isRestoring = false;

  constructor(options: CheckpointsOptions) {
    this.#options = options;
    this.#store = new ImageContents(options.db, options.store, () => options.clock.nowMs());
    this.#rows = options.rows;
    this.#fs = options.fs ?? realFileCalls;
    this.#look = new FileLook(this.#fs);
    this.#history = new CallHistory(this.#rows, this.#look);
    this.#images = new BeforeImages(this.#look, this.#store, { ...defaultImageLimits, ...options.limits });
  }

  /** Records the state of the paths, and of links among the `named`; synchronously for small files. Fails like `BeforeImages.take`. */
  take(paths: readonly string[], signal?: AbortSignal, named: readonly string[] = []): BeforeFile[] | Promise<BeforeFile[]> {
    return this.#images.take([...paths, ...this.#look.linksAmong(named)], true, signal);
  }

  /** Returns the state after the call. Never fails. */
  after(taken: readonly BeforeFile[], signal?: AbortSignal): AfterFile[] | Promise<AfterFile[]> {
    return this.#images.after(taken, true, signal);
  }

  /** Newest first. */
  list(query: { readonly sessionId?: string | undefined; readonly turnId?: string | undefined; readonly limit: number }): Checkpoint[] {
    return this.#rows.newest(query);
  }

  ofCall(callId: string): Checkpoint[] {
    return this.#rows.ofCall(callId);
  }

  /** Returns the checkpoints an undo would revert, in the order they were taken. Fails with `not_found`. */
  find(target: UndoTarget): Checkpoint[] {
    const found = this.#rowsOf(target);
    if (found.some(({ files }) => files.length > 0)) return found;
    const what = nameOf(target);
    throw new AppError('not_found', `There is nothing to undo: no file was kept for ${what}.`, {
      hint: 'Only files that TrayClaw knew would be written are kept. See: trayclaw undo',
    });
  }

  /** Previews `restore`. */
  async preview(target: UndoTarget, force: boolean): Promise<(FileDiff & { readonly refused: string | null })[]> {
    const judged = await this.#judgeAll(this.find(target), target, force);
    return judged.map(({ change, image, verdict }) => ({
      ...describeDiff(change.path, this.#sideNow(change.path, image), this.#sideKept(change.before)),
      refused: verdict.kind === 'refuse' ? verdict.reason : null,
    }));
  }

  /** Returns the changes of a call, as far as both sides are still available. */
  async diff(callId: string): Promise<FileDiff[]> {
    const diffs: FileDiff[] = [];
    for (const change of composeChanges(this.find({ callId }))) diffs.push(await this.#describe(change));
    return diffs.filter(({ change }) => change !== 'none');
  }

  /** Returns every file that the target changed. Several changes of one file are combined, and undone changes are left out. */
  async review(target: UndoTarget): Promise<ReviewedFile[]> {
    const changes = composeChanges(this.#rowsOf(target)).filter(({ before, after }) => changeOf(before, after) !== 'none');
    const files: ReviewedFile[] = [];
    let chars = 0;
    for (const change of changes) {
      const file = await this.#describe(change);
      const { verdict } = await this.#judgeOne(change, target, false);
      chars += file.diff?.length ?? 0;
      const isLeftOut = chars > reviewCharsMax;
      files.push({
        ...file,
        ...(isLeftOut ? { diff: null, note: 'There are too many changes to show all of them here.' } : {}),
        version: versionOf(change),
        refused: verdict.kind === 'refuse' ? verdict.reason : null,
      });
    }
    return files;
  }

  /** Returns the diff between the current file and a text that is not yet written. */
  diffTo(path: string, after: string | Uint8Array): FileDiff {
    const glance = this.#look.glance(path);
    const content = typeof after === 'string' ? Buffer.from(after) : after;
    const from =
      glance.kind === 'file' && glance.sizeBytes <= diffBytesMax ? this.#sideNow(path, this.#look.imageNow(path, glance)) : absent;
    const mode = from.image.kind === 'file' ? from.image.mode : 0o644;
    return describeDiff(path, from, { image: { kind: 'file', sha256: '', sizeBytes: content.length, mode }, content });
  }

  /**
   * Restores files, all or none unless `keepGoing`. First records the replaced state through the journal, so that the restore can be
   * undone. Fails with `not_found`, `conflict` (another restore is running), `panic_engaged`, `store_*` or `tool_failed`; nothing is
   * changed then.
   */
  async restore(
    target: UndoTarget,
    options: { readonly keepGoing: boolean; readonly force: boolean; readonly part?: UndoPart | undefined },
    journal: RestoreJournal,
  ): Promise<RestoreReport> {
    this.#assertRunning();
    if (this.#isRestoring) throw new AppError('conflict', 'Another undo is under way; try again when it is over.');
    this.#isRestoring = true;
    try {
      const checkpoints = this.find(target);
      const judged =
        options.part === undefined
          ? await this.#judgeAll(checkpoints, target, options.force)
          : [await this.#judgePart(checkpoints, target, options.part, options.force)];
      return await this.#carryOut(judged, options.keepGoing, checkpoints, journal);
    } finally {
      this.#isRestoring = false;
    }
  }

  /** Returns whether content is still needed to undo something. */
  needs(sha256: string, nowMs: number): boolean {
    return this.#rows.isLive(sha256, nowMs - this.#options.undoDays * DAY_MS);
  }

  /** Releases content in the database that is older than the undo period. The content store calls `needs`. */
  releaseOld(nowMs: number): void {
    this.#store.release(nowMs - this.#options.undoDays * DAY_MS, (sha256) => this.needs(sha256, nowMs));
  }

  async #carryOut(
    judged: readonly Judged[],
    keepGoing: boolean,
    checkpoints: readonly Checkpoint[],
    journal: RestoreJournal,
  ): Promise<RestoreReport> {
    const refused = judged.flatMap(({ change, verdict }) =>
      verdict.kind === 'refuse' ? [{ path: change.path, reason: verdict.reason }] : [],
    );
    const already = judged.filter(({ verdict }) => verdict.kind === 'already');
    const unchanged = already.map(({ change }) => change.path);
    const work = judged.filter(({ verdict }) => verdict.kind === 'restore');
    if (refused.length > 0 && (work.length === 0 || !keepGoing)) {
      journal.end({ restoreId: null, left: [], restored: [], refused });
      return { restoreId: null, restored: [], refused, unchanged };
    }
    const files = this.#openRestore(checkpoints);
    const gone = [...work, ...already].filter(({ change }) => change.before.kind === 'absent').map(({ change }) => change.path);
    if (work.length === 0) {
      files.tidy(gone);
      if (refused.length === 0) await this.#closeCutOff(checkpoints, journal, unchanged);
      return { restoreId: null, restored: [], refused, unchanged };
    }
    const { restoreId, restored, failed } = await this.#replace(work, files, { journal, refused, gone });
    return { restoreId, restored, refused: [...refused, ...failed], unchanged };
  }

  /** Nothing is left to do for the undos that the program did not finish, so their ends are recorded. */
  async #closeCutOff(checkpoints: readonly Checkpoint[], journal: RestoreJournal, restored: readonly string[]): Promise<void> {
    for (const { callId, files } of this.#rows.cutOff(checkpoints, restored))
      journal.end({ restoreId: callId, left: await this.#images.after(files, false), restored, refused: [] });
  }

  async #replace(
    work: readonly Judged[],
    files: RestoreFiles,
    { journal, refused, gone }: { journal: RestoreJournal; refused: readonly RefusedFile[]; gone: readonly string[] },
  ): Promise<{ restoreId: string; restored: string[]; failed: RefusedFile[] }> {
    const paths = work.map(({ change }) => change.path);
    const taken = (await this.#images.take(paths, false)).map((file) => this.#history.withMade(file, work));
    this.#assertSame(work, taken);
    this.#assertRunning();
    const restoreId = journal.begin(taken);
    const end = async (failed: readonly RefusedFile[]): Promise<string[]> => {
      const restored = paths.filter((path) => !failed.some((failure) => failure.path === path));
      journal.end({ restoreId, left: await this.#images.after(taken, false), restored, refused: [...refused, ...failed] });
      return restored;
    };
    let failed: RefusedFile[];
    try {
      failed = await files.run(
        work.map(({ change, glance }) => ({ path: change.path, before: change.before, now: glance })),
        gone,
      );
    } catch (cause) {
      // Nothing was changed. The journal records this as well.
      await end(paths.map((path) => ({ path, reason: whyItFailed(cause) })));
      throw cause;
    }
    return { restoreId, restored: await end(failed), failed };
  }

  #openRestore(checkpoints: readonly Checkpoint[]): RestoreFiles {
    return new RestoreFiles(
      {
        fs: this.#fs,
        look: this.#look,
        store: this.#store,
        isStopped: this.#options.isStopped,
        isLeftover: this.#history.leftovers(checkpoints),
      },
      (checkpoints[0]?.callId ?? '').replace(/[^A-Za-z0-9_-]/g, '').slice(-40),
    );
  }

  async #judgeAll(checkpoints: readonly Checkpoint[], target: UndoTarget, force: boolean): Promise<Judged[]> {
    const judged: Judged[] = [];
    for (const change of composeChanges(checkpoints)) judged.push(await this.#judgeOne(change, target, force));
    return withFolders(judged, { namesIn: (folder) => this.#look.names(folder), isLeftover: this.#history.leftovers(checkpoints) });
  }

  async #judgePart(checkpoints: readonly Checkpoint[], target: UndoTarget, { path, hunks }: UndoPart, force: boolean): Promise<Judged> {
    const change = changeAt(composeChanges(checkpoints), path);
    return hunks === undefined ? this.#judgeOne(change, target, force) : this.#judgeHunks(change, target, hunks);
  }

  /** The restored content is the file without these hunks, provided that every line they touch is still as the change left it. */
  async #judgeHunks(change: PathChange, target: UndoTarget, { indexes, version }: NonNullable<UndoPart['hunks']>): Promise<Judged> {
    const { path } = change;
    if (version !== versionOf(change)) {
      throw new AppError('conflict', `The changes of ${path} differ from those that were shown; nothing was put back. Review them again.`);
    }
    const judged = await this.#judgeOne(change, target, true);
    if (judged.verdict.kind !== 'restore' || judged.image.kind !== 'file') return judged;
    const sides = [
      this.#sideKept(change.before),
      await this.#sideLeft(path, change.after ?? change.before),
      this.#sideNow(path, judged.image),
    ];
    const [before = null, after = null, now = null] = sides.map((side) => (side.content === null ? null : textOf(side)));
    const undone = undoHunksOfFile({ before, after, now }, indexes);
    if (undone.kind === 'refuse') return { ...judged, verdict: undone };
    const kept = this.#store.keep(undone.bytes);
    return { ...judged, change: { ...change, before: { kind: 'file', ...kept, mode: judged.image.mode } }, verdict: { kind: 'restore' } };
  }

  #rowsOf(target: UndoTarget): Checkpoint[] {
    if ('callId' in target) return this.#rows.ofCall(target.callId);
    return 'turnId' in target ? this.#rows.ofTurn(target.turnId) : this.#rows.ofSessions(target.sessionIds, target.fromSeq);
  }

  async #describe({ path, before, after }: PathChange): Promise<FileDiff> {
    const left: FileImage = after ?? { kind: 'unknown', reason: 'the program ended while it was being changed' };
    return describeDiff(path, this.#sideKept(before), await this.#sideLeft(path, left));
  }

  async #judgeOne(change: PathChange, target: UndoTarget, force: boolean): Promise<Judged> {
    const { path, before } = change;
    const unseen = (reason: string): Judged => ({
      change,
      glance: notSeen,
      image: { kind: 'unknown', reason: 'it was not checked' },
      verdict: { kind: 'refuse', reason },
    });
    try {
      const forbidden = this.#whyForbidden(path);
      if (forbidden !== null) return unseen(forbidden);
      const glance = this.#look.glance(path);
      const image = await this.#look.image(path);
      const later = this.#rows.laterWrite(path, change.lastSeq);
      const verdict = judge(change, { glance, image } satisfies PathNow, {
        hasCopy: before.kind === 'file' && this.#store.has(before.sha256),
        heldBy: force ? null : await this.#history.heldBy(change, image, 'callId' in target),
        rewrittenBy: later !== null && later.after !== null && sameImage(later.after, image) ? later.callId : null,
        force,
      });
      return { change, glance, image, verdict };
    } catch (cause) {
      return unseen(`It cannot be read, because ${whyItFailed(cause)}.`);
    }
  }

  #whyForbidden(path: string): string | null {
    const real = this.#look.leadsElsewhere(path);
    return real === null ? this.#options.forbids(path) : `Its folder leads elsewhere now, to ${real}.`;
  }

  /** The recorded state must equal the state that was checked. */
  #assertSame(work: readonly Judged[], taken: readonly BeforeFile[]): void {
    for (const { change, image } of work) {
      const now = taken.find(({ path }) => path === change.path)?.before;
      if (now === undefined || now.kind === 'unknown')
        throw new AppError('conflict', `The current content of ${change.path} cannot be kept, so this undo could not be undone.`);
      if (!sameImage(now, image)) throw new AppError('conflict', `${change.path} was changed just now; nothing was put back. Try again.`);
    }
  }

  #assertRunning(): void {
    if (this.#options.isStopped()) throw new AppError('panic_engaged', 'Nothing can be undone while everything is stopped.');
  }

  #sideNow(path: string, image: FileImage): DiffSide {
    if (image.kind !== 'file' || image.sizeBytes > diffBytesMax) return { image, content: null };
    try {
      return { image, content: this.#look.read(path) };
    } catch (cause) {
      throw fileFailure(cause, `read ${path}`);
    }
  }

  #sideKept(image: FileImage): DiffSide {
    const isAtHand = image.kind === 'file' && image.sizeBytes <= diffBytesMax && this.#store.has(image.sha256);
    return { image, content: isAtHand ? this.#store.read(image.sha256) : null };
  }

  /** The state a call left is available while it is still on disk, or if it was recorded before a later change. */
  async #sideLeft(path: string, image: FileImage): Promise<DiffSide> {
    const kept = this.#sideKept(image);
    if (kept.content !== null || image.kind !== 'file' || image.sizeBytes > diffBytesMax) return kept;
    try {
      const now = await this.#look.image(path);
      return now.kind === 'file' && now.sha256 === image.sha256 ? { image, content: this.#look.read(path) } : kept;
    } catch {
      return kept;
    }
  }
}

function nameOf(target: UndoTarget): string {
  if ('callId' in target) return `call ${target.callId}`;
  return 'turnId' in target ? `turn ${target.turnId}` : `session ${target.sessionIds[0] ?? ''}`;
}
