// Starting the tray app: no program, a downloadable program, and programs that run, end, fail or are interrupted.

import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { desktopArguments, launchDesktop, type LaunchOptions } from './desktop-launcher.ts';
import { findElectron } from './electron-binary.ts';

interface Place {
  readonly root: string;
  readonly home: string;
  readonly said: string[];
  readonly options: LaunchOptions;
  put(path: string, content: string, mode?: number): void;
  read(path: string): string;
  launch(changes?: Partial<LaunchOptions>): ReturnType<typeof launchDesktop>;
}

function place(): Place {
  const root = mkdtempSync(join(tmpdir(), 'trayclaw-launch-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const said: string[] = [];
  const home = join(root, 'home');
  const options: LaunchOptions = {
    root,
    home,
    env: { PATH: process.env['PATH'], DISPLAY: ':1' },
    platform: 'linux',
    isRoot: false,
    packaged: null,
    nowMs: () => 1_800_000_000_000,
    say: (line) => said.push(line),
    onNoSandbox: () => said.push('no sandbox'),
    onInterrupt: () => () => undefined,
  };
  const put = (path: string, content: string, mode = 0o644): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
    chmodSync(join(root, path), mode);
  };
  put('dist/desktop.js', '');
  return {
    root,
    home,
    said,
    options,
    put,
    read: (path) => readFileSync(join(root, path), 'utf8'),
    launch: (changes) => launchDesktop({ ...options, ...changes }),
  };
}

const program = 'node_modules/electron/dist/electron';
const installer = 'node_modules/electron/install.js';

function installed(script: string): Place {
  const at = place();
  at.put(program, `#!/bin/sh\n${script}\n`, 0o755);
  at.put('node_modules/electron/path.txt', 'electron');
  return at;
}

test('says whether the program, the installer, the build or the display is missing', async () => {
  const at = place();
  expect(await at.launch()).toEqual({ kind: 'missing', why: 'Electron is not installed' });
  expect(await at.launch({ env: {} })).toEqual({ kind: 'missing', why: 'there is no display' });
  rmSync(join(at.root, 'dist'), { recursive: true });
  expect(await at.launch()).toEqual({ kind: 'missing', why: 'this installation has no desktop app' });
  expect(at.said).toEqual([]);
});

test('ignores a program that was only partly unpacked', () => {
  const at = place();
  at.put(program, '');
  expect(findElectron(at.root, {}, 'linux')).toBeNull();
  at.put('node_modules/electron/path.txt', 'electron');
  const own = { binary: join(at.root, program), folder: join(at.root, 'node_modules/electron/dist') };
  expect(findElectron(at.root, {}, 'linux')).toEqual(own);
  const other = { ELECTRON_OVERRIDE_DIST_PATH: join(at.root, 'other') };
  expect(findElectron(at.root, other, 'linux')).toEqual(own);
  at.put('other/electron', '');
  expect(findElectron(at.root, other, 'linux')).toEqual({ binary: join(at.root, 'other/electron'), folder: join(at.root, 'other') });
});

test('retries a failed download once a day, and never in tests or on build servers', async () => {
  const at = place();
  at.put(
    installer,
    `require('node:fs').appendFileSync(${JSON.stringify(join(at.root, 'tries'))}, 'x'); console.error('Error: no way there\\n  at x'); process.exit(1);`,
  );
  for (const name of ['CI', 'VITEST', 'ELECTRON_SKIP_BINARY_DOWNLOAD'])
    expect(await at.launch({ env: { ...at.options.env, [name]: '1' } })).toEqual({ kind: 'missing', why: 'Electron is not installed' });
  expect(await at.launch()).toEqual({ kind: 'missing', why: 'Electron could not be fetched (no way there)' });
  expect(await at.launch()).toEqual({ kind: 'missing', why: 'Electron could not be fetched today' });
  expect(at.said).toEqual(['Fetching Electron from github.com, which is done once.']);
  const tomorrow = (): number => at.options.nowMs() + 86_400_000;
  expect(await at.launch({ nowMs: tomorrow })).toEqual({ kind: 'missing', why: 'Electron could not be fetched (no way there)' });
  expect(at.read('tries')).toBe('xx');
});

test('starts a program it has just downloaded', async () => {
  const at = place();
  const folder = join(at.root, 'node_modules/electron');
  at.put(
    installer,
    `const fs = require('node:fs'); fs.mkdirSync(${JSON.stringify(`${folder}/dist`)});
     fs.writeFileSync(${JSON.stringify(join(at.root, program))}, '#!/bin/sh\\nexit 0\\n', { mode: 0o755 });
     fs.writeFileSync(${JSON.stringify(`${folder}/path.txt`)}, 'electron');`,
  );
  expect(await at.launch()).toEqual({ kind: 'ended', code: 0 });
});

test('passes the app and data folder, never runs as plain Node, returns the exit code', async () => {
  const at = installed('printf "%s\\n" "$@" "run-as-node:$ELECTRON_RUN_AS_NODE" > "$TOLD"; exit 7');
  const told = join(at.root, 'told');
  const env = { ...at.options.env, TOLD: told, ELECTRON_RUN_AS_NODE: '1' };
  expect(await at.launch({ env })).toEqual({ kind: 'ended', code: 7 });
  expect(at.read('told').trim().split('\n')).toEqual([join(at.root, 'dist/desktop.js'), `--home=${at.home}`, 'run-as-node:']);
});

test('disables the sandbox only for the superuser, and says so when a program starts', async () => {
  expect(await place().launch({ isRoot: true })).toMatchObject({ kind: 'missing' });
  const at = installed('exit 0');
  await at.launch();
  expect(at.said).toEqual([]);
  await at.launch({ isRoot: true });
  expect(at.said).toEqual(['no sandbox']);
  expect(desktopArguments('/app/desktop.js', { home: '/h', isRoot: false, packaged: null })).toEqual(['/app/desktop.js', '--home=/h']);
  expect(desktopArguments('/app/desktop.js', { home: '/h', isRoot: true, packaged: null })).toEqual([
    '--no-sandbox',
    '/app/desktop.js',
    '--home=/h',
  ]);
});

test.each(['exit 127', 'kill -TRAP $$', 'kill -SEGV $$'])('treats a program that cannot run here (%s) as missing', async (script) => {
  expect(await installed(script).launch()).toEqual({ kind: 'missing', why: 'Electron does not run on this machine' });
});

test('treats a file that is not executable as a missing program', async () => {
  const at = installed('exit 0');
  chmodSync(join(at.root, program), 0o644);
  expect(await at.launch()).toEqual({ kind: 'missing', why: 'Electron does not run on this machine' });
});

test('an interrupt ends the program and is not reported as a failure', async () => {
  const at = installed('trap "exit 0" TERM; : > "$READY"; while :; do sleep 0.05; done');
  const ready = join(at.root, 'ready');
  let stops = 0;
  const ended = await at.launch({
    env: { ...at.options.env, READY: ready },
    onInterrupt: (listener) => {
      const look = setInterval(() => {
        try {
          readFileSync(ready);
        } catch {
          // The program has not started yet.
          return;
        }
        clearInterval(look);
        listener();
      }, 5);
      return () => (stops += 1);
    },
  });
  expect([ended, stops]).toEqual([{ kind: 'ended', code: 0 }, 1]);
});

const untilReady = (file: string, then: () => void): void => {
  const look = setInterval(() => {
    if (!existsSync(file)) return;
    clearInterval(look);
    then();
  }, 5);
};

test('on Windows an interrupt is passed on by a second start, not by a signal', async () => {
  // The program exits with 0 only if a second start asks it to; a signal would make it exit with 9.
  const at = installed(
    'case "$*" in *--quit) echo "$*" > "$READY.asked"; exit 0;; esac; trap "exit 9" TERM; : > "$READY"; until [ -e "$READY.asked" ]; do sleep 0.05; done',
  );
  at.put('node_modules/electron/dist/electron.exe', at.read(program), 0o755);
  const ready = join(at.root, 'ready');
  const ended = await at.launch({
    platform: 'win32',
    env: { ...at.options.env, READY: ready },
    onInterrupt: (listener) => {
      untilReady(ready, listener);
      return () => undefined;
    },
  });
  expect(ended).toEqual({ kind: 'ended', code: 0 });
  expect(at.read('ready.asked')).toBe(`${join(at.root, 'dist', 'desktop.js')} --home=${at.home} --quit\n`);
});
