import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { needs } from '../../../tests/needs.ts';
import { until } from '../../../tests/until.ts';
import type { ToolDefinition } from '../../contracts/tools.ts';
import { startSystemdMachine } from '../../../tests/rigs/systemd-machine.ts';
import { createToolBench } from '../../../tests/rigs/tool-bench.ts';
import { createI2c, createSpi } from './buses.ts';
import type { KnownRun, RunKnown } from './run-known.ts';
import { createJournal, createSystemd } from './services.ts';

const bench = createToolBench();
afterAll(() => bench.dispose());
const doubles = fileURLToPath(new URL('../../../tests/doubles/buses/', import.meta.url));
const signal = { signal: new AbortController().signal };

/** Runs the program for real, after a wrapper that creates the device files. */
const behind =
  (...before: readonly string[]): RunKnown =>
  async ({ argv, input, encoding = 'utf8', context, timeoutMs }: KnownRun) => {
    const [file = '', ...args] = [...before, ...argv];
    const child = spawn(file, args, { cwd: context.workspace });
    child.stdin.on('error', () => undefined).end(input);
    let isLate = false;
    const limit = setTimeout(() => (isLate = child.kill()), timeoutMs);
    const [out, errors, [status]] = (await Promise.all([buffer(child.stdout), buffer(child.stderr), once(child, 'close')])) as [
      Buffer,
      Buffer,
      [number | null],
    ];
    clearTimeout(limit);
    const output = encoding === 'hex' ? out.toString('hex') : `${out.toString()}${errors.toString()}`;
    return { ending: isLate ? 'timeout' : 'exited', exitCode: status, output, remarks: [] };
  };

function add(tool: ToolDefinition): void {
  bench.host.register(tool);
}
const say = async (tool: string, args: Readonly<Record<string, unknown>>): Promise<string> =>
  (await bench.call(tool, args, signal)).forModel;
function factsOf(tool: string, args: Readonly<Record<string, unknown>>) {
  const parsed = bench.host.parse(tool, JSON.stringify(args));
  if (!parsed.ok) return parsed.error.message;
  const { class: kind, command, paths, risks } = parsed.value.tool.facts(parsed.value.args, bench.context());
  return { kind, line: command?.line ?? null, paths: paths.length, risks };
}

test('reports systemctl without a bus, and a timeout that leaves the change open', async () => {
  const context = bench.context();
  const none = 'Failed to connect to bus: No medium found\n';
  const args = { action: 'is-active', unit: 'nginx.service', user: true };
  const unreachable = createSystemd(() => Promise.resolve({ ending: 'exited', exitCode: 1, output: none, remarks: [] }));
  await expect(unreachable.run(args, context)).rejects.toThrow(/^systemctl could not tell: Failed to connect to bus/);
  const late = createSystemd(() => Promise.resolve({ ending: 'timeout', exitCode: null, output: '', remarks: [] }));
  await expect(late.run({ ...args, action: 'restart' }, context)).rejects.toThrow(
    'systemctl did not end within 90 s, and was stopped. systemd may still do it: look at the status of the unit.',
  );
});

