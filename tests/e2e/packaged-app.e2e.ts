// The packaged app: electron-builder packs it around a placeholder for Electron's binary, and the result is extracted from the archive and
// run on the stand-in, far from the checkout and its node_modules.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { extractAll, extractFile, listPackage, statFile } from '@electron/asar';
import { build } from 'electron-builder';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { linuxExecutable, packagingConfig } from '../../build/electron-builder.mjs';
import { projectRoot } from '../check/fixture-tree.ts';
import { packedList } from '../check/packed-list.ts';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { StandInDriver } from '../electron/driver/stand-in-driver.ts';
import { prepareFolder, scriptedConfig } from './host/served-host.ts';
import { needs } from '../needs.ts';

const onLinux = needs('Linux');

/** As in a new binary: the marker, the layout's version, the number of fuses, and one character per fuse. */
const fusesAsShipped = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX\u0001\u0009101100110';

const folder = mkdtempSync(join(tmpdir(), 'packaged-'));
const unpackedApp = join(folder, 'out', process.arch === 'x64' ? 'linux-unpacked' : `linux-${process.arch}-unpacked`);
const resources = join(unpackedApp, 'resources');
const archive = join(resources, 'app.asar');
const app = join(folder, 'app');

beforeAll(async () => {
  const placeholder = join(folder, 'electron');
  for (const part of ['resources', 'locales']) mkdirSync(join(placeholder, part), { recursive: true });
  for (const own of ['resources/default_app.asar', 'version']) writeFileSync(join(placeholder, own), '');
  writeFileSync(join(placeholder, 'electron'), `before ${fusesAsShipped} after`);
  await build({
    projectDir: projectRoot,
    publish: 'never',
    dir: true,
    linux: [],
    config: {
      ...packagingConfig(projectRoot, {}),
      electronDist: placeholder,
      directories: { buildResources: 'build', output: join(folder, 'out') },
    },
  });
  extractAll(archive, app);
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the archive contains the listed files, and native code is next to it', onLinux, () => {
  const files = listPackage(archive, { isPack: false })
    .map((path) => path.slice(1))
    .filter((path) => !('files' in statFile(archive, path)));
  expect(files.sort()).toEqual([...packedList('linux', process.arch).keys()].sort());
  const unpacked = files.filter((path) => (statFile(archive, path) as { unpacked?: boolean }).unpacked === true);
  // Another program runs the scripts of skills, and skills are read from their folder, so both are outside the archive.
  expect(unpacked.filter((path) => path.startsWith('skills/')).length).toBeGreaterThanOrEqual(12);
  expect(unpacked.filter((path) => !path.startsWith('skills/'))).toEqual([
    'node_modules/@anthropic-ai/sandbox-runtime/vendor/java-proxy-agent/srt-proxy-agent.jar',
    `node_modules/@lydell/node-pty-linux-${process.arch}/package.json`,
    `node_modules/@lydell/node-pty-linux-${process.arch}/pty.node`,
    `node_modules/better-sqlite3/prebuilds/linux-${process.arch}.node`,
    `node_modules/keytar/prebuilds/linux-${process.arch}/keytar.node`,
    `node_modules/sqlite-vec-linux-${process.arch}/package.json`,
    `node_modules/sqlite-vec-linux-${process.arch}/vec0.so`,
  ]);
  const { main, desktopName, devDependencies } = JSON.parse(extractFile(archive, 'package.json').toString()) as Record<string, unknown>;
  expect([main, desktopName, devDependencies]).toEqual(['dist/desktop.js', 'io.trayclaw.TrayClaw.desktop', undefined]);
  expect(['resources/default_app.asar', 'version'].filter((own) => existsSync(join(unpackedApp, own)))).toEqual([]);
  expect(readFileSync(join(resources, 'app-update.yml'), 'utf8')).toBe(
    'provider: generic\nurl: https://trayclaw.invalid/\nupdaterCacheDirName: trayclaw-updater\n',
  );
});

test('the fuses are set in the binary', onLinux, () => {
  const binary = readFileSync(join(unpackedApp, linuxExecutable), 'latin1');
  expect(binary).toBe(`before ${fusesAsShipped.slice(0, 34)}000011001 after`);
});

