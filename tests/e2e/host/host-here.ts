// Runs the runtime and its door in the specs' own process: the same parts that `serve` assembles, without starting a program for each.
// Specs that stop, kill or restart the server use a separate process.

import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../../core/base/clock.ts';
import { silentLogger } from '../../../core/base/logger.ts';
import { createTrayClaw } from '../../../core/compose.ts';
import { InstanceDoor } from '../../../core/doors/http/http.ts';

const assetsFolder = fileURLToPath(new URL('../../../dist/renderer', import.meta.url));
const version = '0.0.0-specs';

export class HostHere {
  readonly url: string;
  readonly token: string;
  readonly #stop: () => Promise<void>;

  private constructor(url: string, token: string, stop: () => Promise<void>) {
    this.url = url;
    this.token = token;
    this.#stop = stop;
  }

  static async start(home: string, port: number): Promise<HostHere> {
    // The home folder of the person who runs the specs must not be read.
    process.env['HOME'] = home;
    const environment = { PATH: process.env['PATH'], HOME: home };
    const claw = await createTrayClaw({ home, version, logger: silentLogger, environment });
    const door = new InstanceDoor({
      home,
      claw,
      version,
      pid: process.pid,
      clock: systemClock,
      logger: silentLogger,
      assetsFolder,
      platform: process.platform,
      temporaryFolder: tmpdir(),
    });
    await door.open();
    const { url, token } = await door.serve(port);
    return new HostHere(url, token, async () => {
      await door.dispose();
      await claw.close();
    });
  }

  stop(): Promise<void> {
    return this.#stop();
  }
}
