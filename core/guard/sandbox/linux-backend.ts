// Confines commands on Linux: bubblewrap for files, processes, capabilities and system calls, prlimit for limits, and the sandbox library's
// proxy if the command may reach a domain.

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../contracts/errors.ts';
import { bubblewrapArguments, shieldArguments } from './bubblewrap-line.ts';
import type { NetworkSession } from './network-session.ts';
import { findProgram } from '../../store/home/home.ts';
import {
  type Availability,
  type LimitFact,
  type MissingProgram,
  type PreparedRun,
  type SandboxBackend,
  type SandboxJob,
  type ShieldedStart,
  type ShieldJob,
  withoutStartUpFiles,
} from './sandbox-backend.ts';
import { accessOf, temporaryPlace, type SandboxPolicy } from './sandbox-policy.ts';
import { createSyscallFilter } from './syscall-filter.ts';

export interface LinuxBackendDeps {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly network: NetworkSession;
  readonly limits: SandboxPolicy['limits'];
  readonly allowDomains: readonly string[];
  /** True if this process runs as root. */
  readonly isRoot: boolean;
  /** In the format of os.release(). */
  readonly kernel: string;
  readonly machine: NodeJS.Architecture;
}

/** Capabilities with which root could see hidden files. */
const uncovering = ['sys_admin', 'sys_ptrace', 'sys_module', 'dac_read_search'];
const FILTER_DESCRIPTOR = 9;
/**
 * A probe takes milliseconds, or seconds on a busy machine. A timeout that is too short would leave commands unconfined until the next
 * start.
 */
const PROBE_TIMEOUT_MS = 30_000;
/** The kernel reserves this many process ids. */
const PROCESSES_MIN_AS_ROOT = 301;
const MEGABYTE = 1_048_576;
/** The port of the proxy in the network of a confined command. */
const NETWORK_PORT = 3128;
/** $0 is socat, $1 is the proxy's socket, and the other arguments are the command. */
const bridgeScript = [
  'socket=$1; shift',
  `"$0" TCP4-LISTEN:${NETWORK_PORT},bind=127.0.0.1,fork,backlog=256 UNIX-CONNECT:"$socket" </dev/null >/dev/null 2>&1 &`,
  `for _ in {1..300}; do (: </dev/tcp/127.0.0.1/${NETWORK_PORT}) 2>/dev/null && break; sleep 0.01; done`,
  '"$@"; code=$?; kill %1; exit $code',
].join('\n');

/**
 * Opens the filter and closes all that this program was started with: the descriptor of a folder would lead out. Only bash can name one
 * of two digits.
 */
const opensFilter = `exec ${FILTER_DESCRIPTOR}<"$0"
for at in /proc/self/fd/*; do
  at="\${at##*/}"
  case "$at" in
    [0-2] | ${FILTER_DESCRIPTOR}) ;;
    [0-9]) eval "exec $at<&-" ;;
    *) [ -z "$BASH_VERSION" ] || eval "exec $at<&-" ;;
  esac
done
exec "$@"`;

export class LinuxBackend implements SandboxBackend {
  readonly name = 'srt';
  readonly how = 'bubblewrap with a system call filter';
  readonly #deps: LinuxBackendDeps;
  #checked: Promise<Availability> | null = null;
  #hasFailed = false;

  constructor(deps: LinuxBackendDeps) {
    this.#deps = deps;
  }

  /** Checked once, because kernel features do not change between two commands. Missing programs are looked up again. */
  async availability(): Promise<Availability> {
    this.#checked ??= this.#check();
    const found = await this.#checked;
    if (found.missing.length > 0) this.#checked = null;
    this.#hasFailed = found.missing.length > 0;
    return found;
  }

  seemsAvailable(): boolean {
    return !this.#hasFailed && this.#needed().every(({ program }) => this.#find(program) !== null);
  }

  #needed(): readonly { readonly program: string; readonly of: string }[] {
    const always = [{ program: 'bwrap', of: 'bubblewrap' }];
    if (this.#deps.allowDomains.length === 0) return always;
    return [...always, { program: 'socat', of: 'socat' }, { program: 'rg', of: 'ripgrep' }, { program: 'bash', of: 'bash' }];
  }

