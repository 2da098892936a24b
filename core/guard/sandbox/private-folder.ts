// The private folder of this instance for its confined runs: created when first needed and removed at the end. The folder of a killed
// instance is removed by the next instance. Follows no link.

import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { leftFolders } from '../../store/home/home.ts';

const PREFIX = 'trayclaw-sandbox-';

export class PrivateFolder {
  readonly #parent: string;
  #path: string | null = null;
  #runs = 0;

  constructor(parent: string) {
    this.#parent = parent;
  }

  get path(): string {
    if (this.#path === null) {
      sweep(this.#parent);
      this.#path = realpathSync(mkdtempSync(join(this.#parent, `${PREFIX}${process.pid}-`)));
    }
    return this.#path;
  }

  /** Creates an empty folder for one run. */
  createRun(): string {
    const path = join(this.path, `run-${++this.#runs}`);
    mkdirSync(path, { mode: 0o700 });
    return path;
  }

  remove(): void {
    if (this.#path !== null) removeFolder(this.#path);
    this.#path = null;
  }
}

/** Removes the folder even if folders in it were closed by their mode. */
export function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && (cause.code === 'EACCES' || cause.code === 'EPERM'))) throw cause;
    openFolders(folder);
    rmSync(folder, { recursive: true, force: true });
  }
}

function openFolders(top: string): void {
  const waiting = [top];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    chmodSync(folder, 0o700);
    for (const entry of readdirSync(folder, { withFileTypes: true })) if (entry.isDirectory()) waiting.push(join(folder, entry.name));
  }
}

/** Removes folders of this user whose process has ended. */
function sweep(parent: string): void {
  for (const folder of leftFolders(parent, PREFIX)) removeFolder(folder);
}