test('every module that is not bundled loads from the package and works', onLinux, () => {
  const script = `
    import Database from 'better-sqlite3';
    import { spawn } from '@lydell/node-pty';
    import { Worker } from 'node:worker_threads';
    import { SandboxManager } from '@anthropic-ai/sandbox-runtime';
    const row = new Database(':memory:').prepare('select 6 * 7 as answer').get();
    const terminal = spawn('/bin/echo', ['from a terminal'], {});
    let text = '';
    terminal.onData((part) => { text += part; });
    await new Promise((resolve) => terminal.onExit(resolve));
    const thread = new Worker(new URL('./page-worker.js', import.meta.url), { workerData: { kind: 'json', text: '{"a":1}' } });
    const pretty = await new Promise((resolve, reject) => thread.once('message', resolve).once('error', reject));
    console.log(JSON.stringify([row.answer, text.trim(), typeof SandboxManager.initialize, pretty]));
    // The keychain addon must be packed even if the desktop's keychain library is missing.
    await import('keytar').catch((cause) => { if (!/libsecret/.test(String(cause.message))) throw cause; });
  `;
  const file = join(app, 'dist', 'try.mjs');
  writeFileSync(file, script);
  const { stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8', cwd: folder, timeout: 20_000 });
  expect([stdout, stderr]).toEqual(['[42,"from a terminal","function","{\\n  \\"a\\": 1\\n}"]\n', '']);
});

test('the app starts, shows its window and answers', onLinux, async () => {
  const home = mkdtempSync(join(tmpdir(), 'tcd-'));
  const model = await ScriptedModel.start([{ answer: { text: 'From the package.' } }]);
  prepareFolder(home, {}, scriptedConfig(model));
  const driver = StandInDriver.start({ home, main: join(app, 'dist', 'desktop.js') });
  onTestFinished(async () => {
    await driver.kill();
    await model.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  });
  const page = await driver.page();
  const message = page.getByRole('textbox', { name: 'Message', exact: true });
  await message.fill('Hello');
  await message.press('Enter');
  await page.getByRole('log', { name: 'Conversation' }).getByText('From the package.', { exact: true }).waitFor();
  await driver.quit();
  expect(await driver.exited).toBe(0);
});

test('with --cli it is the command line: arguments, streams and exit codes', onLinux, () => {
  const home = mkdtempSync(join(tmpdir(), 'tcd-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));
  const runApp = join(projectRoot, 'tests/electron/stand-in/run-app.ts');
  const cli = (args: readonly string[], input = '') => {
    const env = { PATH: process.env['PATH'], HOME: home, TRAYCLAW_HOME: join(home, 'data'), DBUS_SESSION_BUS_ADDRESS: 'disabled:' };
    const words = [runApp, join(app, 'dist', 'desktop.js'), '--ozone-platform=headless', '--cli', '--', ...args];
    return spawnSync(process.execPath, words, { encoding: 'utf8', cwd: home, env, input, timeout: 40_000 });
  };
  const { version } = JSON.parse(extractFile(archive, 'package.json').toString()) as { version: string };
  expect(cli(['--version'])).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: '' });
  const doctor = cli(['doctor', '--json']);
  expect(JSON.parse(doctor.stdout)).toMatchObject({
    checks: expect.arrayContaining([expect.objectContaining({ id: 'model' })]) as unknown,
  });
  expect([0, 1]).toContain(doctor.status);
  expect(cli(['nosuch', '--json'])).toMatchObject({ status: 2, stdout: expect.stringContaining('invalid_params') as string });
  expect(cli(['safety', 'redact'], 'plain words')).toMatchObject({ status: 0, stdout: expect.stringContaining('plain words') as string });
  expect(cli(['ask', 'list the files', '--json', '--home', join(home, 'other')])).toMatchObject({ status: 0 });
  // It took no app lock and left no Chromium profile.
  expect(readdirSync(join(home, 'data', 'run'), { withFileTypes: true }).map(({ name }) => name)).not.toContain('electron');
});
