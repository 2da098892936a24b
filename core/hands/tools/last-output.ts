// The output of running commands, kept in files next to the log so that it survives a crash: the newest part, redacted, written
// periodically. A call that ends has its output in its result, and its file is removed.

import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolders } from '../../base/make-folders.ts';
import { errnoOf } from '../../base/errno.ts';
import type { StreamRedactor } from '../../guard/safety/safety.ts';

export interface LastOutputOptions {
  readonly folder: string;
  redactStream(): Pick<StreamRedactor, 'push' | 'end'>;
}

const PAUSE_MS = 500;
const CHARS_MAX = 16_000;

export class LastOutput {
  readonly #options: LastOutputOptions;

  constructor(options: LastOutputOptions) {
    this.#options = options;
  }

  begin(callId: string): { push(piece: string): void; end(): void } {
    let stream: ReturnType<LastOutputOptions['redactStream']> | null = null;
    let text = '';
    let timer: NodeJS.Timeout | null = null;
    let isKept = false;
    return {
      push: (piece) => {
        stream ??= this.#options.redactStream();
        text = (text + stream.push(piece)).slice(-CHARS_MAX);
        timer ??= setTimeout(() => {
          timer = null;
          isKept = this.#write(callId, text) || isKept;
        }, PAUSE_MS).unref();
      },
      end: () => {
        if (timer !== null) clearTimeout(timer);
        if (isKept) rmSync(this.#fileOf(callId), { force: true });
      },
    };
  }

  /** The stored output of a call of an earlier process; empty if there is none. */
  read(callId: string): string {
    try {
      return readFileSync(this.#fileOf(callId), 'utf8');
    } catch (cause) {
      if (errnoOf(cause) === undefined) throw cause;
      return '';
    }
  }

  clear(): void {
    rmSync(this.#options.folder, { recursive: true, force: true });
  }

  /** Returns false if the disk refuses: the command continues without stored output. */
  #write(callId: string, text: string): boolean {
    try {
      makeFolders({ mkdirSync, statSync }, this.#options.folder);
      writeFileSync(this.#fileOf(callId), text, { mode: 0o600 });
      return true;
    } catch (cause) {
      if (errnoOf(cause) === undefined) throw cause;
      return false;
    }
  }

  #fileOf(callId: string): string {
    return join(this.#options.folder, `${encodeURIComponent(callId)}.txt`);
  }
}
