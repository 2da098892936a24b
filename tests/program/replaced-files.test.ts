// A build or an update replaces the files of the program while it runs: it continues, and a part that was not loaded yet says what to do.

import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { needs } from '../needs.ts';
import { cliFile } from '../program-file.ts';

const readySchema = z.object({ url: z.string(), token: z.string() });
/** Longer than the program waits before it tidies up after its start. */
const QUIET_MS = 3_500;

test(
  'a server whose files were replaced continues, and a missing part says what to do',
  { ...needs('Linux'), timeout: 60_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trayclaw-replaced-'));
    const root = dirname(dirname(cliFile));
    cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true });
    for (const name of ['package.json', 'node_modules', 'skills']) symlinkSync(join(root, name), join(folder, name));
    const args = [join(folder, 'dist', 'cli.js'), '--home', join(folder, 'home'), 'serve'];
    const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env: { PATH: process.env['PATH'] ?? '' } });
    const ended = new Promise<number | null>((resolve) => server.once('exit', resolve));
    onTestFinished(async () => {
      server.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    });
    const line = await new Promise<string>((resolve) => createInterface({ input: server.stdout }).once('line', resolve));
    const { url, token } = readySchema.parse(JSON.parse(line));
    rmSync(join(folder, 'dist', 'chunks'), { recursive: true });
    await sleep(QUIET_MS);
    const call = async (op: string): Promise<unknown> => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      return (await fetch(`${url}/api/ops/${op}`, { method: 'POST', headers, body: '{}' })).json();
    };
    expect(await call('report.make')).toMatchObject({
      ok: false,
      error: {
        code: 'internal',
        message: 'A part of the program was replaced or removed while it ran, by a build or an update.',
        hint: 'Stop TrayClaw and start it again.',
      },
    });
    expect(await call('session.list')).toMatchObject({ ok: true, result: { sessions: [] } });
    server.kill('SIGTERM');
    expect(await ended).toBe(0);
  },
);
