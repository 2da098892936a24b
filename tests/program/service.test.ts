// TrayClaw under a service manager, as a whole program: the installed unit is valid for systemd, its command runs, and no token is in the
// log. systemctl is a double; if the machine has systemd, its own check reads the unit too.

import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, closeSync, existsSync, fstatSync, mkdirSync, openSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { systemdUnit } from '../../main/service/service-unit.ts';
import { readUnit } from '../doubles/systemd/unit-file.ts';
import { TestHome } from '../faults/test-home.ts';
import { has, needs } from '../needs.ts';

const onLinux = needs('Linux');

const double = fileURLToPath(new URL('../doubles/systemd/systemctl.ts', import.meta.url));

interface Rig {
  readonly home: TestHome;
  /** The program's `HOME`. */
  readonly folder: string;
  readonly unitFile: string;
  readonly state: () => { calls: string[]; isEnabled: boolean; active: string; bus: boolean };
}

function open(hasSystemctl = true): Rig {
  const home = new TestHome();
  onTestFinished(() => home.dispose());
  const folder = dirname(home.path);
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  if (hasSystemctl) {
    writeFileSync(join(bin, 'systemctl'), `#!/bin/sh\nexec "${process.execPath}" "${double}" "${folder}" "$@"\n`, { mode: 0o755 });
  }
  home.env['PATH'] = `${bin}:/nonexistent/node_modules/.bin:relative`;
  return {
    home,
    folder,
    unitFile: join(folder, '.config', 'systemd', 'user', 'trayclaw.service'),
    state: () => JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8')) as ReturnType<Rig['state']>,
  };
}

test('the service is installed, shown and removed', { ...onLinux, timeout: 120_000 }, async () => {
  const { home, unitFile, state, folder } = open();
  expect(await home.command(['service', 'status'])).toMatchObject({ code: 1, json: { installed: false, running: false } });
  expect(await home.cli(['service', 'install'])).toMatchObject({ code: 0, json: { file: unitFile, installed: true }, stderr: '' });
  expect(state()).toMatchObject({ isEnabled: true, active: 'active' });
  const running = { installed: true, running: true, state: 'active', startsAtLogin: true, pid: 4711 };
  expect(await home.command(['service', 'status'])).toMatchObject({ code: 0, json: running });
  expect(readUnit(readFileSync(unitFile, 'utf8'))).toMatchObject({
    argv: [process.execPath, expect.stringMatching(/\/dist\/cli\.js$/), 'serve', '--no-print-token'],
    env: { TRAYCLAW_HOME: home.path, PATH: join(folder, 'bin') },
  });

  // Installing again changes nothing; a different unit is loaded and replaces the running one.
  const before = state().calls.length;
  expect((await home.command(['service', 'install'])).code).toBe(0);
  expect(state().calls.slice(before)).not.toContain('daemon-reload');
  writeFileSync(unitFile, readFileSync(unitFile, 'utf8').replace('RestartSec=5', 'RestartSec=9'));
  expect((await home.command(['service', 'install'])).code).toBe(0);
  expect(state().calls.slice(-3)).toEqual(['daemon-reload', 'enable --now trayclaw.service', 'restart trayclaw.service']);

  expect(await home.command(['service', 'uninstall'])).toMatchObject({ code: 0, json: { removed: true } });
  expect([existsSync(unitFile), state().active, state().calls.at(-1)]).toEqual([false, 'inactive', 'daemon-reload']);
  expect(await home.command(['service', 'uninstall'])).toMatchObject({ code: 0, json: { removed: false } });
});

test('if systemd does not answer nothing is written', onLinux, async () => {
  const without = open(false);
  const missing = await without.home.command(['service', 'install']);
  expect(missing).toMatchObject({
    code: 1,
    json: { error: { code: 'not_found', message: expect.stringContaining('no systemctl') as string } },
  });
  expect(existsSync(without.unitFile)).toBe(false);
  expect((await without.home.command(['service', 'install', '--print'])).json).toMatchObject({ file: without.unitFile });

  const { home, folder, unitFile } = open();
  writeFileSync(join(folder, 'state.json'), JSON.stringify({ bus: false, loaded: null, isEnabled: false, active: 'inactive', calls: [] }));
  const deaf = await home.command(['service', 'install']);
  expect(deaf).toMatchObject({ code: 1, json: { error: { message: expect.stringContaining('No medium found') as string } } });
  expect(existsSync(unitFile)).toBe(false);
});

