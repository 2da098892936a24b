// One command of the command line in the process of the test: the parser, runtime, doors and output of the program, without a start of
// Node. Real streams, signals and the end of the process are not here; tests of those start the program.

import { tmpdir } from 'node:os';
import { systemClock } from '../../core/base/clock.ts';
import { sleep } from '../../core/base/waits.ts';
import { silentLogger } from '../../core/base/logger.ts';
import { createTrayClaw } from '../../core/compose.ts';
import { runCli, type CliParts } from '../../core/doors/cli/cli.ts';
import { findInstance, InstanceDoor } from '../../core/doors/http/http.ts';
import { restoreBackup } from '../../core/store/storage/storage.ts';
import { findService } from '../../main/service/find-service.ts';
import { FakeClaw } from '../doubles/fake-claw.ts';
import { FakeTerminal, fakeParts, type Ran } from '../doubles/fake-terminal.ts';
import { cliFile } from '../program-file.ts';

const version = '0.0.0-here';

interface CommandPlace {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** The person's home folder. */
  readonly userFolder: string;
  readonly stdin: string;
}

/** Runs one command line, without the program's own name. */
export async function runHere(args: readonly string[], { env, cwd, userFolder, stdin }: CommandPlace): Promise<Ran> {
  const terminal = new FakeTerminal({ stdin });
  const code = await runCli(args, { ...terminal.io, env, cwd, userFolder, platform: process.platform }, partsHere(env, userFolder));
  return { code, out: terminal.out, err: terminal.err };
}

function partsHere(env: CommandPlace['env'], userFolder: string): CliParts {
  const own = { version, logger: silentLogger };
  return fakeParts(new FakeClaw(), {
    version,
    pid: process.pid,
    clock: systemClock,
    pause: (ms) => sleep(ms),
    hostClaw: ({ ignoresConfig = false, ...options }) =>
      createTrayClaw({ ...options, ...own, environment: env, ...(ignoresConfig ? { config: {} } : {}) }),
    findInstance,
    openDoors: async ({ home, claw }) => {
      const door = new InstanceDoor({
        ...own,
        home,
        claw,
        platform: process.platform,
        pid: process.pid,
        clock: systemClock,
        assetsFolder: '',
        temporaryFolder: tmpdir(),
      });
      await door.open();
      return door;
    },
    restoreBackup: ({ home, file }) => Promise.resolve(restoreBackup(home, file, systemClock.nowMs())),
    findService: ({ home, port }) => {
      const who = { platform: process.platform, env, userFolder, userId: process.getuid?.() ?? 0 };
      return Promise.resolve(findService({ ...who, home, port, command: [process.execPath, cliFile] }));
    },
  });
}
