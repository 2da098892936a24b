// A desktop app under test: a separate data folder, a scripted model, and the driver. Can restart with the same folder.

import { readdir, readFile, readlink } from 'node:fs/promises';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { ConfigInput } from '../../core/contracts/config.ts';
import type { Claw } from '../../core/contracts/claw.ts';
import { findInstance } from '../../core/doors/http/http.ts';
import { ScriptedModel, type Answer } from '../doubles/scripted-model.ts';
import type { Desk, DesktopDriver } from '../electron/driver/desktop-driver.ts';
import { announceDriver, openDesktop } from '../electron/driver/open-desktop.ts';
import { prepareFolder, scriptedConfig } from './host/served-host.ts';

export const panicKeys = 'CommandOrControl+Alt+Shift+Escape';
const actionWithinMs = 30_000;
const waitMs = { timeout: 20_000, interval: 20 };

export interface DesktopOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly config?: ConfigInput;
  readonly files?: Readonly<Record<string, string>>;
  /** The text of config.yaml, instead of a configuration object. */
  readonly configText?: string;
}

export class DesktopUnderTest {
  readonly home: string;
  readonly model: ScriptedModel;
  #driver: DesktopDriver | null = null;
  #page: Page | null = null;
  #replies: Answer[] = [];
  readonly #options: DesktopOptions;

  private constructor(home: string, model: ScriptedModel, options: DesktopOptions) {
    this.home = home;
    this.model = model;
    this.#options = options;
  }

  /** Prepares the app without starting it. */
  static async prepare(options: DesktopOptions = {}): Promise<DesktopUnderTest> {
    announceDriver();
    const home = mkdtempSync(join(tmpdir(), 'tcd-'));
    const model = await ScriptedModel.start();
    const app = new DesktopUnderTest(home, model, options);
    model.script([{ answer: () => app.#replies.shift() ?? { text: 'Done.' } }]);
    prepareFolder(home, options.files === undefined ? {} : { files: options.files }, { ...scriptedConfig(model), ...options.config });
    if (options.configText !== undefined) writeFileSync(join(home, 'config.yaml'), options.configText);
    return app;
  }

  static async start(options: DesktopOptions = {}): Promise<DesktopUnderTest> {
    const app = await DesktopUnderTest.prepare(options);
    try {
      await app.launch();
      await app.usable();
      return app;
    } catch (cause) {
      await app.close();
      throw cause;
    }
  }

  get driver(): DesktopDriver {
    if (this.#driver === null) throw new Error('the app was not started');
    return this.#driver;
  }

  get page(): Page {
    if (this.#page === null) throw new Error('the app shows no page');
    return this.#page;
  }

  /** Queues answers of the model, one per request. */
  reply(...replies: readonly Answer[]): void {
    this.#replies.push(...replies);
  }

  async launch(options: Pick<DesktopOptions, 'env' | 'args'> = this.#options): Promise<void> {
    const { env, args } = options;
    this.#driver = await openDesktop({ home: this.home, ...(env && { env }), ...(args && { args }) });
    this.#page = null;
  }

  /** Waits for a page, whatever its content. */
  async pageShows(): Promise<void> {
    this.#page = await this.driver.page();
    this.#page.setDefaultTimeout(actionWithinMs);
  }

  /** Waits until the window accepts text. */
  async usable(): Promise<void> {
    await this.pageShows();
    await this.message.waitFor();
  }

  async close(): Promise<void> {
    await this.#driver?.kill();
    await this.model.close();
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Quits in order; resolves to the exit code. */
  async quit(): Promise<number | null> {
    await this.driver.quit();
    const code = await this.driver.exited;
    await this.driver.kill();
    return code;
  }

  get message(): Locator {
    return this.page.getByRole('textbox', { name: 'Message', exact: true });
  }

  get conversation(): Locator {
    return this.page.getByRole('log', { name: 'Conversation' });
  }

  get approval(): Locator {
    return this.page.getByRole('group', { name: 'Approval needed' });
  }

  get banner(): Locator {
    return this.page.getByText('Everything is stopped.', { exact: true });
  }

  async send(text: string): Promise<void> {
    await this.message.fill(text);
    await this.message.press('Enter');
  }

  /** Sends a message in the current session through another door than the window, for what happens in the background. */
  async sendBehind(text: string): Promise<void> {
    const claw = await this.claw();
    const { sessions } = await claw.op('session.list', { limit: 1 });
    const [latest] = sessions;
    await claw.op('message.send', { text, ...(latest && { sessionId: latest.sessionId }) });
  }

  async expectSaid(text: string): Promise<void> {
    await this.conversation.getByText(text, { exact: true }).waitFor();
  }

  /** Waits until the simulated desktop has the wanted state. */
  async deskShows<T>(look: (desk: Desk) => T, wanted: T): Promise<void> {
    await expect.poll(async () => look(await this.driver.desk()), waitMs).toEqual(wanted);
  }

  /** The runtime inside the app, as other processes reach it. */
  async claw(): Promise<Claw> {
    const instance = await findInstance(this.home);
    if (instance === null) throw new Error('no instance is running');
    return instance.claw;
  }

  readFile(path: string): string | null {
    try {
      return readFileSync(join(this.home, path), 'utf8');
    } catch {
      // The file does not exist.
      return null;
    }
  }
}

/**
 * The number of processes with exactly this command line that run in the folder: another run of the same test starts the same command
 * elsewhere.
 */
export async function commandsRunning(line: string, { home }: DesktopUnderTest): Promise<number> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  // A process that has ended meanwhile does not count.
  const look = async (id: string): Promise<boolean> => {
    const command = await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '');
    if (command.replaceAll('\0', ' ').trim() !== line) return false;
    return (await readlink(`/proc/${id}/cwd`).catch(() => '')).startsWith(home);
  };
  return (await Promise.all(ids.map(look))).filter(Boolean).length;
}
