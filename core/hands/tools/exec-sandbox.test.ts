// exec with a real sandbox: the remarks about it, background commands and terminals, and that a stop ends all of it.

import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/logger.ts';
import { configSchema } from '../../contracts/config.ts';
import { Sandbox } from '../../guard/sandbox/sandbox.ts';
import { createToolBench, type ToolBench } from '../../../tests/rigs/tool-bench.ts';
import type { HostedResult } from './tools.ts';
import { createProcessTable } from './process-table.ts';
import { needs } from '../../../tests/needs.ts';
import { ownNow } from '../../../tests/own-clock.ts';

const confined = needs('bubblewrap');

const table = createProcessTable(process.platform);

let bench: ToolBench;
let sandbox: Sandbox;

beforeEach(() => {
  // The bench creates the folders that the sandbox needs, but the bench also needs the sandbox first.
  bench = createToolBench({ sandbox: { wrap: (command) => sandbox.wrap(command) } });
  sandbox = new Sandbox({
    config: configSchema.parse({}).sandbox,
    facts: { workspace: bench.workspace, home: bench.home, extraFolders: [] },
    userHome: bench.home,
    environment: process.env,
    platform: process.platform,
    temporaryFolder: tmpdir(),
    clock: systemClock,
    logger: silentLogger,
  });
});
afterEach(async () => {
  await bench.dispose();
  await sandbox.dispose();
});

const exec = (args: Readonly<Record<string, unknown>>, attended = false): Promise<HostedResult> => bench.call('exec', args, { attended });
const brief = ({ outcome, forModel }: HostedResult) => ({ outcome, forModel });
const walls = () => `it ran in the sandbox, which lets it write only ${bench.workspace} and $TMPDIR, and gives it no network`;

async function marked(): Promise<number[]> {
  const rows = await table?.list([`TRAYCLAW_INSTANCE=${bench.instanceMarker['TRAYCLAW_INSTANCE']}`]);
  return (rows ?? []).filter((row) => row.isMarked && !row.isDead).map((row) => row.pid);
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 500; i++) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('it never came to be so');
}

test('an unattended command is confined without remarks until it fails', confined, async () => {
  expect(brief(await exec({ command: 'echo out; echo err >&2; echo in > made' }))).toEqual({ outcome: 'ok', forModel: 'out\nerr\n' });
  expect(brief(await exec({ command: 'exit 3' }))).toEqual({ outcome: 'error', forModel: `[exit code 3; ${walls()}]` });
  expect(brief(await exec({ command: 'echo x > ../beside' }))).toMatchObject({
    outcome: 'error',
    forModel: expect.stringContaining(walls()),
  });
  expect(brief(await exec({ command: 'exit 3' }, true))).toEqual({ outcome: 'error', forModel: '[exit code 3]' });
  expect([existsSync(join(bench.workspace, 'made')), existsSync(join(bench.home, 'beside'))]).toEqual([true, false]);
});

