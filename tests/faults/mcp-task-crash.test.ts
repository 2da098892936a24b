// Kills the program while an MCP server runs calls as tasks, at each point of a task's life: the next start finds the task by its id, and
// it is started once. If the kill came before the id was recorded, the call has an unknown outcome and is not run again.

import { spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { compileCache } from '../compile-cache.ts';
import { McpRig, toolOf } from '../doubles/mcp/mcp-rig.ts';
import { createRandom } from '../fuzz/random.ts';
import { onBuiltCore } from '../program-file.ts';
import { soak } from '../soak.ts';
import { bodies, eventsOf } from '../program/helper-rig.ts';

const KILLS = soak(2, 200);
const STEPS = 6;
const childFile = fileURLToPath(new URL('mcp-task-child.ts', import.meta.url));

/** The requests that the server recorded; read again when there are more. */
class Received {
  readonly #path: string;
  #text = '';

  constructor(path: string) {
    this.#path = path;
  }

  count(method: string): number {
    const bytes = statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
    if (bytes !== this.#text.length) this.#text = readFileSync(this.#path, 'latin1');
    return this.#text.split(`"method":"${method}"`).length - 1;
  }
}

/** Runs the program and kills it once `isTime` is true; resolves to whether that happened before it exited. */
async function run(options: object, isTime: () => boolean): Promise<boolean> {
  const child = spawn(process.execPath, [...onBuiltCore, childFile, JSON.stringify(options)], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...compileCache },
  });
  let problem = '';
  child.stderr.on('data', (part) => (problem += String(part)));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  while (child.exitCode === null && child.signalCode === null) {
    if (isTime()) child.kill('SIGKILL');
    await sleep(2);
  }
  await ended;
  if (child.signalCode === null && child.exitCode !== 0) throw new Error(problem.slice(-2_000));
  return child.signalCode === 'SIGKILL';
}

test(
  `${KILLS} kills during tasks of an MCP server: each is found, none is started twice`,
  { timeout: 60_000 + KILLS * 20_000 },
  async () => {
    const random = createRandom(Number(process.env['TRAYCLAW_SEED'] ?? 11));
    const rig = new McpRig();
    const result = { content: [{ type: 'text', text: 'the house is built' }] };
    const tools = [toolOf('build', { execution: { taskSupport: 'required' } })];
    const servers = { s: rig.server('s', { tools, tasks: 'kept', results: { build: { steps: STEPS, result } } }) };
    const options = { home: join(rig.home, 'data'), config: { sandbox: { mode: 'off' }, mcp: { servers } } };
    const received = new Received(rig.recordPath('s'));
    let [kills, calls] = [0, 0];
    while (kills < KILLS) {
      calls += 1;
      const looks = received.count('tasks/get') + random.below(STEPS + 1);
      const isBegun = (): boolean => received.count('tools/call') === calls && received.count('tasks/get') >= looks;
      if (await run({ ...options, begins: true }, isBegun)) kills += 1;
      // Half of them are killed again while the task is followed.
      const again = received.count('tasks/get') + 1 + random.below(2);
      if (kills < KILLS && random.below(2) === 0)
        kills += Number(await run({ ...options, begins: false }, () => received.count('tasks/get') >= again));
      await run({ ...options, begins: false }, () => false);
    }
    const claw = await rig.open(servers);
    await claw.whenIdle();
    const ends = bodies(await eventsOf(claw), 'tool.finished').filter(({ tool }) => tool === 's__build');
    const { outcomes } = await claw.op('outcome.list', {});
    expect(ends.map(({ outcome, forModel }) => `${outcome}: ${forModel}`)).toEqual(ends.map(() => 'ok: the house is built'));
    expect([ends.length + outcomes.length, received.count('tools/call'), received.count('tasks/cancel')]).toEqual([calls, calls, 0]);
    // Unknown only if killed between the start of a task and the recording of its id.
    expect(outcomes.length).toBeLessThan(Math.max(2, calls / 2));
    if (KILLS > 3) process.stdout.write(`${JSON.stringify({ kills, calls, ended: ends.length, unknown: outcomes.length })}\n`);
  },
);