test("a person's own unit is not touched, and a tool cannot install one", onLinux, async () => {
  const { home, unitFile } = open();
  mkdirSync(dirname(unitFile), { recursive: true });
  writeFileSync(unitFile, '[Service]\nExecStart=/bin/true\n');
  for (const command of ['install', 'uninstall', 'status'])
    expect(await home.command(['service', command])).toMatchObject({ code: 1, json: { error: { code: 'conflict' } } });
  expect(readFileSync(unitFile, 'utf8')).toBe('[Service]\nExecStart=/bin/true\n');

  const other = open();
  other.home.env['TRAYCLAW_CALL'] = 'call_1';
  expect(await other.home.command(['service', 'install'])).toMatchObject({ code: 1, json: { error: { code: 'forbidden' } } });
  expect(await other.home.command(['service', 'uninstall'])).toMatchObject({ code: 1, json: { error: { code: 'forbidden' } } });
  expect(existsSync(other.unitFile)).toBe(false);
});

const oddNames = ['plain', 'with space', 'per%cent', 'dollar$HOME', 'quo"te', "apo'strophe", 'back\\slash', 'semi;colon', 'ümlaut'];

test.each(oddNames)('a program and a data folder in %j are read correctly', (name) => {
  const { folder } = open();
  const place = join(folder, name);
  mkdirSync(place);
  symlinkSync(process.execPath, join(place, 'node'));
  const spec = { command: [join(place, 'node'), join(place, 'cli.js')], home: join(place, 'home'), path: `${place}:/usr/bin`, port: 4870 };
  const text = systemdUnit(spec);
  const read = readUnit(text);
  const byShell = read.argv[0] === '/bin/sh';
  expect(byShell).toBe(/["'\\]/.test(name));
  if (byShell) expect(read.argv.slice(1, 4)).toEqual(['-c', 'exec "$@"', 'sh']);
  expect(read.argv.slice(byShell ? 4 : 0)).toEqual([...spec.command, 'serve', '--no-print-token', '--port', '4870']);
  expect(read.env).toEqual({ TRAYCLAW_HOME: spec.home, PATH: spec.path });
  if (!has('systemd')) return;
  const file = join(folder, 'trayclaw.service');
  writeFileSync(file, text);
  chmodSync(file, 0o644);
  const verified = spawnSync('systemd-analyze', ['--user', '--man=no', 'verify', file], {
    encoding: 'utf8',
    env: { ...process.env, XDG_RUNTIME_DIR: folder },
  });
  expect([verified.status, verified.stderr.split('\n').filter((line) => line.includes('trayclaw'))]).toEqual([0, []]);
});

test('the check of systemd itself rejects an invalid unit', needs('systemd'), () => {
  const { folder } = open();
  const file = join(folder, 'trayclaw.service');
  const text = systemdUnit({ command: [join(folder, 'no-such-node')], home: null, path: '/usr/bin', port: null }).replace(
    'KillMode=mixed',
    'KillMode=some',
  );
  writeFileSync(file, text);
  const verified = spawnSync('systemd-analyze', ['--user', '--man=no', 'verify', file], {
    encoding: 'utf8',
    env: { ...process.env, XDG_RUNTIME_DIR: folder },
  });
  expect(verified.status).toBe(1);
  expect(verified.stderr).toMatch(/kill mode specification[^]*is not executable/);
});

test("the unit's command serves, ends cleanly, and its log has no token", { timeout: 60_000 }, async () => {
  const { home, folder } = open();
  const text = ((await home.cli(['service', 'install', '--print'])).json as { text: string }).text;
  const { argv, env } = readUnit(text);
  const log = join(folder, 'journal');
  const handle = openSync(log, 'w');
  const { dev, ino } = fstatSync(handle);
  // As systemd starts it, but without the flag: a unit written by hand must not log the token either.
  const [program = '', ...args] = argv.filter((word) => word !== '--no-print-token');
  const service = { ...env, HOME: folder, JOURNAL_STREAM: `${dev}:${ino}`, INVOCATION_ID: 'f'.repeat(32) };
  const child = spawn(program, args, { env: service, stdio: ['ignore', handle, handle], cwd: folder });
  const ended = new Promise((resolve) => child.once('exit', (...how) => resolve(how)));
  try {
    await vi.waitFor(() => expect(readFileSync(log, 'utf8')).toContain('The access token is not printed here'), { timeout: 30_000 });
    const { token, url } = JSON.parse(readFileSync(join(home.path, 'instance.json'), 'utf8')) as { token: string; url: string };
    expect(token.length).toBeGreaterThan(20);
    const health = await fetch(`${url}/health`, { headers: { authorization: `Bearer ${token}`, connection: 'close' } });
    expect([health.status, await health.text()]).toEqual([200, expect.any(String)]);
    expect(JSON.parse(readFileSync(log, 'utf8').split('\n')[0] ?? '')).toEqual({ url, pid: child.pid });
    expect((await home.cli(['serve'])).json).toMatchObject({ token });
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    expect(readFileSync(log, 'utf8')).not.toContain(token);
  } finally {
    child.kill('SIGKILL');
    await ended;
    closeSync(handle);
  }
});
