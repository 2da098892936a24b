// The app as a whole: starts the runtime and the parts of the shell in order, passes on the system's messages, and shuts all of it down.
// The parts do their own work.

import { join } from 'node:path';
import type * as Electron from 'electron';
import { systemClock } from '../../core/base/clock.ts';
import { Lifetimes } from '../../core/base/disposable.ts';
import type { Logger } from '../../core/base/logger.ts';
import { createTrayClaw } from '../../core/compose.ts';
import type { HostedClaw } from '../../core/contracts/claw.ts';
import type { Finding } from '../../core/contracts/health.ts';
import { firstUses } from '../../core/runtime/upkeep/upkeep.ts';
import { toAppError } from '../../core/contracts/errors.ts';
import type { Caller } from '../../core/contracts/ops.ts';
import { InstanceDoor } from '../../core/doors/http/http.ts';
import { createFileLogger } from '../file-logger.ts';
import { followTimeZone } from '../time-zone.ts';
import { guardAgainstCrashes } from './crash-guard.ts';
import { quitFlag } from '../desktop-flags.ts';
import { linkAmong, placeOfLink } from './deep-link.ts';
import { boxPlace, createParts, type Parts } from './desktop-parts.ts';
import { startUtility } from './start-utility.ts';
import { StatusWatch } from './desktop-status.ts';
import { backgroundFlag } from './login-start.ts';
import { showBox } from './message-box.ts';
import { panicKeysCheck } from './panic-keys.ts';
import { followPower } from './power.ts';
import { redactedLog } from './redacted-log.ts';
import { updatesCheck } from './updates.ts';
import { workAhead } from './work-ahead.ts';

export interface DesktopAppOptions {
  readonly electron: typeof Electron;
  readonly home: string;
  readonly version: string;
  readonly packageRoot: string;
  readonly temporaryFolder: string;
}

const systemCaller: Caller = { channel: 'tray', actor: 'the end of the session' };

export class DesktopApp {
  readonly #options: DesktopAppOptions;
  readonly #electron: typeof Electron;
  readonly #fileLog: Logger;
  readonly #logger: Logger;
  readonly #lifetimes = new Lifetimes();
  #parts: Parts | null = null;
  /** A link that arrived before there was anything to show. */
  #firstLink: string | null = null;
  #quitting: 'no' | 'closing' | 'closed' = 'no';
  /** The runtime's redactor, once the runtime is running; before that no secret is known. */
  #redact = (text: string): string => text;

  constructor(options: DesktopAppOptions) {
    this.#options = options;
    this.#electron = options.electron;
    this.#fileLog = createFileLogger(options.home, 'info');
    this.#logger = redactedLog(this.#fileLog, (text) => this.#redact(text));
  }

