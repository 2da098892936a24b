// Entry point of the desktop app: applies the settings Electron needs before it is ready, then starts the parts, or with --cli the command
// line. The only file that imports Electron.

import fs, { mkdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as electron from 'electron';
import { makeFolders } from '../core/base/make-folders.ts';
import { AppError } from '../core/contracts/errors.ts';
import { resolveHome } from '../core/store/home/home.ts';
import { appScheme } from './desktop/app-protocol.ts';
import { linkScheme } from './desktop/deep-link.ts';
import { DesktopApp } from './desktop/desktop-app.ts';
import { settleHome } from './settled-home.ts';
import { commandLineOf, packagedCommand, quitFlag } from './desktop-flags.ts';
import { seeOnlyOwnArchive } from './own-archive.ts';

const { app, protocol } = electron;
// Before anything reads a file of the person.
if (app.isPackaged) {
  seeOnlyOwnArchive(fs, createRequire(import.meta.url)('original-fs') as typeof fs, app.getAppPath());
  syncBuiltinESMExports();
} else process.noAsar = true;
settleHome(process.env, homedir);
const packageRoot = fileURLToPath(new URL('../', import.meta.url));
const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string };
const script = fileURLToPath(import.meta.url);
const commandLine = commandLineOf(process.argv, script);

// Electron becomes ready once this module has run to its end. So the app must not wait for that here, and a command, which needs no part of
// Chromium, is over before any starts.
if (commandLine === null) startDesktop();
else await runCommandLine(commandLine);

function startDesktop(): void {
  const home = resolveHome(app.commandLine.getSwitchValue('home'), {
    env: process.env,
    cwd: process.cwd(),
    platform: process.platform,
    userFolder: homedir(),
  });

  app.setName('TrayClaw');
  app.setAppUserModelId('io.trayclaw.desktop');
  keepProfileIn(join(home, 'run', 'electron'));
  // The call would undo the switch after Chromium's zygote has started without a sandbox: then no page could start.
  if (!app.commandLine.hasSwitch('no-sandbox')) app.enableSandbox();
  protocol.registerSchemesAsPrivileged([appScheme]);

  const isFirst = app.requestSingleInstanceLock();
  if (process.argv.includes(quitFlag)) {
    // The single-instance request has notified the first instance; without one there is nothing to quit.
    app.exit(0);
  } else if (isFirst) {
    // In a checkout the program is Electron itself, which needs the script as an argument.
    if (app.isPackaged) app.setAsDefaultProtocolClient(linkScheme);
    else app.setAsDefaultProtocolClient(linkScheme, process.execPath, [script]);
    const desktop = new DesktopApp({ electron, home, version, packageRoot, temporaryFolder: tmpdir() });
    desktop.listen();
    void app.whenReady().then(() => desktop.start());
  } else {
    // The first instance brings its window to the front.
    app.quit();
  }
}

/** Keeps Chromium's own files in the data folder too, including the lock that makes the app run once per data folder. */
function keepProfileIn(folder: string): void {
  try {
    // Electron takes no folder that does not exist.
    makeFolders({ mkdirSync, statSync }, folder);
    app.setPath('userData', folder);
  } catch {
    // The runtime needs the same folder, and says in a box why it cannot be used.
  }
}

/** Takes no lock, shows no tray icon, leaves no profile of Chromium, and ends the program with the exit code of the command. */
async function runCommandLine(argv: readonly string[]): Promise<void> {
  if (process.platform === 'darwin') app.dock?.hide();
  // Electron handles the signals that end a program; this passes them on to the command.
  app.on('before-quit', (event) => {
    event.preventDefault();
    process.emit('SIGTERM');
  });
  if (argv[0] === '__complete') {
    const { complete } = await import('./complete.ts');
    return complete(argv.slice(1));
  }
  const { runProcess } = await import('./cli-process.ts');
  const packaged = app.isPackaged ? { command: packagedCommand(process.execPath, process.env, process.platform === 'linux') } : {};
  await runProcess(argv, {
    version,
    packageRoot: new URL('../', import.meta.url),
    startChild: () => {
      // Electron starts a utility process only when it is ready, and its program runs no script as Node would.
      throw new AppError('model_unavailable', 'A model from a file needs the running app.', { hint: 'Start TrayClaw, then do it again.' });
    },
    ...packaged,
  });
}
