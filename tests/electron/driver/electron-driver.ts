// Drives real Electron through Playwright. Playwright cannot operate what the system draws, so dialogs, tray and notifications are recorded
// by replacing their calls in the main process, as Playwright's documentation shows for dialogs.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { _electron, type ElectronApplication, type Page } from 'playwright-core';
import type * as Electron from 'electron';
import type { Desk, DesktopDriver, StartOptions } from './desktop-driver.ts';
import { actOnNative, installHooks, readDesk, type NativeAct } from './electron-hooks.ts';

const builtMain = fileURLToPath(new URL('../../../dist/desktop.js', import.meta.url));
const projectRoot = fileURLToPath(new URL('../../../', import.meta.url));
const ERROR_OUTPUT_MAX = 16_000;

export class ElectronDriver implements DesktopDriver {
  readonly kind = 'electron';
  readonly exited: Promise<number | null>;
  readonly #binary: string;
  readonly #options: StartOptions;
  readonly #app: ElectronApplication;
  #errorOutput = '';

  private constructor(binary: string, options: StartOptions, app: ElectronApplication) {
    this.#binary = binary;
    this.#options = options;
    this.#app = app;
    const child = app.process();
    this.exited = once(child, 'exit').then(([code]) => code as number | null);
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errorOutput = (this.#errorOutput + text).slice(-ERROR_OUTPUT_MAX);
    });
  }

  static async start(binary: string, options: StartOptions): Promise<ElectronDriver> {
    const app = await _electron.launch({
      executablePath: binary,
      args: argumentsOf(options, options.args ?? []),
      cwd: projectRoot,
      env: environmentOf(options),
    });
    const driver = new ElectronDriver(binary, options, app);
    await app.evaluate(installHooks, null);
    return driver;
  }

  get pid(): number {
    return this.#app.process().pid ?? 0;
  }

  get errorOutput(): string {
    return this.#errorOutput;
  }

  desk(): Promise<Desk> {
    return this.#app.evaluate(readDesk, null);
  }

  page(): Promise<Page> {
    return this.#app.firstWindow();
  }

  async clickTray(): Promise<void> {
    await this.#act({ kind: 'click-tray' });
  }

  clickMenu(id: string): Promise<boolean> {
    return this.#act({ kind: 'click-menu', id });
  }

  answerDialog(button: string): Promise<boolean> {
    return this.#act({ kind: 'answer-dialog', button });
  }

  dismissDialog(): Promise<boolean> {
    return this.#act({ kind: 'dismiss-dialog' });
  }

  async clickNotification(index: number): Promise<void> {
    await this.#act({ kind: 'click-notification', index });
  }

  actOnNotification(index: number, action: string): Promise<boolean> {
    return this.#act({ kind: 'act-on-notification', index, action });
  }

  async failNotification(index: number): Promise<void> {
    await this.#act({ kind: 'fail-notification', index });
  }

  pressKeys(accelerator: string): Promise<boolean> {
    return this.#act({ kind: 'press-keys', accelerator });
  }

  async power(event: 'suspend' | 'resume' | 'shutdown'): Promise<void> {
    await this.#app.evaluate(({ powerMonitor }, name) => powerMonitor.emit(name, { preventDefault: () => undefined }), event);
  }

  async dark(isDark: boolean): Promise<void> {
    await this.#app.evaluate(
      ({ nativeTheme }, source) => void (nativeTheme.themeSource = source),
      isDark ? ('dark' as const) : ('light' as const),
    );
  }

  async secondInstance(args: readonly string[]): Promise<number | null> {
    const env = environmentOf(this.#options);
    const second = spawn(this.#binary, argumentsOf(this.#options, args), { cwd: projectRoot, env, stdio: 'ignore' });
    const [code] = (await once(second, 'exit')) as [number | null];
    return code;
  }

  async window(call: 'close' | 'minimize' | 'blur' | 'focus' | 'show'): Promise<void> {
    await this.#app.evaluate(({ BrowserWindow }, name) => BrowserWindow.getAllWindows()[0]?.[name](), call);
  }

  async crashPage(): Promise<void> {
    await this.#app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.webContents.forcefullyCrashRenderer(), null);
  }

  sendAs(): Promise<unknown> {
    return Promise.reject(new Error('Electron lets nobody choose who a message comes from; use a window of its own.'));
  }

  permission(): Promise<boolean> {
    return Promise.reject(new Error('Electron lets nobody ask in the name of a page; the page itself has to ask.'));
  }

  evaluate<R, A>(work: (electron: typeof Electron, argument: A) => R | Promise<R>, argument: A): Promise<R> {
    return this.#app.evaluate(work as never, argument as never);
  }

  async quit(): Promise<void> {
    // Delayed, so that the answer to this call is sent first.
    await this.#app.evaluate(({ app }) => void setImmediate(() => app.quit()), null);
  }

  async kill(): Promise<void> {
    const child = this.#app.process();
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await this.exited;
  }

  #act(act: NativeAct): Promise<boolean> {
    return this.#app.evaluate(actOnNative, act);
  }
}

function argumentsOf({ home, main = builtMain }: StartOptions, args: readonly string[]): string[] {
  // Chromium's sandbox refuses to run as root.
  const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
  return [...(isRoot ? ['--no-sandbox'] : []), main, `--home=${home}`, ...args];
}

function environmentOf({ home, env = {} }: StartOptions): Record<string, string> {
  const inherited = ['PATH', 'DISPLAY', 'WAYLAND_DISPLAY', 'XDG_RUNTIME_DIR'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(inherited), HOME: home, DBUS_SESSION_BUS_ADDRESS: 'disabled:', ...env };
}
