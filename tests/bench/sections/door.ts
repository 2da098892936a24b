// The time the door for programs adds to a turn: the same message to the same agent through the door and in this process, alternating. The
// time of a request that does nothing is subtracted, because it is the client's own time.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { systemClock } from '../../../core/base/clock.ts';
import { silentLogger } from '../../../core/base/logger.ts';
import { createHttpDoor } from '../../../core/doors/http/http.ts';
import type * as Library from '../../../core/index.ts';
import { ownName, type Figure } from '../figures.ts';
import type { BenchContext } from '../section.ts';
import { laneUrl } from '../model-server/model-server.ts';
import { median, quantile } from '../statistics.ts';
import { timed } from '../timed.ts';

const TURNS = 200;
const WARM = 40;

export async function measureDoor(context: BenchContext): Promise<Figure[]> {
  context.say('door: a turn over the door and without it');
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-door-'));
  const { createTrayClaw } = (await import(pathToFileURL(context.libraryFile).href)) as typeof Library;
  const config = {
    providers: { lab: { kind: 'openai-compatible' as const, baseUrl: laneUrl(context.origin, 'door', { toolCalls: 0, tool: 'lookup' }) } },
    models: { default: 'lab/scripted' },
  };
  const claw = await createTrayClaw({ home, config });
  const door = createHttpDoor({
    claw,
    routes: claw.routes,
    token: 'none',
    logger: silentLogger,
    clock: systemClock,
    assetsFolder: null,
    version: 'bench',
  });
  try {
    const { url } = await door.listen({});
    const { key } = await claw.op('door.create_token', { name: 'bench', perMinute: 6000 });
    const overDoor = async (): Promise<void> => {
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: '{"model":"trayclaw","messages":[{"role":"user","content":"Hi"}]}',
      });
      if (response.status !== 200) throw new Error(`the door answered ${response.status}: ${await response.text()}`);
      await response.text();
    };
    const directly = async (): Promise<void> => {
      const { status } = await claw.ask('Hi');
      if (status !== 'done') throw new Error(`the turn ended as ${status}`);
    };
    const nothing = async (): Promise<void> => void (await (await fetch(`${url}/health`)).text());
    for (let i = 0; i < WARM; i++) for (const ask of [directly, nothing, overDoor]) await ask();
    const added: number[] = [];
    const processor: number[] = [];
    for (let i = 0; i < context.count(TURNS); i++) {
      const [direct, empty, served] = [await timed(directly), await timed(nothing), await timed(overDoor)];
      added.push(served.wallMs - direct.wallMs - empty.wallMs);
      processor.push(served.cpuMs - direct.cpuMs - empty.cpuMs);
    }
    return [
      {
        section: 'door',
        name: 'added to a turn',
        subject: ownName,
        unit: 'ms',
        p50: median(added),
        p99: quantile(added, 0.99),
        note: `processor ${median(processor).toFixed(2)}; n ${added.length}`,
      },
    ];
  } finally {
    await door.close();
    await claw.close();
    rmSync(home, { recursive: true, force: true });
  }
}