  /** Must be called before the app is ready, because these events may occur at any time from then on. */
  listen(): void {
    const { app } = this.#electron;
    this.#firstLink = linkAmong(process.argv);
    app.on('second-instance', (_event, argv) => {
      if (argv.includes(quitFlag)) {
        app.quit();
        return;
      }
      this.#parts?.window.show();
      const link = linkAmong(argv);
      if (link !== null) this.#openPlace(link);
    });
    app.on('open-url', (event, url) => {
      event.preventDefault();
      this.#openPlace(url);
    });
    app.on('activate', () => this.#parts?.window.show());
    // Without this listener Electron would quit; the work continues without a window.
    app.on('window-all-closed', () => undefined);
    app.on('before-quit', (event) => {
      if (this.#quitting === 'closed') return;
      event.preventDefault();
      void this.#close();
    });
  }

  async start(): Promise<void> {
    const { dialog, app } = this.#electron;
    const { home } = this.#options;
    const stopGuard = guardAgainstCrashes({
      process,
      logger: this.#logger,
      redact: (text) => this.#redact(text),
      tell: (title, text) => dialog.showErrorBox(title, text),
      exit: (code) => app.exit(code),
    });
    this.#lifetimes.defer(stopGuard);
    this.#lifetimes.defer(followTimeZone(process.env));
    let claw: HostedClaw;
    try {
      claw = await createTrayClaw({
        home,
        version: this.#options.version,
        logger: this.#fileLog,
        moreChecks: () => this.#checks(),
        startChild: startUtility(this.#electron.utilityProcess),
      });
    } catch (cause) {
      const error = toAppError(cause);
      this.#logger.log('error', 'the runtime did not start', { code: error.code, cause: error.message });
      dialog.showErrorBox('TrayClaw could not start', [error.message, error.hint ?? ''].join('\n\n').trim());
      this.#quitting = 'closed';
      app.exit(1);
      return;
    }
    this.#redact = (text) => claw.redact(text);
    this.#lifetimes.defer(() => claw.close());
    const problem = await this.#openDoors(claw);
    await this.#compose(claw);
    if (problem !== null) this.#say('warning', 'Other programs cannot reach TrayClaw', problem);
  }

  async #compose(claw: HostedClaw): Promise<void> {
    const { config } = await claw.op('config.get', {});
    const status = new StatusWatch(claw, this.#logger);
    const parts = createParts({
      ...this.#options,
      claw,
      logger: this.#logger,
      status,
      panicKeys: config.desktop.panicKeys,
      updateFeed: config.desktop.updateFeed ?? null,
      isQuitting: () => this.#quitting !== 'no',
      panic: (by) => void this.#panic(claw, by),
      quit: () => void this.#quitOnPurpose(),
      onSessionMayEnd: () => this.#sync(claw),
      onSessionEnd: () => void this.#sessionEnds(claw),
    });
    this.#parts = parts;
    this.#lifetimes.add(parts.lifetimes);
    if (parts.keys.state.kind === 'refused') this.#say('warning', 'The panic keys do not work', parts.keys.state.why);
    await status.start();
    this.#lifetimes.defer(followPower({ ...this.#power(claw), powerMonitor: this.#electron.powerMonitor, logger: this.#logger }));
    if (!this.#startedAtLogin()) parts.window.show();
    if (this.#firstLink !== null) this.#openPlace(this.#firstLink);
    this.#lifetimes.defer(workAhead(firstUses(), this.#logger));
  }

  #startedAtLogin(): boolean {
    if (process.argv.includes(backgroundFlag)) return true;
    // macOS passes no arguments to a program that starts at login.
    return process.platform === 'darwin' && this.#electron.app.getLoginItemSettings().wasOpenedAtLogin;
  }

  /** Opens the doors through which the person's other processes, such as the command line, reach the runtime. Returns what is in the way. */
  async #openDoors(claw: HostedClaw): Promise<string | null> {
    const { home, version, temporaryFolder, packageRoot } = this.#options;
    const door = new InstanceDoor({
      home,
      claw,
      version,
      temporaryFolder,
      pid: process.pid,
      clock: systemClock,
      logger: this.#logger,
      routes: claw.routes,
      assetsFolder: join(packageRoot, 'dist', 'renderer'),
      isApp: true,
      platform: process.platform,
    });
    await door.open();
    this.#lifetimes.add(door);
    const { config } = await claw.op('config.get', {});
    if (config.doors.port === undefined) return null;
    return door.serve().then(
      () => null,
      (cause: unknown) => toAppError(cause).told('\n'),
    );
  }

  #power(claw: HostedClaw): { onSuspend(): void; onResume(): void; onShutdown(): void } {
    return {
      onSuspend: () => this.#sync(claw),
      onResume: () => this.#parts?.tray?.refresh(),
      onShutdown: () => void this.#sessionEnds(claw).then(() => this.#electron.app.quit()),
    };
  }

  /**
   * The system session ends: stops running work, and a person decides later whether it continues. An idle app just quits, since this
   * happens every day.
   */
  async #sessionEnds(claw: HostedClaw): Promise<void> {
    if ((this.#parts?.status.status.runningTurns ?? 0) > 0) await this.#panic(claw, systemCaller);
    else this.#electron.app.quit();
  }

  #sync(claw: HostedClaw): void {
    try {
      claw.sync();
    } catch (cause) {
      this.#logger.log('error', 'the log could not be brought to the disk', { cause: String(cause) });
    }
  }

  #checks(): Finding[] {
    if (this.#parts === null) return [];
    const { keys, updates } = this.#parts;
    return [panicKeysCheck(keys.state), updatesCheck(updates.state)].filter((check) => check !== null);
  }

  async #panic(claw: HostedClaw, by: Caller): Promise<void> {
    const reason = `Pressed: ${by.actor}.`;
    // Show the stop first: recording it needs the disk, and ending running work takes time.
    this.#parts?.status.showStopping(reason);
    this.#parts?.router.command({ kind: 'stopping' });
    try {
      await claw.op('panic.engage', { reason }, by);
    } catch (cause) {
      this.#logger.log('error', 'the panic stop failed', { cause: String(cause) });
      const { message, hint } = toAppError(cause);
      this.#say('error', 'The panic stop could not be recorded', [message, hint ?? ''].join(' ').trim());
    }
    try {
      await this.#parts?.status.readPanic();
    } catch (cause) {
      this.#logger.log('warn', 'whether everything is stopped could not be read', { cause: String(cause) });
    }
  }

  /** Shows a message without blocking, unlike an error box. */
  #say(type: 'error' | 'warning', message: string, detail: string): void {
    if (this.#parts === null) return;
    const place = boxPlace(this.#electron, this.#parts.window);
    showBox(place, { type, title: 'TrayClaw', message, detail, noLink: true }).catch((cause: unknown) => {
      this.#logger.log('warn', 'a message could not be shown', { message, cause: String(cause) });
    });
  }

  #openPlace(link: string): void {
    if (this.#parts === null) {
      this.#firstLink = link;
      return;
    }
    const place = placeOfLink(link);
    if (place === null) {
      this.#logger.log('warn', 'a link that leads nowhere was not followed', { link: link.slice(0, 200) });
      return;
    }
    this.#parts.window.show();
    this.#parts.router.command(place);
  }

  /** Quits from the tray or the menu: asks for confirmation while work is running. */
  async #quitOnPurpose(): Promise<void> {
    const running = this.#parts?.status.status.runningTurns ?? 0;
    if (this.#parts !== null && running > 0) {
      const { response } = await showBox(boxPlace(this.#electron, this.#parts.window), {
        type: 'question',
        title: 'TrayClaw',
        message: running === 1 ? 'TrayClaw is still working.' : `TrayClaw is still working on ${running} things.`,
        detail: 'Running work ends now and continues from its last recorded step at the next start.',
        buttons: ['Keep running', 'Quit'],
        defaultId: 0,
        cancelId: 0,
        noLink: true,
      });
      if (response !== 1) return;
    }
    this.#electron.app.quit();
  }

  async #close(): Promise<void> {
    if (this.#quitting !== 'no') return;
    this.#quitting = 'closing';
    try {
      await this.#lifetimes.dispose();
    } catch (cause) {
      this.#logger.log('error', 'a part failed to close', { cause: String(cause) });
    }
    this.#quitting = 'closed';
    this.#electron.app.quit();
  }
}
