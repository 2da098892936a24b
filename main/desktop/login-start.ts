// Starts the app in the background when the person logs in: through the system's own setting on macOS and Windows, through a file in the
// autostart folder on Linux (freedesktop.org Desktop Application Autostart Specification 0.5).

import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { makeFolders } from '../../core/base/make-folders.ts';
import type { App } from 'electron';
import type { Logger } from '../../core/base/logger.ts';

export interface LoginStart {
  isOn(): boolean;
  /** Throws the file system's error if the file cannot be written. */
  set(isOn: boolean): void;
  /** True if the program that is to start was moved or removed, such as an AppImage. */
  isBroken?(): boolean;
}

export interface LoginStartOptions {
  readonly app: Pick<App, 'getLoginItemSettings' | 'setLoginItemSettings'>;
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly userHome: string;
  /** The program to start, and its script in a checkout. */
  readonly execPath: string;
  readonly args: readonly string[];
}

export const backgroundFlag = '--background';

/** Null on an unsupported system. */
export function createLoginStart(options: LoginStartOptions): LoginStart | null {
  const { app, platform, execPath, args } = options;
  if (platform === 'linux') return new AutostartFile(options);
  if (platform === 'win32') {
    // Electron quotes what it writes. It compares the path up to the first space, unless the path is quoted.
    const item = { path: `"${execPath}"`, args: [...args, backgroundFlag] };
    return {
      isOn: () => {
        const { openAtLogin, executableWillLaunchAtLogin } = app.getLoginItemSettings(item);
        // The Task Manager disables an entry instead of removing it.
        return openAtLogin && executableWillLaunchAtLogin;
      },
      set: (isOn) => app.setLoginItemSettings({ ...item, openAtLogin: isOn }),
    };
  }
  // macOS starts an installed app, and passes it no arguments: neither a script nor another data folder.
  if (platform !== 'darwin' || args.length > 0) return null;
  return {
    isOn: () => app.getLoginItemSettings().openAtLogin,
    set: (isOn) => app.setLoginItemSettings({ openAtLogin: isOn }),
  };
}

/** A moved program starts at login again, from where it is now. */
export function mendLoginStart(login: LoginStart | null, logger: Logger): void {
  if (login?.isOn() === true && login.isBroken?.() === true) trySetLoginStart(login, true, logger);
}

/** Changes the setting after a click. A failure is only logged; the caller then shows the actual state. */
export function trySetLoginStart(login: LoginStart | null, isOn: boolean, logger: Logger): void {
  try {
    login?.set(isOn);
  } catch (cause) {
    logger.log('warn', 'starting at login could not be changed', { cause: String(cause) });
  }
}

class AutostartFile implements LoginStart {
  readonly #folder: string;
  readonly #file: string;
  readonly #command: string;

  constructor({ env, userHome, execPath, args }: LoginStartOptions) {
    const config = env['XDG_CONFIG_HOME'];
    this.#folder = join(config !== undefined && isAbsolute(config) ? config : join(userHome, '.config'), 'autostart');
    this.#file = join(this.#folder, 'io.trayclaw.TrayClaw.desktop');
    // An AppImage is mounted in a different folder at each start; only the AppImage file itself has a stable path.
    const program = env['APPIMAGE'] ?? execPath;
    this.#command = [program, ...args, backgroundFlag].map(quoteExec).join(' ');
  }

  isOn(): boolean {
    const entry = this.#read();
    // Desktops disable an entry with these keys instead of removing the file. Without the file, the app does not start at login.
    return entry !== null && entry('Hidden') !== 'true' && entry('X-GNOME-Autostart-enabled') !== 'false';
  }

  isBroken(): boolean {
    const command = this.#read()?.('Exec') ?? this.#command;
    return command !== this.#command && !existsSync(programOf(command));
  }

  #read(): ((key: string) => string | undefined) | null {
    try {
      const lines = readFileSync(this.#file, 'utf8').split('\n');
      return (key) =>
        lines
          .find((line) => line.startsWith(`${key}=`))
          ?.slice(key.length + 1)
          .trim();
    } catch {
      return null;
    }
  }

  set(isOn: boolean): void {
    if (!isOn) {
      rmSync(this.#file, { force: true });
      return;
    }
    makeFolders({ mkdirSync, statSync }, this.#folder);
    const lines = ['[Desktop Entry]', 'Type=Application', 'Name=TrayClaw', `Exec=${this.#command}`, 'Terminal=false', 'Hidden=false', ''];
    writeFileSync(this.#file, lines.join('\n'), { mode: 0o644 });
  }
}

/** Quotes a word for the Exec key (Desktop Entry Specification 1.5): double quotes, and %% for a percent sign. */
function quoteExec(word: string): string {
  const safe = word.replaceAll('%', '%%');
  return /^[A-Za-z0-9_@+=:,./%-]+$/.test(safe)
    ? safe
    : `"${safe
        .replaceAll(/[\\"`$]/g, '\\$&')
        .replaceAll('\\', '\\\\')
        .replaceAll('\n', '\\n')
        .replaceAll('\r', '\\r')}"`;
}

/** The first word of an Exec key, with the quoting of `quoteExec` undone. */
function programOf(command: string): string {
  const text = command.replaceAll(/\\([nr\\])/g, (_all, letter) => ({ n: '\n', r: '\r' })[String(letter)] ?? '\\');
  const [, quoted, plain] = /^(?:"((?:\\.|[^"\\])*)"|([^\s"]+))/s.exec(text) ?? [];
  return (quoted?.replaceAll(/\\([\\"`$])/g, '$1') ?? plain ?? '').replaceAll('%%', '%');
}
