// Drives the app on the stand-in: one child process for the app, its control channel, and a second connection to its Chromium.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type Page } from 'playwright-core';
import type * as Electron from 'electron';
import type { Actions } from '../stand-in/control.ts';
import type { ForeignSender } from '../stand-in/web-contents.ts';
import type { Desk, DesktopDriver, StartOptions } from './desktop-driver.ts';
import { compileCache } from '../../compile-cache.ts';

const runApp = fileURLToPath(new URL('../stand-in/run-app.ts', import.meta.url));
const builtMain = fileURLToPath(new URL('../../../dist/desktop.js', import.meta.url));
const projectRoot = fileURLToPath(new URL('../../../', import.meta.url));
const PAGE_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 20;
const ERROR_OUTPUT_MAX = 16_000;

type Answered<K extends keyof Actions> = Awaited<ReturnType<Actions[K]>>;

export class StandInDriver implements DesktopDriver {
  readonly kind = 'stand-in';
  readonly exited: Promise<number | null>;
  readonly #child: ChildProcess;
  readonly #options: StartOptions;
  readonly #waits = new Map<number, { resolve(value: unknown): void; reject(cause: Error): void }>();
  #browser: Promise<Browser> | null = null;
  /** The crashed page; its replacement is another page of the browser. */
  #crashed: Page | null = null;
  #lastId = 0;
  #errorOutput = '';

  private constructor(options: StartOptions) {
    this.#options = options;
    this.#child = launch(options, options.args ?? []);
    this.exited = once(this.#child, 'exit').then(([code]) => {
      for (const wait of this.#waits.values()) wait.reject(new Error(`the app ended: ${this.#errorOutput}`));
      this.#waits.clear();
      return code as number | null;
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errorOutput = (this.#errorOutput + text).slice(-ERROR_OUTPUT_MAX);
    });
    this.#child.on('message', (message: { id: number; value?: unknown; error?: string }) => {
      const wait = this.#waits.get(message.id);
      this.#waits.delete(message.id);
      if (message.error === undefined) wait?.resolve(message.value);
      else wait?.reject(new Error(message.error));
    });
  }

  static start(options: StartOptions): StandInDriver {
    return new StandInDriver(options);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get errorOutput(): string {
    return this.#errorOutput;
  }

  desk(): Promise<Desk> {
    return this.#call('desk');
  }

  async page(): Promise<Page> {
    const deadlineMs = performance.now() + PAGE_WITHIN_MS;
    while (performance.now() < deadlineMs) {
      const [context] = (await this.#connect())?.contexts() ?? [];
      const page = context?.pages().findLast((one) => one !== this.#crashed && /^http:\/\/[^/]+\.app\.localhost\//.test(one.url()));
      if (page !== undefined) return page;
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
    throw new Error(`the app showed no page in time: ${this.#errorOutput}`);
  }

  async clickTray(): Promise<void> {
    await this.#call('clickTray');
  }

  clickMenu(id: string): Promise<boolean> {
    return this.#call('clickMenu', id);
  }

  async answerDialog(button: string): Promise<boolean> {
    const open = (await this.desk()).dialogs.find((one) => one.buttons.includes(button));
    return open !== undefined && (await this.#call('answerDialog', open.id, button));
  }

  async dismissDialog(): Promise<boolean> {
    const [open] = (await this.desk()).dialogs;
    return open !== undefined && (await this.#call('dismissDialog', open.id));
  }

  async clickNotification(index: number): Promise<void> {
    await this.#call('clickNotification', index);
  }

  actOnNotification(index: number, action: string): Promise<boolean> {
    return this.#call('actOnNotification', index, action);
  }

  async failNotification(index: number): Promise<void> {
    await this.#call('failNotification', index);
  }

  pressKeys(accelerator: string): Promise<boolean> {
    return this.#call('pressKeys', accelerator);
  }

  async power(event: 'suspend' | 'resume' | 'shutdown'): Promise<void> {
    await this.#call('power', event);
  }

  async dark(isDark: boolean): Promise<void> {
    await this.#call('dark', isDark);
  }

  async secondInstance(args: readonly string[]): Promise<number | null> {
    const second = launch(this.#options, args);
    const [code] = (await once(second, 'exit')) as [number | null];
    return code;
  }

  async window(call: 'close' | 'minimize' | 'blur' | 'focus' | 'show'): Promise<void> {
    await this.#call('window', call);
  }

  async crashPage(): Promise<void> {
    this.#crashed = await this.page();
    await this.#call('crashPage');
  }

  async sendAs(channel: string, args: readonly unknown[], from: ForeignSender): Promise<unknown> {
    const reply = await this.#call('sendAs', channel, [...args], from);
    if (reply === undefined) throw new Error('there is no window to send from');
    if ('error' in reply) throw new Error(reply.error);
    return reply.body;
  }

  permission(name: string): Promise<boolean> {
    return this.#call('permission', name);
  }

  evaluate<R, A>(work: (electron: typeof Electron, argument: A) => R | Promise<R>, argument: A): Promise<R> {
    return this.#call('evaluate', work.toString(), argument) as Promise<R>;
  }

  async quit(): Promise<void> {
    await this.#call('quit');
  }

  async kill(): Promise<void> {
    await this.#browser?.then((browser) => browser.close()).catch(() => undefined);
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await this.exited;
  }

  #call<K extends keyof Actions>(action: K, ...args: Parameters<Actions[K]>): Promise<Answered<K>> {
    return new Promise((resolve, reject) => {
      const id = (this.#lastId += 1);
      this.#waits.set(id, { resolve: (value) => resolve(value as Answered<K>), reject });
      this.#child.send({ id, action, args }, (cause) => {
        if (cause !== null) reject(new Error(`the app is gone: ${this.#errorOutput}`));
      });
    });
  }

  async #connect(): Promise<Browser | null> {
    if (this.#browser !== null) return this.#browser;
    const { chromium: running } = await this.desk();
    const address = running?.address ?? null;
    if (address === null) return null;
    this.#browser ??= chromium.connectOverCDP(address);
    return this.#browser;
  }
}

function launch({ home, env = {}, main = builtMain }: StartOptions, args: readonly string[]): ChildProcess {
  const inherited = Object.fromEntries(['PATH', 'DISPLAY', 'TRAYCLAW_CHROMIUM', 'TRAYCLAW_SHOWN'].map((name) => [name, process.env[name]]));
  return spawn(process.execPath, [runApp, main, `--home=${home}`, ...args], {
    cwd: projectRoot,
    // Without a bus, the keychain of the person who runs the specs is never used.
    env: { ...inherited, HOME: home, DBUS_SESSION_BUS_ADDRESS: 'disabled:', ...compileCache, ...env },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
}
