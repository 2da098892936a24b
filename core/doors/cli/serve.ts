// `serve` and `start`: the runtime with its window on loopback, until it is ended. Reuses an instance that serves, and asks the tray app to
// serve. `start` is the tray app if Electron runs, otherwise the same window in a browser; it prints one line about which.

import { sleep } from '../../base/waits.ts';
import { AppError } from '../../contracts/errors.ts';
import type { CommandContext } from './command-context.ts';
import type { Connection } from './connect.ts';
import { exitCodes } from './exit-code.ts';
import { isInsideTool, refusedInsideTool } from './person-only.ts';

const closeWithinMs = 5_000;

interface ServeOptions {
  readonly port?: string;
  readonly open?: boolean;
  /** Defaults to true, unless the output goes to the log of a service manager. */
  readonly printToken?: boolean;
  /** For `start`: the reason why there is no tray app. The instructions are then one line. */
  readonly why?: string;
}

export async function start(context: CommandContext, options: ServeOptions): Promise<number> {
  if (isInsideTool(context.io.env)) throw refusedInsideTool('start');
  const { parts, output, io, home } = context;
  // A named port asks for the served window. If another program serves, it owns the data folder, so the tray app could only fail.
  if (options.port === undefined && !(await isServed(context))) {
    const ran = await parts.runDesktop({
      home,
      say: (line) => output.note(line),
      onNoSandbox: () => tellNoSandbox(context),
      onInterrupt: (listener) => io.onInterrupt(listener),
    });
    if (ran.kind === 'ended') return ran.code;
    return serve(context, { ...options, open: true, why: ran.why });
  }
  return serve(context, { ...options, open: true });
}

/** Printed only if Chromium is started as root. */
function tellNoSandbox({ output }: CommandContext): void {
  output.sayOnce('As the superuser Chromium runs without its sandbox (--no-sandbox); start TrayClaw as an ordinary user to have it.');
}

async function isServed({ parts, home }: CommandContext): Promise<boolean> {
  const instance = await parts.findInstance(home);
  await instance?.claw.close();
  return instance?.record.url !== undefined && instance.serve === undefined;
}

export async function serve(context: CommandContext, options: ServeOptions): Promise<number> {
  // Refused inside a tool, because this command prints the access token.
  if (isInsideTool(context.io.env)) throw refusedInsideTool('serve');
  const port = options.port === undefined ? undefined : parsePort(options.port);
  const stop = new StopSignal(context);
  try {
    const connection = await context.connect('live', ({ record, serve: ask }) => record.url !== undefined || ask !== undefined);
    if (connection.instance !== null) return await reuse(context, connection, { ...options, port });
    try {
      await announce(context, connection, { ...options, port, opens: options.open === true, why: options.why });
      await stop.first;
    } catch (cause) {
      await connection.close();
      throw cause;
    }
    context.output.note('Stopping.');
    return await closeInTime(connection, stop);
  } finally {
    stop.dispose();
  }
}

async function announce(
  context: CommandContext,
  connection: Connection,
  how: Pick<ServeOptions, 'printToken'> & {
    readonly port: number | undefined;
    readonly opens: boolean;
    readonly why: string | undefined;
  },
): Promise<void> {
  if (connection.doors === null) throw new AppError('internal', 'A hosted runtime has no doors.');
  const { url, token } = await connection.doors.serve(how.port);
  const at: Address = { url, token, pid: context.parts.pid, printsToken: mayPrintToken(context, how) };
  if (how.why !== undefined) {
    await openWithoutTray(context, at, how.why);
    return;
  }
  printAddress(context, at);
  if (how.opens) await open(context, at);
}

interface Address {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  /** False if others can read the output. */
  readonly printsToken: boolean;
}

function mayPrintToken({ io }: CommandContext, { printToken }: Pick<ServeOptions, 'printToken'>): boolean {
  return printToken ?? !io.stdoutIsServiceLog;
}

