// The built program as a person runs it: `dist/cli.js serve` with a separate folder and none of this shell's environment.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { compileCache } from '../../compile-cache.ts';

const program = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url));
const announcementSchema = z.object({ url: z.string(), token: z.string() });
const startWithinMs = 60_000;
const stopWithinMs = 8_000;

export class ServerProcess {
  readonly url: string;
  readonly token: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, announced: z.infer<typeof announcementSchema>) {
    this.#child = child;
    this.url = announced.url;
    this.token = announced.token;
  }

  /** Resolves once the window is served. Rejects with the program's output if it exits first. */
  static async start(home: string, port: number): Promise<ServerProcess> {
    // Without a bus and a display, the keychain of the person who runs the specs is never used.
    const env = { PATH: process.env['PATH'], HOME: home, TRAYCLAW_HOME: home, DBUS_SESSION_BUS_ADDRESS: 'disabled:', ...compileCache };
    const child = spawn(process.execPath, [program, 'serve', '--port', String(port)], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4000)));
    const timeUp = AbortSignal.timeout(startWithinMs);
    const lines = createInterface({ input: child.stdout });
    const ended = once(child, 'exit', { signal: timeUp }).then(([code]): never => {
      throw new Error(`serve ended with code ${String(code)}: ${said}`);
    });
    const [line] = (await Promise.race([once(lines, 'line', { signal: timeUp }), ended])) as [string];
    ended.catch(() => undefined);
    return new ServerProcess(child, announcementSchema.parse(JSON.parse(line)));
  }

  async stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill(signal);
    const late = setTimeout(() => this.#child.kill('SIGKILL'), stopWithinMs);
    await ended;
    clearTimeout(late);
  }
}
