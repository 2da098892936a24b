// Confines commands on macOS with the sandbox library, which writes a Seatbelt profile and starts sandbox-exec with it. The folders and
// protected places are the same as on Linux; fewer limits are available.

import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { libraryFolder, type NetworkSession } from './network-session.ts';
import {
  withoutStartUpFiles,
  type Availability,
  type LimitFact,
  type PreparedRun,
  type SandboxBackend,
  type SandboxJob,
} from './sandbox-backend.ts';
import { foldersWith, type SandboxPolicy } from './sandbox-policy.ts';

const SANDBOX_EXEC = '/usr/bin/sandbox-exec';

export interface MacBackendDeps {
  readonly network: NetworkSession;
  readonly limits: SandboxPolicy['limits'];
}

export class MacBackend implements SandboxBackend {
  readonly name = 'srt';
  readonly how = 'a Seatbelt profile (sandbox-exec)';
  readonly #deps: MacBackendDeps;

  constructor(deps: MacBackendDeps) {
    this.#deps = deps;
  }

  availability(): Promise<Availability> {
    const missing = existsSync(SANDBOX_EXEC) ? [] : [{ what: 'sandbox-exec', install: 'It is a part of macOS; repair the system.' }];
    return Promise.resolve({ missing });
  }

  seemsAvailable(): boolean {
    return existsSync(SANDBOX_EXEC);
  }

  limits(): readonly LimitFact[] {
    const { timeoutMs, processes, memoryMb, fileMb } = this.#deps.limits;
    const how = 'not held on macOS';
    return [
      { name: 'timeoutMs', value: timeoutMs, how, holds: false },
      { name: 'processes', value: processes, how, holds: false },
      { name: 'memoryMb', value: memoryMb, how, holds: false },
      { name: 'fileMb', value: fileMb, how: 'for each file, by ulimit', holds: true },
    ];
  }

  async prepare(job: SandboxJob): Promise<PreparedRun> {
    const { policy, temporaryFolder } = job;
    const home = join(temporaryFolder, 'home');
    mkdirSync(home, { mode: 0o700 });
    const places = [...job.protectedPlaces.places.values()];
    const hidden = [...foldersWith('hidden', policy), ...foldersWith('temporary', policy)];
    const write = foldersWith('write', policy);
    const secrets = places.filter(({ kind }) => kind === 'secret').map(({ path }) => path);
    const wrapped = await this.#deps.network.wrap(
      this.#line(job),
      {
        allowDomains: policy.allowDomains,
        filesystem: {
          denyRead: [...hidden, ...policy.hiddenFiles, ...secrets].map(literal),
          allowRead: [...write, ...foldersWith('read', policy), temporaryFolder, libraryFolder()].map(literal),
          allowWrite: [...write, temporaryFolder].map(literal),
          denyWrite: places.map(({ path }) => path).map(literal),
        },
      },
      job.signal,
    );
    const environment = { ...job.environment, ...job.marker, HOME: home, TMPDIR: temporaryFolder };
    const release = (): void => {
      wrapped.release();
    };
    return { file: '/bin/bash', args: [...withoutStartUpFiles, '-c', wrapped.line], environment, release };
  }

  async dispose(): Promise<void> {
    await this.#deps.network.dispose();
  }

  #line(job: SandboxJob): string {
    const quoted = [job.file, ...job.args].map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`);
    // bash counts the file size limit in blocks of 1024 bytes.
    return `export TMPDIR='${job.temporaryFolder}'; ulimit -c 0; ulimit -f ${this.#deps.limits.fileMb * 1024}; exec ${quoted.join(' ')}`;
  }
}

/** Keeps a path with special characters from being read as a pattern. */
function literal(path: string): string | { path: string; literal: true } {
  return /[*?[\]{}]/.test(path) ? { path, literal: true } : path;
}