type Reuse = Omit<ServeOptions, 'port'> & { readonly port: number | undefined };

async function reuse(context: CommandContext, connection: Connection, options: Reuse): Promise<number> {
  const { instance } = connection;
  try {
    const url = instance?.record.url ?? (await instance?.serve?.(options.port))?.url;
    if (instance === null || url === undefined) throw new AppError('internal', 'The running instance serves no window.');
    const { token, pid } = instance.record;
    const until = instance.serve === undefined ? '' : ' The app serves it until you quit the app.';
    context.output.note(`Already running as process ${pid}; this is its address.${until}`);
    const port = Number(new URL(url).port);
    if (instance.record.url !== undefined && options.port !== undefined && options.port !== port) {
      context.output.note(`It stays on port ${port}. Stop it first to serve on port ${options.port}.`);
    }
    const at: Address = { url, token, pid, printsToken: mayPrintToken(context, options) };
    printAddress(context, at);
    if (options.open === true) await open(context, at);
    return exitCodes.done;
  } finally {
    await connection.close();
  }
}

function printAddress(context: CommandContext, { url, token, pid, printsToken }: Address): void {
  if (printsToken) {
    context.output.jsonLine({ url, token, pid, windowUrl: windowUrl(url, token) });
    return;
  }
  context.output.jsonLine({ url, pid });
  context.output.note(`The access token is not printed here. For the address with it, run this in a terminal: ${context.program} serve`);
}

async function open(context: CommandContext, at: Address): Promise<void> {
  const how = await show(context, at);
  if (how === null) context.output.say(`No browser could be opened here. ${openYourself(context, at)}`);
  else context.output.note(`Opened the window with ${how}.`);
}

/** Prints the single line of a start without Electron. The address contains the token, so it is printed only if nothing could open it. */
async function openWithoutTray(context: CommandContext, at: Address, why: string): Promise<void> {
  if (context.output.isJson) printAddress(context, at);
  const how = await show(context, at);
  const place = how === null ? openYourself(context, at) : `The window is open in ${how}; Ctrl-C ends TrayClaw.`;
  context.output.say(`TrayClaw runs without a tray icon, because ${why}. ${place}`);
}

function show(context: CommandContext, { url, token }: Address): Promise<string | null> {
  return context.parts.openWindow({ home: context.home, url, token, onNoSandbox: () => tellNoSandbox(context) });
}

function openYourself(context: CommandContext, { url, token, printsToken }: Address): string {
  if (!printsToken) return `To open the window, run this in a terminal: ${context.program} serve --open`;
  return `Open this address yourself: ${windowUrl(url, token)}`;
}

function windowUrl(url: string, token: string): string {
  return `${url}/#token=${token}`;
}

/** Waits at most five seconds. A second signal ends the wait at once. */
async function closeInTime(connection: Connection, stop: StopSignal): Promise<number> {
  const timeUp = new AbortController();
  try {
    return await Promise.race([
      connection.close({ drains: false }).then(() => exitCodes.done),
      stop.second.then(() => exitCodes.interrupted),
      sleep(closeWithinMs, timeUp.signal).then(() => exitCodes.failed),
    ]);
  } finally {
    timeUp.abort();
  }
}

class StopSignal {
  readonly first: Promise<void>;
  readonly second: Promise<void>;
  readonly dispose: () => void;

  constructor(context: CommandContext) {
    let onFirst = (): void => undefined;
    let onSecond = (): void => undefined;
    this.first = new Promise((resolve) => (onFirst = resolve));
    this.second = new Promise((resolve) => (onSecond = resolve));
    let count = 0;
    this.dispose = context.io.onInterrupt(() => {
      count += 1;
      (count === 1 ? onFirst : onSecond)();
    });
  }
}

/** Fails with `invalid_params`. */
export function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : -1;
  if (port < 0 || port > 65_535) throw new AppError('invalid_params', `${JSON.stringify(text)} is not a port (0 to 65535).`);
  return port;
}
