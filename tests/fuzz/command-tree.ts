// A throwaway workspace full of traps, with secrets that must never be shown and a snapshot that must never change.

import { execFileSync } from 'node:child_process';
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export const canary = 'CANARY-7f3a91';
export const trap = '#!/bin/sh\ntouch PWNED\n';

export class CommandTree {
  readonly root: string;
  readonly home: string;
  readonly workspace: string;

  constructor() {
    this.root = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-commands-')));
    this.home = join(this.root, 'home');
    this.workspace = join(this.home, 'workspace');
    mkdirSync(this.workspace, { recursive: true });
    this.#plant();
    this.#links();
    this.#repository();
  }

  write(path: string, text: string, mode = 0o644): void {
    const file = join(this.workspace, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    chmodSync(file, mode);
  }

  git(...args: readonly string[]): void {
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', '-c', 'init.defaultBranch=main', ...args], {
      cwd: this.workspace,
      stdio: 'ignore',
      env: { PATH: process.env['PATH'] ?? '', HOME: this.root, GIT_CONFIG_NOSYSTEM: '1' },
    });
  }

  /** Names, sizes, times and modes of everything outside .git/objects. Leaves out the root itself, where programs write their own files. */
  picture(): string {
    return [...this.entries().values()].join('\n');
  }

  /** The same by path. */
  entries(): ReadonlyMap<string, string> {
    const lines = new Map<string, string>();
    const visit = (folder: string): void => {
      for (const name of readdirSync(folder).sort()) {
        const path = join(folder, name);
        const stat = lstatSync(path, { bigint: true });
        lines.set(path, `${path} ${stat.mode} ${stat.size} ${stat.isDirectory() ? stat.ctimeNs : stat.mtimeNs} ${stat.ino}`);
        if (stat.isDirectory() && name !== 'objects') visit(path);
      }
    };
    for (const folder of [this.home, join(this.root, 'outside')]) visit(folder);
    return lines;
  }

  dispose(): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  #plant(): void {
    mkdirSync(join(this.root, 'outside'));
    writeFileSync(join(this.root, 'outside', 'secret.txt'), `${canary} outside TODO x name\n`);
    for (const path of ['.env', 'sub/.env', 'deep/a/b/.env', 'excepted/.env', '.ssh/id_rsa', 'deep/.aws/credentials', '.npmrc.d/.netrc']) {
      this.write(path, `${canary} ${path} TODO x name\n`);
    }
    this.write('README.md', '# TODO\nname > x\n$(x) a && b\n');
    this.write('notes.txt', "日本語 it's CANARY of another kind\n");
    this.write('one.txt', 'name\n../../outside/secret.txt\n.env\n');
    this.write('big.txt', 'b\na\nname\n'.repeat(2000));
    this.write('package.json', '{"name":"x","scripts":{"test":"true","build":"true"}}\n');
    this.write('src/a.ts', 'export const name = 1; // TODO foo bar\n');
    this.write('src/b.ts', 'x\n');
    this.write('my folder/x.txt', 'x\n');
    this.write('a;b', 'x\n');
    this.write('sub/plain.txt', 'x TODO\n');
    this.write('excepted/.ignore', '!.env\n');
    this.write('Makefile', 'all:\n\t@true\n');
    for (const path of ['evil.sh', 'evil.js', 'bin/ls', 'bin/git', 'git']) this.write(path, trap, 0o755);
  }

  #links(): void {
    symlinkSync('../../outside', join(this.workspace, 'link-out'));
    symlinkSync('../../outside/secret.txt', join(this.workspace, 'link-secret'));
    symlinkSync('..', join(this.workspace, 'src', 'link-up'));
    symlinkSync('../.env', join(this.workspace, 'sub', 'link-env'));
  }

  #repository(): void {
    this.write('.gitignore', '.env\n.ssh\n.aws\n.netrc\nevilrepo\n');
    this.git('init', '-q');
    this.git('add', 'README.md', 'src/a.ts', 'package.json', '.gitignore', 'notes.txt');
    this.git('commit', '-qm', 'first');
    this.#removedKey();
    this.git('init', '-q', 'evilrepo');
    this.write('evilrepo/.git/config', '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = "touch PWNED;false"\n\tpager = touch PWNED\n');
  }

  /** The past of the repository holds a key, on both sides of ordinary commits. */
  #removedKey(): void {
    this.git('add', '-f', 'sub/.env');
    this.git('commit', '-qm', 'key');
    this.git('rm', '-q', '--cached', 'sub/.env');
    this.git('commit', '-qm', 'no key');
    this.git('add', 'src/b.ts');
    this.git('commit', '-qm', 'last');
  }
}
