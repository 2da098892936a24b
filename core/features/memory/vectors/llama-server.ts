// Serves the person's GGUF file with llama-server. The server starts on first use, on a free loopback port, with a key that only this
// program knows, and ends with the program. Knows nothing about vectors.

import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { get } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { settlesWithin, sleep } from '../../../base/waits.ts';
import type { Clock } from '../../../base/clock.ts';
import { AppError } from '../../../contracts/errors.ts';

export interface LlamaServerDeps {
  readonly program: string;
  readonly file: string;
  readonly clock: Clock;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Environment variables that mark the process, so that the panic stop, or the next start after a crash, can find it. */
  readonly marker: Readonly<Record<string, string>>;
}

const READY_WITHIN_MS = 60_000;
const HEALTH_WITHIN_MS = 2_000;
const ASKED_EVERY_MS = 100;
const ENDS_WITHIN_MS = 3_000;
/** The variables a program needs to find its libraries. They contain no key of the person. */
const passed = ['PATH', 'HOME', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'SystemRoot', 'TEMP', 'TMP', 'TMPDIR'] as const;

interface Running {
  readonly child: ChildProcess;
  readonly baseUrl: string;
}

export class LlamaServer {
  readonly #deps: LlamaServerDeps;
  readonly #key = randomBytes(24).toString('hex');
  #running: Promise<Running> | null = null;
  #child: ChildProcess | null = null;

  constructor(deps: LlamaServerDeps) {
    this.#deps = deps;
  }

  /**
   * Returns the address and the key of the server. Fails with model_unavailable if the server cannot be started; the next call tries again.
   */
  async address(signal: AbortSignal): Promise<{ baseUrl: string; key: string }> {
    const starting = (this.#running ??= this.#start(signal));
    try {
      const { child, baseUrl } = await starting;
      if (child.exitCode === null && child.signalCode === null) return { baseUrl, key: this.#key };
    } catch (cause) {
      if (this.#running === starting) this.#running = null;
      throw cause;
    }
    this.#running = null;
    throw new AppError('model_unavailable', 'llama-server exited unexpectedly.', { isRetryable: true });
  }

  async dispose(): Promise<void> {
    const child = this.#child;
    this.#running = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill('SIGTERM');
    await settlesWithin(gone, ENDS_WITHIN_MS);
    child.kill('SIGKILL');
  }

  async #start(signal: AbortSignal): Promise<Running> {
    const { program, file, environment, marker } = this.#deps;
    const port = await freePort();
    const env = Object.fromEntries(passed.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])));
    const args = ['--model', file, '--embedding', '--host', '127.0.0.1', '--port', String(port), '--no-webui'];
    const child = spawn(program, args, { env: { ...env, ...marker, LLAMA_API_KEY: this.#key }, stdio: 'ignore', windowsHide: true });
    this.#child = child;
    const origin = `http://127.0.0.1:${port}`;
    const failed = new Promise<never>((_, reject) => {
      const fail = (cause?: unknown): void =>
        reject(
          new AppError('model_unavailable', `${program} could not be started for ${file}.`, {
            cause,
            hint: 'Check embeddings.program and embeddings.file in config.yaml; llama-server comes with llama.cpp.',
          }),
        );
      child.once('error', fail);
      child.once('exit', () => fail());
    });
    const over = new AbortController();
    const ready = this.#untilReady(origin, AbortSignal.any([signal, over.signal]));
    try {
      await Promise.race([failed, ready]);
    } catch (cause) {
      child.kill('SIGKILL');
      // Stops the readiness checks.
      over.abort();
      await ready.catch(() => undefined);
      throw cause;
    }
    return { child, baseUrl: `${origin}/v1` };
  }

  async #untilReady(origin: string, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    const untilMs = clock.monotonicMs() + READY_WITHIN_MS;
    while (clock.monotonicMs() < untilMs) {
      if (signal.aborted) throw new AppError('cancelled', 'Starting llama-server was stopped.');
      if (await isHealthy(origin, signal)) return;
      await sleep(ASKED_EVERY_MS, signal);
    }
    throw new AppError('model_timeout', 'llama-server did not become ready within a minute.', { isRetryable: true });
  }
}

/**
 * Opens one connection and closes it afterwards. False if the server does not listen yet or is too busy to answer; the caller asks again.
 */
function isHealthy(origin: string, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(`${origin}/health`, { agent: false, signal, timeout: HEALTH_WITHIN_MS }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.once('timeout', () => request.destroy(new Error('it did not answer in time')));
    request.once('error', () => resolve(false));
  });
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await once(probe.close(), 'close');
  return port;
}
