// The `trayclaw` command of an installed app: which program it starts, with exactly the given arguments, and where the packages put it.

import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { packagingConfig } from '../../build/electron-builder.mjs';
import { commandLineOf } from '../../main/desktop-flags.ts';
import { projectRoot } from './fixture-tree.ts';
import { needs } from '../needs.ts';

const source = join(projectRoot, 'build/command/trayclaw');
const odd = ['ask', 'two words', "it's", 'a "quote"', '$HOME `id` \\', '', '--renderer-cmd-prefix=x', '*', '--', 'ü', 'line\nbreak'];

interface Installed {
  readonly file: string;
  readonly folder: string;
  run(file: string, path?: string): { argv: string[]; code: number | null };
}

/** Laid out like the package, with a program that prints how it was started and exits with 7. */
function installed(program: string, file: string): Installed {
  const folder = join(realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-command-'))), 'with space');
  onTestFinished(() => rmSync(dirname(folder), { recursive: true }));
  const put = (path: string): string => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    return join(folder, path);
  };
  const said = join(folder, 'said.json');
  const show = `require("fs").writeFileSync(process.env.SAID, JSON.stringify(process.argv.slice(1)))`;
  writeFileSync(put(program), `#!/bin/sh\n"${process.execPath}" -e '${show}' -- "$0" "$@"\nexit 7\n`, { mode: 0o755 });
  copyFileSync(source, put(file));
  return {
    file: join(folder, file),
    folder,
    run: (started, path = process.env['PATH'] ?? '') => {
      const { status } = spawnSync(started, odd, { env: { PATH: path, SAID: said }, encoding: 'utf8' });
      return { code: status, argv: JSON.parse(readFileSync(said, 'utf8')) as string[] };
    },
  };
}

/** Fakes `uname` and `id` to simulate another machine. */
function machine(folder: string, system: string, user: number): string {
  const bin = join(folder, 'bin-of-machine');
  mkdirSync(bin);
  writeFileSync(join(bin, 'uname'), `#!/bin/sh\necho ${system}\n`, { mode: 0o755 });
  writeFileSync(join(bin, 'id'), `#!/bin/sh\necho ${user}\n`, { mode: 0o755 });
  return `${bin}:${process.env['PATH'] ?? ''}`;
}

const linux = ['trayclaw-desktop', 'resources/bin/trayclaw'] as const;

test.each([
  ['Linux', 1000, linux, ['--ozone-platform=headless']],
  ['Linux', 0, linux, ['--no-sandbox', '--ozone-platform=headless']],
  ['Darwin', 501, ['Contents/MacOS/TrayClaw', 'Contents/Resources/bin/trayclaw'], []],
] as const)(
  'on %s as user %i the app gets every word as it is, and its exit code counts',
  needs('a Unix system'),
  (system, user, [program, file], flags) => {
    const app = installed(program, file);
    const path = machine(app.folder, system, user);
    const { argv, code } = app.run(app.file, path);
    expect([code, argv.slice(1)]).toEqual([7, [...flags, '--cli', '--', ...odd]]);
    expect(realpathSync(argv[0] ?? '')).toBe(join(app.folder, program));
    expect(commandLineOf(argv, '/no/script')).toEqual(odd);
    // As a link in the PATH, which is how it is installed on macOS.
    symlinkSync(app.file, join(app.folder, 'trayclaw'));
    expect(app.run(join(app.folder, 'trayclaw'), path).argv.slice(1)).toEqual(argv.slice(1));
  },
);

test('every package contains the command, and those of Linux put it into the PATH', () => {
  const { linux: onLinux, mac, win, deb, rpm } = packagingConfig(projectRoot, {});
  const file = [{ from: 'build/command/trayclaw', to: 'bin/trayclaw' }];
  expect([onLinux?.extraResources, mac?.extraResources]).toEqual([file, file]);
  expect(win?.extraResources).toEqual([{ from: 'build/command/trayclaw.cmd', to: 'bin/trayclaw.cmd' }]);
  expect([deb?.fpm, rpm?.fpm]).toEqual([[`${source}=/usr/bin/trayclaw`], [`${source}=/usr/bin/trayclaw`]]);
  expect(statSync(source).mode & 0o111).toBe(0o111);
});

test('the Windows command starts the app in its folder and keeps its exit code', () => {
  const lines = readFileSync(`${source}.cmd`, 'utf8').split('\r\n');
  expect(lines.filter((line) => !line.startsWith('rem '))).toEqual([
    '@echo off',
    '"%~dp0..\\..\\TrayClaw.exe" --cli -- %*',
    'exit /b %ERRORLEVEL%',
    '',
  ]);
});