test('reads units freely, and asks with the exact command to change one', async () => {
  const ran: string[] = [];
  const units = '[{"unit":"a.service","load":"loaded","active":"failed","sub":"failed","description":"The A"}]';
  add(
    createSystemd(({ argv }) => {
      ran.push(argv.slice(1).join(' '));
      const isList = argv.includes('list-units');
      const isGone = argv.includes('gone.service');
      return Promise.resolve({
        ending: 'exited',
        exitCode: isGone ? 5 : argv.includes('is-active') ? 3 : 0,
        output: isList ? units : isGone ? 'Unit gone.service not found.' : 'inactive\n',
        remarks: [],
      });
    }),
  );
  for (const action of ['list', 'failed']) expect(factsOf('systemd', { action })).toMatchObject({ kind: 'read', line: null });
  for (const action of ['status', 'is-active'])
    expect(factsOf('systemd', { action, unit: 'nginx' })).toMatchObject({ kind: 'read', line: null, paths: 0 });
  // The file of a unit may hold keys.
  expect(factsOf('systemd', { action: 'cat', unit: 'nginx' })).toMatchObject({ kind: 'read', line: null, paths: 1 });
  const changed = ['start', 'stop', 'restart', 'reload', 'enable', 'disable', 'mask', 'unmask', 'reset-failed'];
  expect(changed.map((action) => factsOf('systemd', { action, unit: 'nginx', user: true }))).toEqual(
    changed.map((action) =>
      expect.objectContaining({ kind: 'exec', line: `systemctl --user --no-pager --no-ask-password ${action} -- nginx.service` }),
    ),
  );
  for (const unit of ['-H=evil', 'a b', '../x', 'x;y', '$(id)', ''])
    expect(factsOf('systemd', { action: 'stop', unit })).toMatch(/must be the name of a unit/);
  expect(factsOf('systemd', { action: 'stop' })).toMatch(/stop needs it/);
  expect(await say('systemd', { action: 'failed' })).toBe('a.service failed (failed): The A');
  expect(await say('systemd', { action: 'is-active', unit: 'nginx' })).toBe('nginx.service is inactive.');
  expect(await say('systemd', { action: 'restart', unit: 'backup.timer' })).toBe('Done: restart backup.timer. inactive');
  expect(await say('systemd', { action: 'start', unit: 'gone' })).toMatch(/ended with code 5: Unit gone\.service not found/);
  expect(ran.at(-1)).toBe('--no-pager --no-ask-password start -- gone.service');
});

const unitOf = (description: string, command: string): string =>
  `[Unit]\nDescription=${description}\nDefaultDependencies=no\n[Service]\nExecStart=${command}\n[Install]\nWantedBy=base.target\n`;
const ownSystemd = { ...needs('systemd and root on Linux, able to make namespaces'), timeout: 90_000 };