  limits(): readonly LimitFact[] {
    const { timeoutMs, processes, memoryMb, fileMb } = this.#deps.limits;
    const hasPrlimit = this.#find('prlimit') !== null;
    const held = (how: string): Pick<LimitFact, 'how' | 'holds'> =>
      hasPrlimit ? { how, holds: true } : { how: 'not held: prlimit (util-linux) is missing', holds: false };
    const hasTimeout = this.#find('timeout') !== null;
    return [
      { name: 'timeoutMs', value: timeoutMs, holds: hasTimeout, how: hasTimeout ? 'timeout ends it' : 'not held: timeout is missing' },
      { name: 'processes', value: this.#processes(), ...this.#processLimit(processes, held('for the run, by prlimit')) },
      { name: 'memoryMb', value: memoryMb, ...held('for each process, by prlimit') },
      { name: 'fileMb', value: fileMb, ...held('for each file, by prlimit') },
    ];
  }

  async prepare(job: SandboxJob): Promise<PreparedRun> {
    const { allowDomains } = job.policy;
    const home = join(job.temporaryFolder, 'home');
    mkdirSync(home, { mode: 0o700 });
    const inside = accessOf(temporaryPlace, job.policy) === 'temporary' ? temporaryPlace : job.temporaryFolder;
    const environment = { ...job.environment, ...job.marker, HOME: join(inside, 'home'), TMPDIR: inside };
    const outer = { PATH: this.#deps.environment['PATH'] ?? '/usr/bin:/bin', ...job.marker };
    if (allowDomains.length === 0)
      return { ...this.#limitProcesses(this.#confine(job, environment, false)), environment: outer, release: () => undefined };
    const proxy = await this.#deps.network.openProxy(allowDomains, NETWORK_PORT);
    const line = this.#confine(job, { ...environment, ...proxy.environment }, true);
    const bridged = this.#bridge(line, proxy.socket);
    return { ...this.#limitProcesses(bridged), environment: outer, release: proxy.release };
  }

  shield(job: ShieldJob): ShieldedStart | null {
    const file = this.#find('bwrap');
    return file === null ? null : { file, args: [...shieldArguments(job), ...this.#withoutUncovering(), job.file, ...job.args] };
  }

  /**
   * Root runs without a user namespace here and could undo the hiding, so it loses these capabilities. Other users are in a user namespace
   * without capabilities.
   */
  #withoutUncovering(): string[] {
    const setpriv = this.#deps.isRoot ? this.#find('setpriv') : null;
    return setpriv === null ? [] : [setpriv, `--bounding-set=${uncovering.map((name) => `-${name}`).join(',')}`, '--'];
  }

  async dispose(): Promise<void> {
    await this.#deps.network.dispose();
  }

  #confine(job: SandboxJob, environment: Readonly<Record<string, string>>, keepsNetwork: boolean): string[] {
    const bubblewrap = this.#find('bwrap');
    if (bubblewrap === null) throw new AppError('sandbox_unavailable', 'bubblewrap (bwrap) is no longer there.');
    const options = bubblewrapArguments({
      policy: job.policy,
      places: [...job.protectedPlaces.places.values()],
      cwd: job.cwd,
      temporaryFolder: job.temporaryFolder,
      instanceFolder: job.instanceFolder,
      environment,
      keepsNetwork,
      filterDescriptor: FILTER_DESCRIPTOR,
    });
    const bash = this.#find('bash');
    return [
      ...(bash === null ? ['/bin/sh'] : [bash, ...withoutStartUpFiles]),
      '-c',
      opensFilter,
      this.#filterFile(job.instanceFolder),
      bubblewrap,
      ...options,
      ...this.#limitEach(),
      job.file,
      ...job.args,
    ];
  }

  /**
   * Wraps the command in a separate network whose only way out is a port that leads to the proxy's socket. This is a separate layer,
   * because the process that forwards the data needs local sockets, which the command must not have. The layer mounts no /proc and creates
   * no process namespace: the kernel refuses to mount a /proc inside a partly covered one, and the inner layer finds its own processes in
   * this one.
   */
  #bridge(line: readonly string[], socket: string): string[] {
    const bubblewrap = this.#find('bwrap') ?? 'bwrap';
    const socat = this.#find('socat') ?? 'socat';
    // The inner layer drops this capability again. Without it, root cannot create a user namespace there (user_namespaces(7)).
    const keeps = this.#deps.isRoot ? ['--cap-drop', 'ALL', '--cap-add', 'CAP_SETFCAP'] : [];
    const own = ['--unshare-user', '--unshare-net', '--die-with-parent', ...keeps, '--dev-bind', '/', '/', '--'];
    return [bubblewrap, ...own, '/bin/bash', ...withoutStartUpFiles, '-c', bridgeScript, socat, socket, ...line];
  }

  /** The limits of each process, and the timeout. */
  #limitEach(): string[] {
    const { timeoutMs, memoryMb, fileMb, processes } = this.#deps.limits;
    const prlimit = this.#find('prlimit');
    const timeout = this.#find('timeout');
    const sizes = ['--core=0', `--data=${memoryMb * MEGABYTE}`, `--fsize=${fileMb * MEGABYTE}`];
    // Counted within the run's own user namespace. The limit does not apply to root.
    if (!this.#deps.isRoot) sizes.push(`--nproc=${processes}`);
    return [
      ...(prlimit === null ? [] : [prlimit, ...sizes]),
      ...(timeout === null ? [] : [timeout, '--foreground', '-s', 'KILL', String(timeoutMs / 1000)]),
    ];
  }

  /** The process limit does not apply to root, so root's run gets a process namespace with a limited number of ids. */
  #limitProcesses(line: readonly string[]): { file: string; args: readonly string[] } {
    const unshare = this.#deps.isRoot && hasOwnNumbers(this.#deps.kernel) ? this.#find('unshare') : null;
    const [file = '/bin/sh', ...args] = line;
    if (unshare === null) return { file, args };
    const sets = `echo ${this.#processes()} > /proc/sys/kernel/pid_max && exec "$@"`;
    const space = ['--user', '--map-root-user', '--pid', '--fork', '--mount-proc', '--kill-child=KILL', '--'];
    return { file: unshare, args: [...space, '/bin/sh', '-c', sets, 'sh', ...line] };
  }

  #processes(): number {
    const { isRoot, limits } = this.#deps;
    return isRoot ? Math.max(PROCESSES_MIN_AS_ROOT, limits.processes) : limits.processes;
  }

  #processLimit(wanted: number, asUser: Pick<LimitFact, 'how' | 'holds'>): Pick<LimitFact, 'how' | 'holds'> {
    if (!this.#deps.isRoot) return asUser;
    if (!hasOwnNumbers(this.#deps.kernel)) return { holds: false, how: 'not held: for root it needs Linux 6.14' };
    if (this.#find('unshare') === null) return { holds: false, how: 'not held: unshare (util-linux) is missing' };
    return {
      holds: true,
      how: `for the run, by its process number space${wanted < PROCESSES_MIN_AS_ROOT ? ', which has at least 301' : ''}`,
    };
  }

  #filterFile(instanceFolder: string): string {
    const file = join(instanceFolder, 'syscall-filter');
    if (existsSync(file)) return file;
    const filter = createSyscallFilter(this.#deps.machine);
    if (filter === null) throw new AppError('sandbox_unavailable', `There is no system call filter for ${this.#deps.machine}.`);
    writeFileSync(file, filter, { mode: 0o400 });
    return file;
  }

  async #check(): Promise<Availability> {
    const missing: MissingProgram[] = [];
    const { machine } = this.#deps;
    if (createSyscallFilter(machine) === null)
      missing.push({ what: `a system call filter for ${machine}`, install: 'Use an x64 or arm64 machine.' });
    for (const { program, of } of this.#needed()) if (this.#find(program) === null) missing.push(describeMissing(program, of));
    const bubblewrap = this.#find('bwrap');
    if (missing.length > 0 || bubblewrap === null) return { missing };
    const refusal = await probe(bubblewrap);
    return { missing: refusal === null ? [] : [refusal] };
  }

  #find(program: string): string | null {
    return findProgram(program, this.#deps.environment['PATH']);
  }
}

function describeMissing(program: string, of: string): MissingProgram {
  const what = program === of ? of : `${of} (${program})`;
  return { what, install: `Install it: sudo apt install ${of}, sudo dnf install ${of} or sudo pacman -S ${of}.` };
}

/** Probes bubblewrap, because a kernel may refuse user namespaces to programs that are not on its list. */
function probe(bubblewrap: string): Promise<MissingProgram | null> {
  const args = ['--unshare-all', '--die-with-parent', '--ro-bind', '/', '/', '--proc', '/proc', '--', '/bin/true'];
  return new Promise((resolve) => {
    execFile(bubblewrap, args, { timeout: PROBE_TIMEOUT_MS }, (failure, _stdout, stderr) => {
      if (failure === null) resolve(null);
      else
        resolve({
          what: `leave to make a user namespace (${stderr.trim().split('\n')[0]?.slice(0, 200) ?? 'bwrap failed'})`,
          install:
            'Allow it: on Ubuntu an AppArmor profile for bwrap or sysctl kernel.apparmor_restrict_unprivileged_userns=0; in a container, privileges for it.',
        });
    });
  });
}

/** Since Linux 6.14, kernel.pid_max belongs to a process namespace. Before, writing it would change the whole machine. */
function hasOwnNumbers(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split('.').map(Number);
  return major > 6 || (major === 6 && minor >= 14);
}
