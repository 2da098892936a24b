// Shell completion in real shells: the script offers what the tables contain, asks a running instance for ids, starts none, and never runs
// the name of a session or a skill.

import { execFile, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../core/base/clock.ts';
import { silentLogger } from '../../core/base/logger.ts';
import { InstanceDoor } from '../../core/doors/http/http.ts';
import { writeInstanceFile } from '../../core/store/home/home.ts';
import { FakeClaw } from '../doubles/fake-claw.ts';
import { fakeParts, runCommand } from '../doubles/fake-terminal.ts';
import { TestHome } from '../faults/test-home.ts';
import { needs } from '../needs.ts';
import { cliFile } from '../program-file.ts';

const unix = needs('a Unix system');

/** Names that would be dangerous if a shell did not take them as a single word. */
const hostile = ['$(touch PWNED)', '`touch PWNED`', 'x;touch PWNED', "x';touch PWNED;'", '*', 'two words', '\u001b[2Jx'];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trayclaw-completion-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function run(file: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const path = `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`;
  return new Promise((resolve) => {
    const child = execFile(
      file,
      [...args],
      { cwd: folder, timeout: 30_000, env: { PATH: path, HOME: folder, ...env } },
      (cause, out, err) => resolve({ code: cause === null ? 0 : 1, out, err }),
    );
    child.stdin?.end();
  });
}

async function writeScript(shell: string): Promise<string> {
  const { code, out } = await runCommand(['completion', shell], fakeParts(new FakeClaw()));
  expect(code).toBe(0);
  const file = join(folder, `completion.${shell}`);
  writeFileSync(file, out);
  return file;
}

/** Installs a program called trayclaw in the PATH. */
function install(text: string): void {
  mkdirSync(join(folder, 'bin'), { recursive: true });
  writeFileSync(join(folder, 'bin', 'trayclaw'), text);
  chmodSync(join(folder, 'bin', 'trayclaw'), 0o755);
}

function answering(lines: readonly string[]): string {
  return `#!/bin/sh\ncat <<'END'\n${lines.map((line) => `${line}\tabout it`).join('\n')}\nEND\n`;
}

const inBash = (words: readonly string[]): string =>
  `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; COMPREPLY=(); _trayclaw;`;

async function bashOffers(script: string, ...words: readonly string[]): Promise<string[]> {
  const print = `((\${#COMPREPLY[@]})) && printf '%s\\n' "\${COMPREPLY[@]}"; exit 0`;
  const { out, err } = await run('bash', ['--norc', '-c', `source '${script}'; ${inBash(['trayclaw', ...words])} ${print}`]);
  expect(err).toBe('');
  return out.split('\n').filter((line) => line !== '');
}

test('bash: commands, options and choices come from the table', unix, async () => {
  const script = await writeScript('bash');
  expect(await bashOffers(script, 'sch')).toEqual(['schedule']);
  expect(await bashOffers(script, 'tasks', '')).toEqual(['list', 'add', 'done', 'drop']);
  expect(await bashOffers(script, 'usage', '--by', '')).toEqual(['day', 'model', 'session']);
  expect(await bashOffers(script, 'activity', 'search', 'x', '--kind', 'to')).toEqual(['tool']);
  expect(await bashOffers(script, 'memory', 'settle', 'mem_1', 'mem_2', '')).toEqual(['this', 'other', 'both']);
  expect(await bashOffers(script, '--home', '/x', 'memory', 'list', '--sta')).toEqual(['--state']);
  expect(await bashOffers(script, 'memory', 'search', '--li')).toEqual(['--limit']);
  expect(await bashOffers(script, 'completion', '')).toEqual(['bash', 'zsh', 'fish']);
  expect(await bashOffers(script, 'nosuch', '')).toEqual([]);
  expect((await run('bash', ['--norc', '-c', `source '${script}'; complete -p trayclaw`])).out.trim()).toBe(
    'complete -F _trayclaw trayclaw',
  );
});

test('bash: names that contain commands stay words, also in the completed line', unix, async () => {
  install(answering(hostile));
  const script = await writeScript('bash');
  const offered = await bashOffers(script, 'skills', 'show', '');
  expect(offered.length).toBe(hostile.length);
  // Runs the completed line in a shell, as when a person presses Enter.
  const sent = offered.map((word) => `: ${word}`).join('\n');
  await run('bash', ['--norc', '-c', sent]);
  expect(existsSync(join(folder, 'PWNED'))).toBe(false);
});

test('control: the usual way of offering words runs such a name', unix, async () => {
  install(answering(hostile));
  await run('bash', ['--norc', '-c', `compgen -W "$(trayclaw __complete skill)" -- x`]);
  expect(existsSync(join(folder, 'PWNED'))).toBe(true);
});

async function withInstance(): Promise<{ home: TestHome; sessionId: string; scheduleId: string }> {
  const home = new TestHome();
  onTestFinished(() => home.dispose());
  const claw = await home.open({ config: { models: { default: 'demo/offline' } } });
  const { sessionId } = await claw.op('session.create', { title: hostile.join(' ') });
  const spec = { kind: 'every', everyMs: 3_600_000 } as const;
  const { scheduleId } = await claw.op('schedule.create', { name: '$(touch PWNED)', prompt: 'x', spec });
  const door = new InstanceDoor({
    claw,
    logger: silentLogger,
    clock: systemClock,
    assetsFolder: null,
    version: 'test',
    home: home.path,
    pid: process.pid,
    platform: process.platform,
    temporaryFolder: home.path,
  });
  await door.open();
  onTestFinished(() => door.dispose());
  install(`#!/bin/sh\nexec '${process.execPath}' '${cliFile}' "$@"\n`);
  return { home, sessionId, scheduleId };
}

/** Retries, because on a busy machine the time may run out, and then nothing is offered. */
async function soon(ask: () => Promise<string[]>, wanted: string): Promise<string[]> {
  for (let tries = 0; tries < 60; tries++) {
    const found = await ask();
    if (found.includes(wanted)) return found;
  }
  return [];
}

test('bash: ids of a running instance; a title that contains commands has no effect', { ...unix, timeout: 240_000 }, async () => {
  const { home, sessionId, scheduleId } = await withInstance();
  const script = await writeScript('bash');
  const at = ['--home', home.path];
  const offers = (...words: string[]): Promise<string[]> => bashOffers(script, ...at, ...words);
  expect(await soon(() => offers('sessions', 'show', ''), sessionId)).toEqual(['last', sessionId]);
  expect(await soon(() => offers('ask', '--session', 'ses'), sessionId)).toEqual([sessionId]);
  expect(await soon(() => offers('schedule', 'run', ''), scheduleId)).toEqual(['last', scheduleId]);
  expect(await soon(() => offers('agents', 'show', ''), 'main')).toEqual(['main']);
  expect(existsSync(join(folder, 'PWNED'))).toBe(false);
});

function complete(home: string, kind = 'session'): Promise<Ran> {
  return run(process.execPath, [cliFile, '__complete', kind, '--home', home]);
}

test('without an instance nothing is offered, started or written', unix, async () => {
  const home = join(folder, 'home');
  mkdirSync(home);
  expect(await complete(home)).toEqual({ code: 0, out: '', err: '' });
  expect(await complete(join(folder, 'none'))).toEqual({ code: 0, out: '', err: '' });
  expect(await complete(home, 'nosuch')).toEqual({ code: 0, out: '', err: '' });
  expect([readdirSync(home), existsSync(join(folder, 'none'))]).toEqual([[], false]);
});

test('completion does not wait for an instance that never answers', unix, async () => {
  const home = join(folder, 'home');
  mkdirSync(home, { mode: 0o700 });
  const socketPath = join(home, 's');
  const open: { destroy(): void }[] = [];
  const silent = createServer((socket) => open.push(socket));
  await new Promise<void>((resolve) => silent.listen(socketPath, resolve));
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    return new Promise<void>((resolve) => silent.close(() => resolve()));
  });
  writeInstanceFile(home, { pid: process.pid, socketPath, token: 'x', version: 'test' });
  // Measured from the process's own start, so that the time to start a process does not count.
  const child = spawn(process.execPath, [cliFile, '__complete', 'session', '--home', home], { stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  const code = await new Promise((resolve) => child.once('close', resolve));
  expect([code, out]).toEqual([0, '']);
});

test('zsh: the same words, each a separate match', { ...needs('zsh'), timeout: 60_000 }, async () => {
  install(answering(hostile));
  const script = await writeScript('zsh');
  const offers = async (...words: string[]): Promise<string[]> => {
    const typed = ['trayclaw', ...words].map((word) => `'${word}'`).join(' ');
    const stubs = `compdef() { :; }; compadd() { print -rl -- "\${(@P)\${@[-1]}}"; }; _files() { print -r -- FILES; }`;
    const { out, err } = await run('zsh', [
      '-f',
      '-c',
      `${stubs}; source '${script}'; words=(${typed}); CURRENT=${words.length + 1}; _trayclaw`,
    ]);
    expect(err).toBe('');
    return out.split('\n').filter((line) => line !== '');
  };
  expect(await offers('tasks', '')).toEqual(['list', 'add', 'done', 'drop']);
  expect(await offers('usage', '--by', '')).toEqual(['day', 'model', 'session']);
  expect(await offers('--home', '')).toEqual(['FILES']);
  expect(await offers('skills', 'show', '')).toEqual(hostile);
  expect(existsSync(join(folder, 'PWNED'))).toBe(false);
});

test('fish: the same words with their descriptions', { ...needs('fish'), timeout: 60_000 }, async () => {
  install(answering(hostile));
  const script = await writeScript('fish');
  const offers = async (line: string): Promise<string[]> => {
    const { out } = await run('fish', ['--no-config', '-c', `source '${script}'; complete -C '${line}'`]);
    return out.split('\n').filter((one) => one !== '');
  };
  expect(await offers('trayclaw tasks a')).toEqual(['add\tadd a task']);
  expect((await offers('trayclaw usage --by ')).sort()).toEqual(['day', 'model', 'session']);
  expect(await offers('trayclaw usage --d')).toEqual(['--days\thow far to look back']);
  expect((await offers('trayclaw skills show ')).length).toBeGreaterThan(3);
  expect(existsSync(join(folder, 'PWNED'))).toBe(false);
});
