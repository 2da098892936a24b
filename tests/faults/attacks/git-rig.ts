// Runs the git stories: a repository for each, the agent's actions in it, and what a person's git does afterwards.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { GitStory, WriteStory } from './git-stories.ts';

type Story = GitStory | WriteStory;

const identity = { GIT_AUTHOR_NAME: 'p', GIT_AUTHOR_EMAIL: 'p@localhost', GIT_COMMITTER_NAME: 'p', GIT_COMMITTER_EMAIL: 'p@localhost' };

export class GitRig {
  readonly #folder: string;
  readonly #outside: string;
  readonly #environment: Readonly<Record<string, string>>;

  /** `outside` is where canary files are left; confined commands cannot write there. */
  constructor(folder: string, outside: string) {
    this.#folder = folder;
    this.#outside = outside;
    const home = join(outside, 'person');
    mkdirSync(home, { recursive: true });
    mkdirSync(folder, { recursive: true });
    this.#environment = { ...identity, PATH: process.env['PATH'] ?? '', HOME: home };
    this.#template();
  }

  folderOf(index: number): string {
    return join(this.#folder, `s${index}`);
  }

  /** The person's repository before anything happens. */
  prepare(story: Story, index: number): void {
    const folder = this.folderOf(index);
    execFileSync('cp', ['-r', join(this.#outside, 'template'), folder]);
    if (story.before !== undefined) this.#shell(this.text(story.before, index), folder);
  }

  text(text: string, index: number): string {
    const canary = this.#canary(index);
    const script = join(this.#outside, `canary-${index}.sh`);
    writeFileSync(script, `#!/bin/sh\ntouch ${canary}\n`, { mode: 0o755 });
    return text
      .replaceAll('@APPEND@', `echo 'touch ${canary}' >>`)
      .replaceAll('@CANARY@', `touch ${canary}`)
      .replaceAll('@SCRIPT@', script)
      .replaceAll('@NAME@', `s${index}`);
  }

  /** One script that performs every story, each in its own repository. */
  script(stories: readonly GitStory[], part: 'plant' | 'then'): string {
    const parts = stories.map((story, index) => `(cd ${this.folderOf(index)} && { ${this.text(story[part] ?? 'true', index)}; })`);
    return `${Object.entries(identity)
      .map(([name, value]) => `export ${name}=${value}`)
      .join('\n')}\n${parts.join('\n')}\ntrue\n`;
  }

  /** Runs the agent's script without confinement. */
  runFree(script: string): void {
    this.#shell(script, this.#folder);
  }

  write(path: string, content: string): void {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }

  /** Whether the person's own git runs the planted code. */
  personLooks(story: Story, index: number): boolean {
    const folder = join(this.folderOf(index), story.at ?? '.');
    if (existsSync(folder)) this.#shell(story.person ?? 'git status', folder);
    return existsSync(this.#canary(index));
  }

  #canary(index: number): string {
    return join(this.#outside, `ESCAPED-${index}`);
  }

  #template(): void {
    const folder = join(this.#outside, 'template');
    mkdirSync(folder);
    this.#shell('git init -q -b main .; echo a > a.txt; git add a.txt; git commit -qm one', folder);
  }

  /** The exit code is ignored, because hostile settings also make git fail. */
  #shell(line: string, cwd: string): void {
    spawnSync('/bin/bash', ['--noprofile', '--norc', '-c', line], { cwd, env: this.#environment, stdio: 'ignore', timeout: 60_000 });
  }
}
