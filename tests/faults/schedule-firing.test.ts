// A process that dies at any moment while due times are handled: whatever the moment, the next start leaves each of them with one message,
// one turn and one answer. The moment advances by one reading of the clock until the process survives (after SQLite's writecrash.test). The
// long run tries every reading.

import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { createTrayClaw } from '../../core/index.ts';
import { isSoak, soak } from '../soak.ts';
import { onBuiltCore } from '../program-file.ts';

const stride = soak(90, 1);
const child = join(import.meta.dirname, 'schedule', 'firing-child.ts');

const reportSchema = z.object({
  ok: z.boolean(),
  messages: z.number(),
  answers: z.number(),
  readings: z.number(),
  fired: z.array(z.string()),
});

function run(home: string, dieAt: number): Promise<{ killed: boolean; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const started = spawn(process.execPath, [...onBuiltCore, child, home, String(dieAt)], { stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    started.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    started.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    started.once('close', (_code, signal) => resolve({ killed: signal === 'SIGKILL', stdout, stderr }));
  });
}

/** Creates a folder with three due times that passed while nothing ran. */
async function prepare(home: string): Promise<void> {
  const claw = await createTrayClaw({ home, resume: false });
  const atMs = Date.now() + 200;
  for (const name of ['one', 'two', 'three'])
    await claw.op('schedule.create', { name, prompt: `Look at ${name}.`, spec: { kind: 'at', atMs } });
  await claw.op('config.set', { key: 'models.default', value: 'demo/offline' });
  await claw.close();
  await expect.poll(() => Date.now()).toBeGreaterThan(atMs);
}

test('a process that dies while it fires due times loses and repeats nothing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-firing-'));
  try {
    const template = join(folder, 'template');
    await prepare(template);
    let kills = 0;
    for (let dieAt = 1; ; dieAt += stride) {
      const home = join(folder, `home-${dieAt}`);
      cpSync(template, home, { recursive: true });
      const first = await run(home, dieAt);
      if (first.killed) kills += 1;
      const last = first.killed ? await run(home, 0) : first;
      expect(last.stderr).toBe('');
      const report = reportSchema.parse(JSON.parse(last.stdout));
      expect({ dieAt, ...report, readings: 0 }).toEqual({
        dieAt,
        ok: true,
        messages: 3,
        answers: 3,
        readings: 0,
        fired: ['run', 'run', 'run'],
      });
      rmSync(home, { recursive: true });
      if (!first.killed) break;
    }
    if (isSoak) process.stdout.write(`${kills} kills\n`);
    expect(kills).toBeGreaterThan(1);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 1_800_000);
