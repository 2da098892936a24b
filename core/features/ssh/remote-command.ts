// One command on a connection, from start to end: streams its output, and a stop either ends it on the machine or reports that its state is
// unknown. Does not decide what may run.

import { randomBytes } from 'node:crypto';
import type { Client, ClientChannel } from 'ssh2';
import { killGroupLine, markedLine } from './remote-line.ts';

export interface CommandEnd {
  /** Null if a signal ended the command. */
  readonly code: number | null;
  readonly isCut: boolean;
  /** The machine did not report the end, so the state of the command is unknown. */
  readonly isLost: boolean;
}

const OUTPUT_BYTES_MAX = 8 * 1024 * 1024;
/** The wait for the last output of a command that was ended. */
const LAST_OUTPUT_MS = 1_000;
/** A loaded machine needs seconds to start the command that ends the first one. A machine that is gone never answers. */
export const STOP_MS = 8_000;

export interface Ways {
  readonly client: Client;
  /** Whether a command succeeds over another connection. */
  readonly elsewhere: (line: string) => Promise<boolean>;
}

/** Rejects with the error of the connection if the command cannot start. After an abort, ends within `STOP_MS`. */
export function runCommand(
  { client, elsewhere }: Ways,
  line: string,
  signal: AbortSignal,
  onOutput: (piece: Buffer) => void,
): Promise<CommandEnd> {
  const mark = `group-${randomBytes(6).toString('hex')}`;
  return new Promise((resolve, reject) => {
    const onEnd = (end: CommandEnd): void => {
      signal.removeEventListener('abort', stop);
      resolve(end);
    };
    const command = new RemoteCommand({ mark, onOutput, onEnd, succeeds: (ending) => succeeds({ client, elsewhere }, ending) });
    const stop = (): void => command.stop();
    signal.addEventListener('abort', stop, { once: true });
    client.exec(markedLine(line, mark), (cause, stream) => {
      if (cause === undefined) command.begin(stream);
      else reject(cause);
    });
    if (signal.aborted) stop();
  });
}

interface Hooks {
  /** Random, so that no other output of the machine contains it. */
  readonly mark: string;
  readonly onOutput: (piece: Buffer) => void;
  readonly onEnd: (end: CommandEnd) => void;
  readonly succeeds: (line: string) => Promise<boolean>;
}

class RemoteCommand {
  readonly #hooks: Hooks;
  #stream: ClientChannel | null = null;
  #bytes = 0;
  /** The error output before the mark, for example from a profile or a missing shell. Null once the mark was found. */
  #head: string | null = '';
  #ending: string | null = null;
  #isStopping = false;
  #wasEnded: Promise<boolean> | null = null;
  #end: { readonly code: number | null } | null = null;

  constructor(hooks: Hooks) {
    this.#hooks = hooks;
  }

  begin(stream: ClientChannel): void {
    this.#stream = stream;
    stream.on('data', (piece: Buffer) => this.#take(piece));
    stream.stderr.on('data', (piece: Buffer) => (this.#head === null ? this.#take(piece) : this.#lookForMark(piece)));
    stream.on('exit', (code: number | null) => (this.#end = { code }));
    stream.on('close', () => void this.#finish());
    if (this.#isStopping) this.#endThere();
  }

  /** Ends the command on the machine, because closing the channel does not end it. */
  stop(): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    setTimeout(() => this.#settle(), STOP_MS).unref();
    this.#endThere();
  }

  #endThere(): void {
    if (this.#wasEnded !== null) return;
    if (this.#ending === null) {
      // The command has not started yet, for example because a profile hangs.
      this.#stream?.signal('KILL');
      return;
    }
    this.#wasEnded = this.#hooks.succeeds(this.#ending);
    void this.#wasEnded.then((isEnded) => {
      if (isEnded) setTimeout(() => void this.#finish(), LAST_OUTPUT_MS).unref();
    });
  }

  #lookForMark(piece: Buffer): void {
    this.#head += piece.toString('latin1');
    const [line = '', number = '', group = ''] = new RegExp(`${this.#hooks.mark} (\\d+) (\\d+)\\n`).exec(this.#head ?? '') ?? [];
    if (line !== '') {
      this.#ending = killGroupLine(number, group);
      this.#giveHead(line);
      // The stop came before the process number was known.
      if (this.#isStopping) this.#endThere();
    } else if ((this.#head ?? '').length > OUTPUT_BYTES_MAX) {
      this.#giveHead('');
    }
  }

  #giveHead(without: string): void {
    const head = (this.#head ?? '').replace(without, '');
    this.#head = null;
    if (head !== '') this.#take(Buffer.from(head, 'latin1'));
  }

  #take(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes <= OUTPUT_BYTES_MAX) this.#hooks.onOutput(piece);
    else this.stop();
  }

  async #finish(): Promise<void> {
    if (this.#end === null && (await this.#wasEnded) === true) this.#end = { code: null };
    this.#settle();
  }

  /** Only the first call has an effect. */
  #settle(): void {
    if (this.#head !== null) this.#giveHead('');
    this.#hooks.onEnd({ code: this.#end?.code ?? null, isCut: this.#bytes > OUTPUT_BYTES_MAX, isLost: this.#end === null });
  }
}

/**
 * Falls back to another connection, because some servers allow one session per connection, and on Dropbear a command of root shares the
 * process group of its connection, which ends with it.
 */
function succeeds({ client, elsewhere }: Ways, line: string): Promise<boolean> {
  return new Promise<boolean>((resolve, reject) => {
    // Throws if the connection is closed.
    client.exec(line, (cause, answer) => {
      if (cause !== undefined) return reject(cause);
      answer.resume().on('exit', (code: number | null) => resolve(code === 0));
      answer.on('close', () => reject(new Error('no answer')));
    });
  }).catch(() => elsewhere(line));
}
