// Writes telemetry rows as JSON lines to a file of bounded size, rotated: name, name.1, name.2, ….
// Never throws: a disk that cannot take telemetry is told to the log once, until a write works again.

import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolders } from '../../base/make-folders.ts';
import { assert } from '../../base/assert.ts';
import type { Logger } from '../../base/logger.ts';
import type { TelemetryRow, TelemetrySink } from './telemetry-rows.ts';

export interface JsonlSinkOptions {
  readonly path: string;
  readonly logger: Logger;
  /** Takes secrets out of a line before it is written. */
  readonly redact?: (line: string) => string;
  /** Size at which a new file begins; 10 MB unless told. */
  readonly fileBytesMax?: number;
  /** Files kept, the current one included; 3 unless told. */
  readonly filesMax?: number;
}

export class JsonlSink implements TelemetrySink {
  readonly #path: string;
  readonly #logger: Logger;
  readonly #redact: (line: string) => string;
  readonly #fileBytesMax: number;
  readonly #filesMax: number;
  #isFailing = false;

  constructor(options: JsonlSinkOptions) {
    this.#path = options.path;
    this.#logger = options.logger;
    this.#redact = options.redact ?? ((line) => line);
    this.#fileBytesMax = options.fileBytesMax ?? 10_000_000;
    this.#filesMax = options.filesMax ?? 3;
    assert(this.#filesMax >= 2, 'rotation needs a second file');
  }

  write(rows: readonly TelemetryRow[]): void {
    try {
      makeFolders({ mkdirSync, statSync }, dirname(this.#path));
      this.#append(rows.map((row) => this.#redact(JSON.stringify(row)) + '\n'));
      this.#isFailing = false;
    } catch (cause) {
      if (!this.#isFailing) this.#logger.log('warn', 'Telemetry lines could not be written.', { path: this.#path, cause: String(cause) });
      this.#isFailing = true;
    }
  }

  #append(lines: readonly string[]): void {
    let sizeBytes = statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
    let pending = '';
    for (const line of lines) {
      const lineBytes = Buffer.byteLength(line);
      if (sizeBytes > 0 && sizeBytes + lineBytes > this.#fileBytesMax) {
        this.#flush(pending);
        this.#rotate();
        pending = '';
        sizeBytes = 0;
      }
      pending += line;
      sizeBytes += lineBytes;
    }
    this.#flush(pending);
  }

  #flush(text: string): void {
    if (text !== '') appendFileSync(this.#path, text, { mode: 0o600 });
  }

  /** Oldest first, each over the one before: the last falls off. */
  #rotate(): void {
    for (let number = this.#filesMax - 1; number >= 1; number--) {
      const from = number === 1 ? this.#path : `${this.#path}.${number - 1}`;
      if (statSync(from, { throwIfNoEntry: false }) !== undefined) renameSync(from, `${this.#path}.${number}`);
    }
  }
}
