// Kills either of two programs while one works for the other: every submitted task has one turn there, every answer arrives once, and no
// effect has two keys. Few kills in every run, many in the long one.

import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { freePort } from '../free-port.ts';
import { createRandom } from '../fuzz/random.ts';
import { bodies, call, eventsOf, help } from '../program/helper-rig.ts';
import { onBuiltCore } from '../program-file.ts';
import { soak } from '../soak.ts';
import { TestHome } from './test-home.ts';

const KILLS = soak(3, 200);
const child = fileURLToPath(new URL('a2a-crash-child.ts', import.meta.url));
const nearPoints = [
  'helper-called',
  'helper-submitted',
  'helper-finished',
  'accepted',
  'after-request',
  'after-effect',
  'after-result',
  null,
];
const farPoints = ['accepted', 'after-request', 'after-effect', 'after-result', 'before-request'];

interface Start {
  readonly home: string;
  /** 0 for any free port, because no one calls the near program. */
  readonly port: number;
  readonly job: number | null;
  readonly point: string | null;
  readonly nth: number;
}

interface Running {
  readonly process: ChildProcess;
  /** Rejects if the program ends before it serves. */
  readonly ready: Promise<void>;
  /** Resolves to true if it was killed. */
  readonly ended: Promise<boolean>;
}

function start(options: Start): Running {
  const running = spawn(process.execPath, [...onBuiltCore, child, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  running.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const ended = new Promise<boolean>((resolve, reject) => {
    running.once('close', (code, signal) => {
      if (signal === 'SIGKILL') resolve(true);
      else if (code === 0) resolve(false);
      else reject(new Error(`It ended with ${code}: ${errors}`));
    });
  });
  const ready = new Promise<void>((resolve) => running.stdout.once('data', () => resolve()));
  return { process: running, ready: Promise.race([ready, ended.then(() => undefined)]), ended };
}

test(
  `${KILLS} kills of two cooperating programs lose no task and run none twice`,
  async () => {
    const [near, far, model] = [new TestHome(), new TestHome(), await ScriptedModel.start()];
    const random = createRandom(Number(process.env['TRAYCLAW_SEED'] ?? 11));
    const farPort = await freePort();
    let serving: Running | null = null;
    try {
      model.script([
        { user: /^Far/, results: 0, answer: ({ userText }) => ({ calls: [call('note', { who: userText.split('\n')[0] ?? '' })] }) },
        { user: /^Far/, answer: { text: 'far done' } },
        { user: /^job/, results: 0, answer: ({ userText }) => ({ calls: [help(`Far ${userText}`, { agent_id: 'far' })] }) },
        { user: /^job/, answer: ({ toolResults }) => ({ text: `heard ${toolResults.at(-1)?.text ?? ''}` }) },
      ]);
      far.configure({ ...model.config('openai'), doors: { a2a: { enabled: true } } });
      const made = await far.open();
      const { key } = await made.op('door.create_token', { door: 'a2a', name: 'near', perMinute: 6000 });
      await far.close(made);
      writeFileSync(join(near.path, 'token'), key, { mode: 0o600 });
      near.configure({
        ...model.config('openai'),
        a2a: { peers: { far: { url: `http://127.0.0.1:${farPort}`, token: 'file:token' } } },
        policy: { rules: [{ then: 'allow', when: { tools: ['subagent'], hosts: ['127.0.0.1'] } }] },
      });
      const kills = { near: 0, far: 0 };
      let jobs = 0;
      /** Serves again after each kill, and is killed again while kills are left. */
      const serve = (): void => {
        const point = kills.near + kills.far < KILLS ? random.pick(farPoints) : null;
        const running = start({ home: far.path, port: farPort, job: null, point, nth: 1 + random.below(2) });
        serving = running;
        running.ended.then(
          (killed) => {
            if (!killed) return;
            kills.far += 1;
            serve();
          },
          () => undefined,
        );
      };
      serve();
      for (; kills.near + kills.far < KILLS; jobs += 1) {
        for (let attempt = 0; ; attempt += 1) {
          const isLast = attempt >= 3;
          const point = isLast ? null : random.pick(nearPoints);
          const running = start({ home: near.path, port: 0, job: jobs, point, nth: 1 + random.below(2) });
          const timer =
            !isLast && point === null ? setTimeout(() => running.process.kill('SIGKILL'), 600 + random.below(1_500)) : undefined;
          const killed = await running.ended;
          clearTimeout(timer);
          if (!killed) break;
          kills.near += 1;
        }
      }
      const last = serving as Running | null;
      serving = null;
      await last?.ready;
      last?.process.kill('SIGTERM');
      await last?.ended;

      const [here, there] = [await near.open(), await far.open()];
      const [asked, worked] = [await eventsOf(here), await eventsOf(there)];
      const ends = bodies(asked, 'turn.finished').filter(({ text }) => text === 'heard far done');
      expect(ends).toHaveLength(jobs);
      expect(bodies(asked, 'a2a.finished').filter(({ status }) => status !== 'done')).toEqual([]);
      const tasks = bodies(worked, 'user.message').map(({ dedupeKey }) => dedupeKey);
      expect([tasks.length, new Set(tasks).size]).toEqual([jobs, jobs]);
      expect(bodies(worked, 'turn.finished').filter(({ status }) => status !== 'done')).toEqual([]);
      // An interrupted call may run again with its key, but never with another.
      const ledger = readFileSync(join(far.path, '..', 'ledger.txt'), 'utf8')
        .trim()
        .split('\n');
      expect(new Set(ledger).size).toBe(jobs);
      expect([(await near.close(here)).different, (await far.close(there)).different]).toEqual([[], []]);
      if (KILLS > 3) process.stdout.write(`${JSON.stringify({ kills, jobs, effects: ledger.length })}\n`);
    } finally {
      (serving as Running | null)?.process.kill('SIGKILL');
      await near.dispose();
      await far.dispose();
      await model.close();
    }
  },
  60_000 + KILLS * 20_000,
);
