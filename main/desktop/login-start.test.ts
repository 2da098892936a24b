// Starting at login: through the system's setting where one exists, otherwise through the autostart file and its Exec line.

import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { LoginItemSettingsOptions, Settings } from 'electron';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { RecordingLogger } from '../../tests/rigs/desktop-bench.ts';
import { createLoginStart, mendLoginStart, trySetLoginStart, type LoginStartOptions } from './login-start.ts';

function rig(changes: Partial<LoginStartOptions> = {}) {
  const userHome = mkdtempSync(join(tmpdir(), 'trayclaw-login-'));
  onTestFinished(() => rmSync(userHome, { recursive: true }));
  const said: (Settings | LoginItemSettingsOptions | undefined)[] = [];
  let openAtLogin = false;
  const disabled = { is: false };
  const app = {
    getLoginItemSettings: (asked?: LoginItemSettingsOptions) => {
      said.push(asked);
      const system = { wasOpenedAtLogin: false, status: 'enabled' as const, launchItems: [] };
      return { ...system, openAtLogin, executableWillLaunchAtLogin: openAtLogin && !disabled.is };
    },
    setLoginItemSettings: (settings: Settings) => {
      said.push(settings);
      openAtLogin = settings.openAtLogin === true;
    },
  };
  const login = createLoginStart({ app, platform: 'linux', env: {}, userHome, execPath: '/opt/trayclaw/trayclaw', args: [], ...changes });
  const file = join(userHome, '.config', 'autostart', 'io.trayclaw.TrayClaw.desktop');
  return { login, said, file, userHome, disabled, app };
}

/**
 * The command that a desktop runs for an Exec line: undoes the string escapes of the format, the quoting of the key, then %% (Desktop Entry
 * Specification 1.5).
 */
function readExec(value: string): string[] {
  const escapes: Readonly<Record<string, string>> = { s: ' ', n: '\n', t: '\t', r: '\r', '\\': '\\' };
  const text = value.replaceAll(/\\(.)/g, (_all, char: string) => escapes[char] ?? `\\${char}`);
  const words = text.match(/"(?:\\.|[^"\\])*"|[^ "]+/gs) ?? [];
  return words.map((word) => {
    const plain = word.startsWith('"') ? word.slice(1, -1).replaceAll(/\\(["`$\\])/g, '$1') : word;
    return plain.replaceAll(/%(.)/g, (all, code: string) => {
      if (code !== '%') throw new Error(`${all} is a field code`);
      return '%';
    });
  });
}

function execOf(file: string): string {
  const line = readFileSync(file, 'utf8')
    .split('\n')
    .find((one) => one.startsWith('Exec='));
  return line?.slice('Exec='.length) ?? '';
}

test('on macOS the system stores the setting', () => {
  const { login, said } = rig({ platform: 'darwin' });
  expect(login?.isOn()).toBe(false);
  login?.set(true);
  expect(login?.isOn()).toBe(true);
  login?.set(false);
  expect(said).toEqual([undefined, { openAtLogin: true }, undefined, { openAtLogin: false }]);
});

test('on macOS an app that needs arguments cannot start at login', () => {
  expect(rig({ platform: 'darwin', args: ['--home=/data'] }).login).toBeNull();
});

test('on Windows the system stores the setting, queried with the command it starts', () => {
  const { login, said } = rig({ platform: 'win32', execPath: 'C:\\My Apps\\TrayClaw.exe', args: ['--home=C:\\My Data'] });
  // Electron quotes the arguments itself, and the path as well, which it reads up to a space if it has no quotes.
  const item = { path: '"C:\\My Apps\\TrayClaw.exe"', args: ['--home=C:\\My Data', '--background'] };
  expect(login?.isOn()).toBe(false);
  login?.set(true);
  expect(login?.isOn()).toBe(true);
  login?.set(false);
  expect(said).toEqual([item, { ...item, openAtLogin: true }, item, { ...item, openAtLogin: false }]);
});

test('on Windows an entry that the Task Manager disabled is off', () => {
  const { login, disabled } = rig({ platform: 'win32' });
  login?.set(true);
  disabled.is = true;
  expect(login?.isOn()).toBe(false);
});

test('returns null on an unsupported system', () => {
  expect(rig({ platform: 'freebsd' }).login).toBeNull();
});

test('on Linux a file is created and removed', () => {
  const { login, file } = rig();
  expect(login?.isOn()).toBe(false);
  login?.set(true);
  expect([login?.isOn(), statSync(file).mode & 0o777, readFileSync(file, 'utf8')]).toEqual([
    true,
    0o644,
    '[Desktop Entry]\nType=Application\nName=TrayClaw\nExec=/opt/trayclaw/trayclaw --background\nTerminal=false\nHidden=false\n',
  ]);
  login?.set(false);
  login?.set(false);
  expect([login?.isOn(), existsSync(file)]).toEqual([false, false]);
});

test.each(['Hidden=true', 'X-GNOME-Autostart-enabled=false'])('%s is recognised as switched off by the desktop', (line) => {
  const { login, file } = rig();
  login?.set(true);
  writeFileSync(file, readFileSync(file, 'utf8').replace('Hidden=false', line));
  expect(login?.isOn()).toBe(false);
  login?.set(true);
  expect(login?.isOn()).toBe(true);
});

test('ignores XDG_CONFIG_HOME unless it is absolute', () => {
  const { userHome } = rig();
  const inside = rig({ env: { XDG_CONFIG_HOME: join(userHome, 'settings') } });
  inside.login?.set(true);
  expect(existsSync(join(userHome, 'settings', 'autostart', 'io.trayclaw.TrayClaw.desktop'))).toBe(true);
  const relative = rig({ env: { XDG_CONFIG_HOME: 'settings' } });
  relative.login?.set(true);
  expect(existsSync(relative.file)).toBe(true);
});

test('starts an AppImage by its file, which has a stable path', () => {
  const { login, file } = rig({ env: { APPIMAGE: '/home/me/TrayClaw.AppImage' }, execPath: '/tmp/.mount_x/trayclaw' });
  login?.set(true);
  expect(readExec(execOf(file))).toEqual(['/home/me/TrayClaw.AppImage', '--background']);
});

test('spaces, percent signs and shell characters survive the Exec line', () => {
  const { login, file } = rig({ execPath: '/opt/My Apps/100% "claw" $HOME `x` \\ é', args: ["--home=/data/it's mine"] });
  login?.set(true);
  expect(execOf(file)).toBe('"/opt/My Apps/100%% \\\\"claw\\\\" \\\\$HOME \\\\`x\\\\` \\\\\\\\ é" "--home=/data/it\'s mine" --background');
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme', minLength: 1 }), { minLength: 1, maxLength: 4 }), (words) => {
      const [execPath = '', ...args] = words.map((word) => word.replaceAll('\0', ''));
      fc.pre(execPath !== '' && args.every((word) => word !== ''));
      const one = rig({ execPath, args });
      one.login?.set(true);
      expect(readExec(execOf(one.file))).toEqual([execPath, ...args, '--background']);
    }),
    { numRuns: 200 },
  );
});

