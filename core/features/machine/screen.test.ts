// Screenshots: on a real X display with the real programs if available, and by argument lists for the other desktops.

import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createToolBench } from '../../../tests/rigs/tool-bench.ts';
import { needs } from '../../../tests/needs.ts';
import { findProgram } from '../../hands/tools/tools.ts';
import type { RunKnown } from './run-known.ts';
import { createScreenshot, takingOf, type Desktop } from './screen.ts';

const bench = createToolBench();
afterAll(() => bench.dispose());

const desktop = (platform: NodeJS.Platform, environment: Record<string, string> = {}, programs: readonly string[] = []): Desktop => ({
  platform,
  environment,
  find: (program) => (programs.includes(program) ? `/usr/bin/${program}` : null),
});
const x11 = { DISPLAY: ':0' };
const wayland = { WAYLAND_DISPLAY: 'wayland-0', DISPLAY: ':0' };

test.each([
  ['macOS, screen', 'screen', desktop('darwin'), 'screencapture -x -t png {file}'],
  ['macOS, window', 'window', desktop('darwin'), 'screencapture -x -t png -o -w {file}'],
  ['Windows, window', 'window', desktop('win32'), null],
  ['X11 with maim', 'screen', desktop('linux', x11, ['maim']), 'maim'],
  ['X11 with maim, window', 'window', desktop('linux', x11, ['maim']), 'maim -s -t 9999999'],
  ['X11 with nothing', 'screen', desktop('linux', x11), 'import -window root png:-'],
  ['X11 with nothing, window', 'window', desktop('linux', x11), 'import png:-'],
  ['X11 with GNOME', 'window', desktop('linux', x11, ['gnome-screenshot']), 'gnome-screenshot -w -f {file}'],
  ['Wayland with grim', 'screen', desktop('linux', wayland, ['grim']), 'grim -'],
  ['Wayland with grim, window', 'window', desktop('linux', wayland, ['grim']), null],
  ['Wayland with GNOME', 'screen', desktop('linux', wayland, ['gnome-screenshot']), 'gnome-screenshot -f {file}'],
  ['no screen', 'screen', desktop('linux', {}, ['maim']), null],
] as const)('%s', (_name, of, where, line) => {
  expect(takingOf(of, where)?.argv.join(' ') ?? null).toBe(line);
});

test('on Windows the script saves only to the file', () => {
  const argv = takingOf('screen', desktop('win32'))?.argv ?? [];
  expect(argv.slice(0, 4)).toEqual(['powershell', '-NoProfile', '-NonInteractive', '-Command']);
  expect(argv[4]).toContain("$p.Save('{file}'");
});

test('asks for each picture, says what it shows and offers no wider grant', () => {
  const tool = createScreenshot(() => Promise.reject(new Error('not run')), desktop('linux', x11, ['maim']));
  const facts = tool.facts({ of: 'screen' }, bench.context());
  expect(facts).toMatchObject({ class: 'credential', does: 'Takes a picture of your whole screen', hosts: [], paths: [] });
  expect(facts.risks).toEqual(['The model sees everything that is visible there: messages, names, open documents.']);
  expect([tool.isPrivate, tool.isSearched]).toEqual([true, undefined]);
});

test('hides the tool from models without a screen, and a call says why', async () => {
  const tool = createScreenshot(() => Promise.reject(new Error('not run')), desktop('linux'));
  expect(tool.isSearched).toBe(true);
  await expect(Promise.resolve(tool.run({ of: 'screen' }, bench.context()))).rejects.toThrow('There is no screen here.');
});

const options = { ...needs('maim and a virtual screen'), timeout: 60_000 };

async function startScreen(): Promise<string> {
  const server: ChildProcess = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '320x200x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  onTestFinished(async () => {
    server.kill();
    await once(server, 'exit');
  });
  const pipe = server.stdio[3];
  if (pipe === null || pipe === undefined || !('read' in pipe)) throw new Error('no pipe');
  const [number] = (await once(pipe, 'data')) as [Buffer];
  return `:${number.toString().trim()}`;
}

test('takes a picture of a real screen', options, async () => {
  const environment = { DISPLAY: await startScreen() };
  // Only the variables that the tool sets lead the program to the screen.
  const run: RunKnown = ({ argv: [file = '', ...args], encoding, sets }) => {
    const { status, stdout, stderr } = spawnSync(file, args, { env: { PATH: process.env['PATH'], ...sets } });
    const output = encoding === 'hex' ? stdout.toString('hex') : `${stdout.toString()}${stderr.toString()}`;
    return Promise.resolve({ ending: 'exited', exitCode: status, output, remarks: [] });
  };
  bench.host.register(createScreenshot(run, { platform: 'linux', environment, find: findProgram }));
  const { artifacts, forModel, untrusted } = await bench.call('screenshot', {});
  expect(forModel).toContain('Took a picture of the screen.');
  expect(untrusted).toEqual([{ kind: 'file', where: 'a picture of the screen' }]);
  const bytes = Buffer.from(bench.artifacts.read(artifacts[0]?.sha256 ?? ''));
  expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([320, 200]);
});
