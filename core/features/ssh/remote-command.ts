// One command on a connection, from its start to its end: its output as it comes, and a stop that really ends it there or says that it
// cannot be known. Decides nothing about what may run.

import { randomBytes } from 'node:crypto';
import type { Client, ClientChannel } from 'ssh2';
import { endingLine, tellingLine } from './remote-line.ts';

export interface CommandEnd {
  /** Null where it was ended by a signal. */
  readonly code: number | null;
  readonly isCut: boolean;
  /** The machine did not say that it ended: what became of the command is not known. */
  readonly isLost: boolean;
}

const OUTPUT_BYTES_MAX = 8 * 1024 * 1024;
/** For the last output of a command that was ended. */
const LAST_OUTPUT_MS = 1_000;
/** A loaded machine needs seconds to begin the command that ends another; one that is gone never answers. */
export const STOP_MS = 8_000;

export interface Ways {
  readonly client: Client;
  /** Whether a command succeeds on another connection. */
  readonly elsewhere: (line: string) => Promise<boolean>;
}

/** Fails with what the connection said if it cannot begin. After an abort it ends within `STOP_MS`. */
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
    client.exec(tellingLine(line, mark), (cause, stream) => {
      if (cause === undefined) command.begin(stream);
      else reject(cause);
    });
    if (signal.aborted) stop();
  });
}

interface Hooks {
  /** Nothing else that a machine says looks like it. */
  readonly mark: string;
  readonly onOutput: (piece: Buffer) => void;
  readonly onEnd: (end: CommandEnd) => void;
  readonly succeeds: (line: string) => Promise<boolean>;
}

class RemoteCommand {
  readonly #hooks: Hooks;
  #stream: ClientChannel | null = null;
  #bytes = 0;
  /** The errors until the mark: what a profile or a missing shell says comes before. */
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

  /** Closing a channel ends nothing there. */
  stop(): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    setTimeout(() => this.#settle(), STOP_MS).unref();
    this.#endThere();
  }

  #endThere(): void {
    if (this.#wasEnded !== null) return;
    if (this.#ending === null) {
      // A profile that does not end lets nothing begin.
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
    const [line = '', number = '', parent = ''] = new RegExp(`${this.#hooks.mark} (\\d+) (\\d+)\\n`).exec(this.#head ?? '') ?? [];
    if (line !== '') {
      this.#ending = endingLine(number, parent);
      this.#giveHead(line);
      // Stopped before the number was here.
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

  /** The first time counts. */
  #settle(): void {
    if (this.#head !== null) this.#giveHead('');
    this.#hooks.onEnd({ code: this.#end?.code ?? null, isCut: this.#bytes > OUTPUT_BYTES_MAX, isLost: this.#end === null });
  }
}

/** False as well where the connection ends before the answer. Some servers give a connection one session only. */
function succeeds({ client, elsewhere }: Ways, line: string): Promise<boolean> {
  return new Promise<boolean>((resolve, reject) => {
    // It throws where the connection is gone.
    client.exec(line, (cause, answer) => {
      if (cause !== undefined) return reject(cause);
      answer.resume().on('exit', (code: number | null) => resolve(code === 0));
      answer.on('close', () => resolve(false));
    });
  }).catch(() => elsewhere(line));
}
