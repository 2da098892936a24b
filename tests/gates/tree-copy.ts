// A copy of the project in a temporary folder, from which one gate at a time is removed. The project itself is never changed.

import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Gate } from './gate.ts';

export class TreeCopy {
  readonly path: string;

  /** Copies the files that git tracks or would add, as they are in the project's folder. */
  constructor(root: string) {
    this.path = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-gates-')));
    const listed = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' });
    if (listed.status !== 0) throw new Error(`git could not list the project's files: ${listed.stderr}`);
    for (const file of listed.stdout.split('\0')) {
      if (file === '' || file === 'node_modules' || !existsSync(join(root, file))) continue;
      mkdirSync(dirname(join(this.path, file)), { recursive: true });
      copyFileSync(join(root, file), join(this.path, file));
    }
    symlinkSync(realpathSync(join(root, 'node_modules')), join(this.path, 'node_modules'));
  }

  /** Runs the work without the gate and restores the gate afterwards. */
  async without<T>(gate: Gate, work: () => Promise<T>): Promise<T> {
    const path = join(this.path, gate.file);
    const source = readFileSync(path, 'utf8');
    writeFileSync(path, withoutGate(gate, source));
    try {
      return await work();
    } finally {
      writeFileSync(path, source);
    }
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Throws if the text does not occur exactly once, because the wrong text might be changed. */
export function withoutGate({ name, file, text, instead }: Gate, source: string): string {
  const parts = source.split(text);
  if (parts.length !== 2) throw new Error(`${name}: its text occurs ${parts.length - 1} times in ${file}`);
  return parts.join(instead);
}
