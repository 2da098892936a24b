// A terminal that is closed, or a reader that goes away, while a turn runs in the process: the process ends in order, with everything it
// started.

import { spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { assert } from '../../core/base/assert.ts';
import { isAppError } from '../../core/contracts/errors.ts';
import type { TrayClaw } from '../../core/index.ts';
import { ScriptedModel, type Rule } from '../doubles/scripted-model.ts';
import { TestHome } from '../faults/test-home.ts';
import { needs } from '../needs.ts';
import { cliFile } from '../program-file.ts';
import { until } from '../until.ts';

const command = 'echo $$ > pid; sleep 60';
const rules: Rule[] = [
  { user: /command/, results: 0, answer: { calls: [{ tool: 'exec', args: { command } }] } },
  { user: /command/, results: 1, answer: { text: 'Over.' } },
  { user: /slow/, answer: { text: 'word '.repeat(600), pieceChars: 5, delayMs: 50 } },
];

let home: TestHome;
let model: ScriptedModel;

beforeEach(async () => {
  home = new TestHome();
  onTestFinished(() => home.dispose());
  model = await ScriptedModel.start(rules);
  onTestFinished(() => model.close());
  home.configure(model.config('openai'));
});

const childEnv = (): Record<string, string> => ({ PATH: process.env['PATH'] ?? '', HOME: dirname(home.path), TRAYCLAW_HOME: home.path });

/** The process exits a moment after the command and holds its data folder until then. */
async function openAtItsEnd(): Promise<TrayClaw> {
  const opened: TrayClaw[] = [];
  const isFree = async (): Promise<boolean> => {
    try {
      return opened.push(await home.open({ resume: false })) > 0;
    } catch (error) {
      if (isAppError(error) && error.code === 'store_locked') return false;
      throw error;
    }
  };
  await until(isFree, 'the process has ended');
  const [claw] = opened;
  assert(claw !== undefined, 'it was opened');
  return claw;
}

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);

test(
  'a closed terminal ends an approved command, and its turn continues later',
  { ...needs('the program script of Linux'), timeout: 120_000 },
  async () => {
    const terminal = spawn('script', ['-qfec', `"${process.execPath}" "${cliFile}" ask "the command"`, '/dev/null'], {
      env: childEnv(),
      cwd: home.project(),
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    onTestFinished(() => void terminal.kill('SIGKILL'));
    let screen = '';
    terminal.stdout.on('data', (chunk: Buffer) => (screen += chunk.toString()));
    await until(() => screen.includes('(Enter: no)'), 'the folder is asked');
    terminal.stdin.write('n\n');
    await until(() => screen.includes('(Enter denies)'), 'the command is asked');
    terminal.stdin.write('o\n');
    const pidFile = join(home.workspace, 'pid');
    await until(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8').endsWith('\n'), 'the command runs');
    terminal.kill('SIGKILL');
    await until(() => !isAlive(Number(readFileSync(pidFile, 'utf8'))), 'the command ends');
    const claw = await openAtItsEnd();
    const { sessions } = await claw.op('session.list', {});
    const { outcomes } = await claw.op('outcome.list', {});
    expect([sessions[0]?.status, outcomes]).toEqual(['running', []]);
  },
);

test('a reader that goes away stops the turn, as Ctrl-C does', { timeout: 120_000 }, async () => {
  const child = spawn(process.execPath, [cliFile, 'ask', 'slow'], {
    env: childEnv(),
    cwd: home.project(),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  child.stdout.once('data', () => child.stdout.destroy());
  expect(await ended).toBe(130);
  const claw = await home.open({ resume: false });
  expect((await claw.op('session.list', {})).sessions.map(({ status }) => status)).toEqual(['cancelled']);
});

/** These commands print before anything waits, so a stream error arrives after everything else is done. */
const instant = ['--version', '--help', 'completion bash'];

test.each(instant)('a reader that left before the first byte of %s is not a failure', { timeout: 60_000 }, async (words) => {
  const child = spawn(process.execPath, [cliFile, ...words.split(' ')], { env: childEnv(), stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  let err = '';
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  expect([code, err]).toEqual([0, '']);
});

test.each(instant)('%s reports a full disk and fails', { ...needs('Linux'), timeout: 60_000 }, (words) => {
  const full = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(full));
  const { status, stderr } = spawnSync(process.execPath, [cliFile, ...words.split(' ')], {
    env: childEnv(),
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([1, 'The output cannot be written: the disk is full.\n']);
});

test('a terminal whose folder was removed says so', { ...needs('Linux'), timeout: 60_000 }, () => {
  const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"';
  const words = ['-c', script, process.execPath, cliFile, 'sessions', 'list'];
  const { status, stderr } = spawnSync('sh', words, { cwd: home.project(), env: childEnv(), encoding: 'utf8' });
  expect([status, stderr]).toEqual([1, 'The folder of this terminal no longer exists. Go to another one (cd ~), then do it again.\n']);
});