test('a git hook that a command leaves behind fails its call, also in the background', confined, async () => {
  const plant = (folder: string): string => `mkdir -p ${folder}/.git/hooks; echo evil > ${folder}/.git/hooks/pre-push`;
  const result = await exec({ command: plant('one') });
  expect(brief(result)).toEqual({
    outcome: 'error',
    forModel: expect.stringMatching(
      /^\[no output, exit code 0; .*one\/\.git\/hooks\/pre-push appeared, and git runs commands from it: it was moved to /,
    ),
  });
  const started = await exec({ command: plant('two'), background: true });
  const sessionId = /cmd-\d+-\d+/.exec(started.forModel)?.[0] ?? '';
  let said = '';
  await until(async () => {
    said = (await exec({ action: 'poll', sessionId, timeoutMs: 1000 })).forModel;
    return said.includes('ended');
  });
  expect(said).toMatch(/two\/\.git\/hooks\/pre-push appeared/);
  expect(['one', 'two'].filter((folder) => existsSync(join(bench.workspace, folder, '.git/hooks/pre-push')))).toEqual([]);
});

test('a terminal works inside, and input reaches a background command', confined, async () => {
  expect((await exec({ command: '[ -t 0 ] && [ -t 1 ] && echo terminal', pty: true })).forModel).toMatch(/^terminal/);
  const started = await exec({ command: 'read line; echo "got $line"', background: true });
  const sessionId = /cmd-\d+-\d+/.exec(started.forModel)?.[0] ?? '';
  await exec({ action: 'write', sessionId, data: 'hello\n' });
  let said = '';
  await until(async () => {
    said += (await exec({ action: 'poll', sessionId, timeoutMs: 1000 })).forModel;
    return said.includes('got hello');
  });
});

test('a command that cannot be confined does not run, and its call says why', confined, async () => {
  const result = await exec({ command: 'touch ran', cwd: bench.home });
  expect(brief(result)).toEqual({ outcome: 'error', forModel: expect.stringContaining('is hidden in the sandbox') });
});

test('a time limit ends a confined command with all it started', confined, async () => {
  const result = await exec({ command: '(setsid sleep 1000 &); sleep 1000', timeoutMs: 300 });
  expect(brief(result)).toEqual({ outcome: 'timeout', forModel: expect.stringContaining('timed out after') });
  await until(async () => (await marked()).length === 0);
});

test('a stop quickly ends every confined tree, however it hides', { ...confined, timeout: 60_000 }, async () => {
  const tookMs: number[] = [];
  for (let round = 0; round < 10; round++) {
    for (let n = 0; n < 3; n++)
      await exec({ command: '(setsid bash -c "trap \'\' TERM HUP; sleep 1000; true" &); sleep 1000; true', background: true });
    // For each tree: bubblewrap, its first process, the time limit, the shell and two sleepers.
    await until(async () => (await marked()).length >= 18);
    const startedMs = ownNow();
    const { survivors } = await bench.trees.killAll();
    tookMs.push(ownNow() - startedMs);
    expect({ survivors, left: await marked() }).toEqual({ survivors: 0, left: [] });
  }
  tookMs.sort((a, b) => a - b);
  process.stdout.write(`stop of 3 confined trees: p50 ${tookMs[5]?.toFixed(0)} ms, p95 ${tookMs[9]?.toFixed(0)} ms, n 10\n`);
  expect(tookMs[9]).toBeLessThan(2000);
  await until(() =>
    readdirSync(tmpdir())
      .filter((name) => name.startsWith(`trayclaw-sandbox-${process.pid}-`))
      .every((name) => readdirSync(join(tmpdir(), name)).join() === 'syscall-filter'),
  );
});

test('only a command with a network may bring in text of others', confined, async () => {
  const fetches = { kind: 'command', where: 'node' };
  const print = { command: 'node -e "console.log(1)"' };
  expect(await exec(print)).toMatchObject({ untrusted: [] });
  expect(await exec(print)).not.toHaveProperty('fetched');
  expect(await exec(print, true)).toMatchObject({ untrusted: [fetches], fetched: fetches });
  expect(await exec({ command: 'node -e "0"' }, true)).toMatchObject({ outcome: 'ok', fetched: fetches });
  expect(await exec({ command: 'mkdir a && ls' }, true)).toMatchObject({ untrusted: [] });
});

test('the output of a background command that may fetch is untrusted', confined, async () => {
  const started = await exec({ command: 'node -e "console.log(1)"', background: true }, true);
  const sessionId = /cmd-[\d-]+/.exec(started.forModel)?.[0];
  const source = { kind: 'command', where: 'node' };
  expect(started).toMatchObject({ untrusted: [], fetched: source });
  await until(async () => (await exec({ action: 'read', sessionId })).forModel.includes('1\n'));
  expect(await exec({ action: 'read', sessionId })).toMatchObject({ untrusted: [source] });
});
