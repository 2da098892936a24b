// A tree of real files with the real log, content store and checkpoints, and calls whose writes the test defines. Fast: nothing waits for
// the disk unless a test passes in a file system that does.

import * as nodeFs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from './manual-clock.ts';
import { CountingIds } from './counting-ids.ts';
import { silentLogger } from '../../core/base/logger.ts';
import type { BeforeFile } from '../../core/contracts/checkpoints.ts';
import type { AnyDraft } from '../../core/contracts/events.ts';
import { ArtifactStore, artifactMigrations } from '../../core/store/artifact/artifact.ts';
import {
  CheckpointRows,
  Checkpoints,
  checkpointMigrations,
  type FileCalls,
  type ImageLimits,
  type RestoreReport,
  type UndoTarget,
} from '../../core/store/checkpoint/checkpoint.ts';
import { SessionLog, sessionMigrations } from '../../core/store/session/session.ts';
import { Storage } from '../../core/store/storage/storage.ts';

export const unsyncedFiles: typeof nodeFs = { ...nodeFs, fsyncSync: () => undefined };

/** An in-memory file system if available, because these tests create very many small files. */
function memoryFolder(): string {
  return nodeFs.existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
}

export interface UndoRigOptions {
  readonly fs?: FileCalls;
  readonly artifactFs?: typeof nodeFs;
  readonly limits?: Partial<ImageLimits>;
  readonly forbids?: (path: string) => string | null;
}

export interface RigCall {
  readonly callId: string;
  readonly turnId: string;
}

export class UndoRig {
  readonly root = nodeFs.realpathSync(nodeFs.mkdtempSync(join(memoryFolder(), 'trayclaw-undo-')));
  readonly clock = new ManualClock();
  readonly ids = new CountingIds();
  readonly storage: Storage;
  readonly log: SessionLog;
  readonly artifacts: ArtifactStore;
  readonly rows: CheckpointRows;
  readonly #options: UndoRigOptions;
  readonly #checkpoints: Checkpoints;
  isStopped = false;

  constructor(options: UndoRigOptions = {}) {
    this.#options = options;
    nodeFs.mkdirSync(this.tree);
    const migrations = [...sessionMigrations, ...artifactMigrations, ...checkpointMigrations];
    this.storage = Storage.open({ home: join(this.root, 'home'), migrations });
    this.storage.db.pragma('synchronous = OFF');
    this.rows = new CheckpointRows(this.storage.db);
    this.log = new SessionLog({ storage: this.storage, clock: this.clock, logger: silentLogger, projections: [this.rows] });
    this.log.append('ses_1', [{ type: 'session.created', body: { title: 'T', agentId: 'main', channel: 'cli', forkedFrom: null } }]);
    this.artifacts = this.#openArtifacts();
    this.#checkpoints = this.#open(options.fs ?? unsyncedFiles);
  }

  get tree(): string {
    return join(this.root, 'tree');
  }

  path(name: string): string {
    return join(this.tree, name);
  }

  /** Checkpoints over another file system, or as after a restart: the state that a failing one kept in memory is lost. */
  checkpoints(fs?: FileCalls): Checkpoints {
    return fs === undefined ? this.#checkpoints : this.#open(fs);
  }

  append(turnId: string, drafts: readonly AnyDraft[]): void {
    this.log.append(
      'ses_1',
      drafts.map((draft) => ({ ...draft, turnId })),
    );
  }

  /** Performs a call as the runtime does: takes a checkpoint, records it, runs the effect, compares, records the result. */
  async call(turnId: string, names: readonly string[], effect: () => void): Promise<RigCall> {
    const call = { callId: this.ids.next('call'), turnId };
    const taken = await this.begin(call, names);
    effect();
    await this.close(call, taken);
    return call;
  }

  async begin({ callId, turnId }: RigCall, names: readonly string[]): Promise<BeforeFile[]> {
    const files = await this.checkpoints().take(names.map((name) => this.path(name)));
    this.append(turnId, [{ type: 'checkpoint.taken', body: { callId, files } }]);
    return files;
  }

  async close({ callId, turnId }: RigCall, taken: readonly BeforeFile[]): Promise<void> {
    const files = await this.checkpoints().after(taken);
    this.append(turnId, [{ type: 'checkpoint.closed', body: { callId, files } }]);
  }

  async undo(target: UndoTarget, options: { keepGoing?: boolean; force?: boolean; fs?: FileCalls } = {}): Promise<RestoreReport> {
    const checkpoints = this.checkpoints(options.fs);
    const found = checkpoints.find(target);
    const turnId = found[0]?.turnId ?? 'trn_none';
    const callIds = found.map(({ callId }) => callId);
    return checkpoints.restore(
      target,
      { keepGoing: options.keepGoing === true, force: options.force === true },
      {
        begin: (taken) => {
          const restoreId = this.ids.next('call');
          this.append(turnId, [{ type: 'checkpoint.taken', body: { callId: restoreId, files: [...taken], undoes: callIds } }]);
          return restoreId;
        },
        end: ({ restoreId, left, restored, refused }) => {
          const files = restored.map((path) => ({ path }));
          const body = { restoreId, callIds, files, refused: [...refused], by: 'test' };
          if (restoreId !== null) this.append(turnId, [{ type: 'checkpoint.closed', body: { callId: restoreId, files: [...left] } }]);
          this.append(turnId, [{ type: 'checkpoint.restored', body }]);
        },
      },
    );
  }

  /** Every path of the tree with its mode and content. */
  snapshot(): Record<string, string> {
    const seen: Record<string, string> = {};
    const walk = (folder: string): void => {
      for (const name of nodeFs.readdirSync(folder).sort()) {
        const path = join(folder, name);
        const stat = nodeFs.lstatSync(path);
        const mode = (stat.mode & 0o7777).toString(8);
        const key = path.slice(this.tree.length + 1);
        if (stat.isSymbolicLink()) seen[key] = `link ${nodeFs.readlinkSync(path)}`;
        else if (stat.isDirectory()) seen[`${key}/`] = mode;
        else seen[key] = `${mode} ${nodeFs.readFileSync(path, 'base64')}`;
        if (stat.isDirectory()) walk(path);
      }
    };
    walk(this.tree);
    return seen;
  }

  dispose(): void {
    this.storage.dispose();
    nodeFs.rmSync(this.root, { recursive: true, force: true });
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  #open(fs: FileCalls): Checkpoints {
    return new Checkpoints({
      db: this.storage.db,
      rows: this.rows,
      store: this.artifacts,
      clock: this.clock,
      forbids: this.#options.forbids ?? (() => null),
      undoDays: 30,
      isStopped: () => this.isStopped,
      fs,
      ...(this.#options.limits === undefined ? {} : { limits: this.#options.limits }),
    });
  }

  #openArtifacts(): ArtifactStore {
    const folder = join(this.root, 'home', 'artifacts');
    return new ArtifactStore({ db: this.storage.db, folder, clock: this.clock, fs: this.#options.artifactFs ?? unsyncedFiles });
  }
}