test('real systemd: lists, reads, starts, stops, enables and masks units, reads logs', ownSystemd, async () => {
  const machine = await startSystemdMachine({
    'sleeper.service': unitOf('A sleeper', "/bin/sh -c 'echo awake; exec sleep 600'"),
    'broken.service': unitOf('A broken one', "/bin/sh -c 'echo no disk >&2; exit 3'"),
  });
  onTestFinished(() => machine.dispose());
  add(createSystemd(behind(...machine.inside)));
  add(createJournal(behind(...machine.inside)));
  const does = (action: string, name?: string): Promise<string> => say('systemd', name === undefined ? { action } : { action, unit: name });
  const link = join(machine.units, 'base.target.wants/sleeper.service');
  const isEnabled = (): boolean => lstatSync(link, { throwIfNoEntry: false }) !== undefined;

  expect(await does('is-active', 'sleeper')).toBe('sleeper.service is inactive.');
  expect(await does('start', 'sleeper')).toBe('Done: start sleeper.service.');
  expect(await does('list')).toMatch(/^sleeper\.service active \(running\): A sleeper$/m);
  expect(await does('cat', 'sleeper')).toMatch(/^# \/etc\/systemd\/system\/sleeper\.service\n\[Unit\]\nDescription=A sleeper$/m);
  const before = await does('status', 'sleeper');
  expect(before).toMatch(/^ActiveState=active$/m);
  expect(await does('restart', 'sleeper')).toBe('Done: restart sleeper.service.');
  const after = await does('status', 'sleeper');
  const idIn = (status: string): string => /^MainPID=(\d+)$/m.exec(status)?.[1] ?? '';
  expect([idIn(before), idIn(after)]).toEqual([expect.stringMatching(/^[1-9]/), expect.not.stringMatching(idIn(before))]);

  expect([await does('enable', 'sleeper'), isEnabled()]).toEqual([expect.stringMatching(/^Done: enable .* Created symlink/), true]);
  expect(await does('status', 'sleeper')).toMatch(/^UnitFileState=enabled$/m);
  expect([await does('disable', 'sleeper'), isEnabled()]).toEqual([expect.stringMatching(/^Done: disable .* Removed/), false]);
  expect(await does('stop', 'sleeper')).toBe('Done: stop sleeper.service.');
  expect(await does('is-active', 'sleeper')).toBe('sleeper.service is inactive.');
  expect(await does('reload', 'sleeper')).toMatch(/ended with code 3: .*Job type reload is not applicable/);

  await does('start', 'broken');
  await until(async () => (await does('failed')) !== 'No unit.', 'the broken unit has failed');
  expect(await does('failed')).toBe('broken.service failed (failed): A broken one');
  expect(await does('status', 'broken')).toMatch(
    /^Result=exit-code$[\s\S]*^ExecMainStatus=3$|^ExecMainStatus=3$[\s\S]*^Result=exit-code$/m,
  );
  expect([await does('reset-failed', 'broken'), await does('failed')]).toEqual(['Done: reset-failed broken.service.', 'No unit.']);
  expect(await does('mask', 'gone')).toMatch(/^Done: mask gone\.service\./);
  expect(await does('start', 'gone')).toMatch(/ended with code 1: .*gone\.service is masked/);
  expect(await does('unmask', 'gone')).toMatch(/^Done: unmask gone\.service\./);
  expect(await does('start', 'gone')).toMatch(/ended with code 5: .*gone\.service not found/);
  expect(await does('cat', 'gone')).toMatch(/ended with code 1: .*gone\.service/);

  expect(await say('journal', { unit: 'sleeper', grep: 'awake' })).toMatch(/ sleeper\.service\[\d+\] info: awake$/);
  expect(await say('journal', { unit: 'broken', lines: 2, priority: 'warning' })).toMatch(
    / broken\.service\[1\] warning: broken\.service: Failed with result 'exit-code'\.$/,
  );
});

test('says that the person cannot see the whole journal', needs('a journal writer'), async () => {
  const hint = "Hint: You are currently not seeing messages from other users and the system.\n      Users in groups 'adm' can see all.\n";
  const own = '{"MESSAGE":"mine","__REALTIME_TIMESTAMP":"1800000000000000","_SYSTEMD_UNIT":"x.service"}\n';
  const said = 'journalctl said: Hint: You are currently not seeing messages from other users and the system. Users in groups';
  let output = hint + own;
  const seen: string[][] = [];
  add(
    createJournal(({ argv }) => {
      seen.push([...argv]);
      return Promise.resolve({ exitCode: 0, output, ending: 'exited', remarks: [] });
    }),
  );
  expect(await say('journal', {})).toMatch(new RegExp(`^2027-01-15T08:00:00.000Z x.service info: mine\n${said}`));
  output = hint;
  expect(await say('journal', {})).toMatch(new RegExp(`^No entries.\n${said}`));
  // With --quiet journalctl would not print the hint.
  expect(seen.flat()).not.toContain('--quiet');
});

test('the journal asks, is private and untrusted, and refuses injected options', needs('a journal writer'), async () => {
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-journal-'));
  const entry = (at: number, unit: string, priority: number, message: string): string =>
    [
      `__REALTIME_TIMESTAMP=${1_800_000_000_000_000 + at}`,
      `__MONOTONIC_TIMESTAMP=${at}`,
      '_BOOT_ID=f0000000000000000000000000000001',
      `PRIORITY=${priority}`,
      `_SYSTEMD_UNIT=${unit}`,
      '_PID=7',
      `MESSAGE=${message}`,
      '',
      '',
    ].join('\n');
  const written = spawnSync('/lib/systemd/systemd-journal-remote', ['-o', join(folder, 'x.journal'), '-'], {
    input: entry(1, 'nginx.service', 6, 'started') + entry(2, 'nginx.service', 3, 'disk full') + entry(3, 'cron.service', 3, 'other'),
  });
  expect(written.status).toBe(0);
  add(createJournal(behind(), ['-D', folder]));
  expect(factsOf('journal', { unit: 'nginx' })).toMatchObject({ kind: 'read', paths: 1 });
  expect(await say('journal', { unit: 'nginx' })).toBe(
    '2027-01-15T08:00:00.000Z nginx.service[7] info: started\n2027-01-15T08:00:00.000Z nginx.service[7] err: disk full',
  );
  expect(await say('journal', { priority: 'err', lines: 1 })).toMatch(/cron\.service\[7\] err: other$/);
  expect(await say('journal', { unit: 'nothing' })).toBe('No entries.');
  const following = say('journal', { unit: 'nginx', followSeconds: 2 });
  await sleep(500);
  const more = entry(9, 'nginx.service', 4, 'while it is followed');
  expect(spawnSync('/lib/systemd/systemd-journal-remote', ['-o', join(folder, 'y.journal'), '-'], { input: more }).status).toBe(0);
  expect((await following).split('\n').map((line) => line.replace(/^.*: /, ''))).toEqual(['started', 'disk full', 'while it is followed']);
  expect(await say('journal', { unit: 'nothing', followSeconds: 1 })).toBe('No entries.');
  expect((await bench.call('journal', {}, signal)).untrusted).toEqual([{ kind: 'command', where: 'journal' }]);
  expect(factsOf('journal', { since: '--file=/etc/shadow\n' })).toMatch(/must be a time/);
  rmSync(folder, { recursive: true });
});

const wrapped = { ...needs('i2c and spi tools, and umockdev'), timeout: 60_000 };

test('i2c reads and writes through the standard program and asks for every access', wrapped, async () => {
  add(createI2c(behind('umockdev-wrapper', '/usr/bin/python3', join(doubles, 'i2c-double.py'))));
  expect(await say('i2c', { action: 'detect', bus: 9 })).toMatch(/40: .* 48 /);
  expect(await say('i2c', { action: 'read', bus: 9, address: '0x48', register: 0, length: 2 })).toMatch(/^0x15 0x60/);
  expect(await say('i2c', { action: 'write', bus: 9, address: 72, register: 1, bytes: ['0x20'] })).toBe(
    'Written: write 0x20 to 0x48 on i2c bus 9, register 0x01.',
  );
  expect(await say('i2c', { action: 'read', bus: 9, address: '0x50', register: 0 })).toMatch(/No such device or address/);
});

test('i2c and spi enforce their bounds', () => {
  add(createI2c(behind()));
  add(createSpi(behind()));
  expect(factsOf('i2c', { action: 'list' })).toMatchObject({ kind: 'read', line: null });
  expect(factsOf('i2c', { action: 'write', bus: 1, address: '0x48', register: 1, bytes: [2, 255] })).toEqual({
    kind: 'hardware',
    line: 'i2ctransfer -y 1 w3@0x48 0x01 0x02 0xff',
    paths: 0,
    risks: ['It changes the device at 0x48 of bus 1; a wrong value can damage what is attached.'],
  });
  for (const args of [
    { address: 7 },
    { address: '0x78' },
    { address: '48; rm' },
    { bus: 256 },
    { bus: -1 },
    { bytes: [256] },
    { bytes: [] },
    { bytes: Array.from({ length: 257 }, () => 0) },
  ]) {
    const refusal = factsOf('i2c', { action: 'write', bus: 1, address: 72, bytes: [1], ...args });
    expect(typeof refusal).toBe('string');
    expect(refusal).toMatch(/\w/);
  }
  expect(factsOf('spi', { action: 'transfer', bus: 0, bytes: [1, 2] })).toMatchObject({
    kind: 'hardware',
    line: 'spi-pipe --device=/dev/spidev0.0 --blocksize=2 --number=1 0x01 0x02',
  });
  expect(factsOf('spi', { action: 'transfer', bus: 0 })).toMatch(/transfer needs it/);
});

test('spi sends bytes and receives the same number', wrapped, async () => {
  add(createSpi(behind('umockdev-wrapper', '/usr/bin/python3', join(doubles, 'spi-double.py'))));
  expect(await say('spi', { action: 'transfer', bus: 0, bytes: ['0x01', 255, 16] })).toBe('Received: 0x02 0x00 0x11');
});
