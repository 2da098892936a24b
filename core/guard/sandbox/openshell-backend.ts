// Runs commands with the openshell program if a person has set it up: in a container with a copy of the workspace. Changes in the copy are
// not copied back, which the result says. Written after OpenShell's documentation and tested with a fake of its command line; it has not
// been run with OpenShell itself.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join, posix, relative } from 'node:path';
import { isInside } from '../../base/inside-folder.ts';
import { AppError } from '../../contracts/errors.ts';
import { containerWorkspace, openShellPolicy } from './openshell-policy.ts';
import { findProgram } from '../../store/home/home.ts';
import type { Availability, LimitFact, PreparedRun, SandboxBackend, SandboxJob } from './sandbox-backend.ts';
import type { SandboxPolicy } from './sandbox-policy.ts';

export interface OpenShellDeps {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly limits: SandboxPolicy['limits'];
  /** Real path. */
  readonly workspace: string;
}

const install = 'Install OpenShell (https://docs.nvidia.com/openshell), start its gateway, and have openshell on the PATH.';
const remark = 'it ran in OpenShell on a copy of the workspace: what it changed there did not come back';

export class OpenShellBackend implements SandboxBackend {
  readonly name = 'openshell';
  readonly how = "OpenShell's container, on a copy of the workspace";
  readonly #deps: OpenShellDeps;

  constructor(deps: OpenShellDeps) {
    this.#deps = deps;
  }

  availability(): Promise<Availability> {
    return Promise.resolve({ missing: this.#program() === null ? [{ what: 'openshell', install }] : [] });
  }

  seemsAvailable(): boolean {
    return this.#program() !== null;
  }

  limits(): readonly LimitFact[] {
    const { timeoutMs, processes, memoryMb, fileMb } = this.#deps.limits;
    const how = "not held: only OpenShell's own limits are";
    const others = { processes, memoryMb, fileMb };
    return [
      { name: 'timeoutMs', value: timeoutMs, ...this.#timeLimit() },
      ...Object.entries(others).map(([name, value]) => ({ name: name as keyof typeof others, value, how, holds: false })),
    ];
  }

  prepare(job: SandboxJob): Promise<PreparedRun> {
    const program = this.#program();
    if (program === null) throw new AppError('sandbox_unavailable', 'openshell is no longer there.', { hint: install });
    const { workspace = this.#deps.workspace } = job;
    if (!isInside(job.cwd, workspace))
      throw new AppError('sandbox_unavailable', `OpenShell gets a copy of the workspace only, and ${job.cwd} is not in it.`);
    const policyFile = join(job.temporaryFolder, 'openshell', 'policy.yaml');
    mkdirSync(join(job.temporaryFolder, 'openshell'), { mode: 0o700 });
    writeFileSync(policyFile, openShellPolicy(job.policy), { mode: 0o600 });
    const cwd = posix.join(containerWorkspace, ...relative(workspace, job.cwd).split('/'));
    // Paths of this machine have no meaning in the container.
    const passed = Object.entries(job.environment).filter(
      ([name]) => !['PATH', 'HOME', 'SHELL', 'USER', 'LOGNAME', 'TMPDIR'].includes(name),
    );
    const create = ['sandbox', 'create', '--no-keep', '--no-tty', '--policy', policyFile, '--upload', `${workspace}:${containerWorkspace}`];
    const start = ['--', '/bin/sh', '-c', 'cd "$0" && exec "$@"', cwd, job.file, ...job.args];
    const args = [...create, ...passed.flatMap(([name, value]) => ['--env', `${name}=${value}`]), ...start];
    const timeout = findProgram('timeout', this.#deps.environment['PATH']);
    const line =
      timeout === null
        ? [program, ...args]
        : [timeout, '--foreground', '-s', 'KILL', String(this.#deps.limits.timeoutMs / 1000), program, ...args];
    const [file = program, ...rest] = line;
    // The program reads its gateway's address and sign-in from the person's home folder.
    const environment = { PATH: this.#deps.environment['PATH'] ?? '', HOME: this.#deps.environment['HOME'] ?? '', ...job.marker };
    return Promise.resolve({ file, args: rest, environment, remark, release: () => undefined });
  }

  dispose(): Promise<void> {
    return Promise.resolve();
  }

  #timeLimit(): Pick<LimitFact, 'how' | 'holds'> {
    const holds = findProgram('timeout', this.#deps.environment['PATH']) !== null;
    return { holds, how: holds ? 'timeout ends it' : 'not held: timeout is missing' };
  }

  #program(): string | null {
    return findProgram('openshell', this.#deps.environment['PATH']);
  }
}