test('a folder that cannot be written is logged and changes nothing', () => {
  const { userHome } = rig();
  writeFileSync(join(userHome, 'plain'), '');
  chmodSync(join(userHome, 'plain'), 0o600);
  const { login } = rig({ env: { XDG_CONFIG_HOME: join(userHome, 'plain') } });
  const logger = new RecordingLogger();
  trySetLoginStart(login, true, logger);
  expect([login?.isOn(), logger.lines]).toEqual([false, ['warn: starting at login could not be changed']]);
  trySetLoginStart(null, true, logger);
  expect(logger.lines).toHaveLength(1);
});

test.each(['TrayClaw-0.1.0.AppImage', 'My `Apps` $1 "100%"\\TrayClaw.AppImage'])('a moved AppImage starts at login again: %s', (name) => {
  const logger = new RecordingLogger();
  const { login, file, userHome, app } = rig({ env: { APPIMAGE: '/nowhere' } });
  const at = (path: string): string[] => {
    const moved = createLoginStart({ app, platform: 'linux', env: { APPIMAGE: path }, userHome, execPath: '/mounted', args: [] });
    mendLoginStart(moved, logger);
    return existsSync(file) ? readExec(execOf(file)).slice(0, 1) : [];
  };
  const there = join(userHome, name);
  mkdirSync(dirname(there), { recursive: true });
  writeFileSync(there, '');
  expect(at(there)).toEqual([]);
  login?.set(true);
  expect([at(there), at('/elsewhere')]).toEqual([[there], [there]]);
  rmSync(there);
  expect(at('/elsewhere')).toEqual(['/elsewhere']);
  writeFileSync(file, readFileSync(file, 'utf8').replace('Hidden=false', 'Hidden=true'));
  expect([at('/other'), logger.lines]).toEqual([['/elsewhere'], []]);
});
