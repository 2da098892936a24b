// A terminal for tests of the command line: captured output, typed input and interrupts, with a fake Claw.

import { PassThrough, Writable } from 'node:stream';
import { ManualClock } from './manual-clock.ts';
import { AppError } from '../../core/contracts/errors.ts';
import { runCli, type CliIo, type CliParts, type FoundInstance, type HostedRuntime, type OwnDoors } from '../../core/doors/cli/cli.ts';

export interface TerminalOptions {
  readonly isTty?: boolean;
  /** Shows the output in colours, without a person at the input. */
  readonly hasColour?: boolean;
  /** Sends every key, as a real terminal does. */
  readonly isRaw?: boolean;
  readonly cwd?: string;
  readonly isService?: boolean;
  readonly stdin?: string;
  readonly env?: Record<string, string>;
}

export class FakeTerminal {
  out = '';
  err = '';
  readonly stdin = new PassThrough();
  readonly #listeners = new Set<() => void>();
  readonly #watchers = new Set<() => void>();
  readonly #closed = new AbortController();
  readonly io: CliIo;

  constructor(options: TerminalOptions = {}) {
    const isTty = options.isTty === true;
    if (options.stdin !== undefined) this.stdin.end(options.stdin);
    if (options.isRaw === true) Object.assign(this.stdin, { setRawMode: () => this.stdin });
    this.io = {
      stdin: this.stdin,
      stdout: this.#sink((text) => (this.out += text)),
      stderr: this.#sink((text) => (this.err += text)),
      stdinIsTty: isTty,
      stdoutIsTty: isTty || options.hasColour === true,
      stderrIsTty: isTty,
      stdoutIsServiceLog: options.isService === true,
      env: { NO_COLOR: options.hasColour === true ? '' : '1', ...options.env },
      cwd: options.cwd ?? '/work-folder',
      platform: 'linux',
      userFolder: '/home/person',
      onInterrupt: (listener) => {
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
      },
      gone: this.#closed.signal,
    };
  }

  /** The person closes the terminal. */
  close(): void {
    this.#closed.abort();
    this.interrupt();
  }

  interrupt(): void {
    for (const listener of Array.from(this.#listeners)) listener();
  }

  /** Resolves once one of these texts has been printed. */
  async sees(...texts: readonly string[]): Promise<void> {
    while (!texts.some((text) => this.out.includes(text) || this.err.includes(text)))
      await new Promise<void>((resolve) => this.#watchers.add(resolve));
  }

  type(line: string): void {
    this.stdin.write(line + '\n');
  }

  press(keys: string): void {
    this.stdin.write(keys);
  }

  #sink(take: (text: string) => void): Writable {
    return new Writable({
      decodeStrings: false,
      write: (chunk: string | Buffer, _encoding, done) => {
        take(String(chunk));
        for (const watcher of Array.from(this.#watchers)) watcher();
        this.#watchers.clear();
        done();
      },
    });
  }
}

export class FakeDoors implements OwnDoors {
  openRequests = 0;
  askedAgoMs = Infinity;
  isDisposed = false;
  port: number | undefined;

  whenIdle(): Promise<void> {
    this.openRequests = 0;
    return Promise.resolve();
  }

  serve(port?: number): Promise<{ url: string; token: string }> {
    this.port = port;
    return Promise.resolve({ url: `http://127.0.0.1:${port ?? 4000}`, token: 'tok' });
  }

  dispose(): Promise<void> {
    this.isDisposed = true;
    return Promise.resolve();
  }
}

export interface FakeParts extends CliParts {
  readonly doors: FakeDoors;
  readonly hosted: { home: string; resume: boolean }[];
}

export function fakeParts(claw: HostedRuntime, changes: Partial<CliParts> = {}): FakeParts {
  const clock = new ManualClock();
  const doors = new FakeDoors();
  const hosted: { home: string; resume: boolean }[] = [];
  return {
    version: '1.0.0',
    pid: 77,
    clock,
    doors,
    hosted,
    pause: (ms) => Promise.resolve(clock.advance(ms)),
    hostClaw: (options) => {
      hosted.push(options);
      return Promise.resolve(claw);
    },
    findInstance: () => Promise.resolve(null),
    endOwner: () => Promise.resolve(null),
    openDoors: () => Promise.resolve(doors),
    restoreBackup: ({ file }) => Promise.resolve({ from: file, kept: null }),
    openWindow: () => Promise.resolve('an app window'),
    runDesktop: () => Promise.resolve({ kind: 'missing', why: 'Electron is not installed' }),
    serveMcp: () => Promise.resolve(),
    findService: () => Promise.reject(new AppError('not_found', 'There is no service manager.')),
    ...changes,
  };
}

export function foundInstance(claw: HostedRuntime, record: Partial<FoundInstance['record']> = {}): FoundInstance {
  return { claw, record: { pid: 9, token: 'other', version: '1.0.0', ...record } };
}

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export async function runCommand(argv: readonly string[], parts: CliParts, options: TerminalOptions = {}): Promise<Ran> {
  const terminal = new FakeTerminal({ stdin: '', ...options });
  const code = await runCli(argv, terminal.io, parts);
  return { code, out: terminal.out, err: terminal.err };
}

/** Runs the command line for a person at a terminal; `finish` resolves to the exit code. */
export function atTerminal(
  claw: HostedRuntime,
  argv: readonly string[],
  options: TerminalOptions = {},
): { terminal: FakeTerminal; finish: Promise<number> } {
  const terminal = new FakeTerminal({ isTty: true, ...options });
  return { terminal, finish: runCli(argv, terminal.io, fakeParts(claw)) };
}
