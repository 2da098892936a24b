// Printed output: results on stdout (one JSON document with --json), everything else on stderr. Colour only on terminals.

import type { AppError } from '../../contracts/errors.ts';
import { pickFields, tabbed } from './fields.ts';
import type { CliIo } from './ports.ts';
import { safeForTerminal } from '../../base/visible-text.ts';

export type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green';

const codes: Readonly<Record<Style, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  yellow: [33, 39],
  green: [32, 39],
};

export type Paint = (style: Style, text: string) => string;

export class Output {
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  readonly #io: CliIo;
  readonly #saidOnce = new Set<string>();
  /** True if the last text on stdout did not end its line. */
  #isMidLine = false;
  #hasProgress = false;
  readonly #fields: readonly string[] | undefined;

  constructor(io: CliIo, options: { readonly isJson: boolean; readonly isQuiet: boolean; readonly fields?: readonly string[] }) {
    this.#io = io;
    this.isJson = options.isJson;
    this.isQuiet = options.isQuiet;
    this.#fields = options.fields;
  }

  readonly paint: Paint = (style, text) => (this.#io.stdoutIsTty && this.#hasColour() ? colour(style, text) : text);

  readonly paintNote: Paint = (style, text) => (this.#io.stderrIsTty && this.#hasColour() ? colour(style, text) : text);

  /** Prints the result of a command: one JSON document, or text for people, which alone may go to stderr. */
  result(json: unknown, human: () => string, humanTo: 'stdout' | 'stderr' = 'stdout'): void {
    if (humanTo === 'stderr' && !this.isJson && this.#fields === undefined) {
      this.say(human());
      return;
    }
    const picked = this.#fields === undefined ? null : pickFields(json, this.#fields);
    const text = this.isJson ? JSON.stringify(picked?.document ?? json) : picked === null ? human() : this.forStdout(tabbed(picked.rows));
    this.progress(null);
    if (text !== '') this.#io.stdout.write(text.endsWith('\n') ? text : text + '\n');
  }

  /** Prints one JSON document per line, regardless of the options. */
  jsonLine(value: unknown): void {
    this.#io.stdout.write(JSON.stringify(value) + '\n');
  }

  raw(content: string | Uint8Array): void {
    this.progress(null);
    this.#io.stdout.write(content);
    this.#isMidLine = typeof content === 'string' && !content.endsWith('\n');
  }

  /** Prints the text of an answer: unchanged into a pipe, with control characters escaped on a terminal. */
  text(text: string): void {
    this.raw(this.forStdout(text));
  }

  forStdout(text: string): string {
    return this.#io.stdoutIsTty ? safeForTerminal(text) : text;
  }

  /** Prints text for the person in addition to the result. */
  say(text: string): void {
    this.progress(null);
    this.#io.stderr.write(`${this.#endOfLine()}${text}\n`);
  }

  /** Prints a text only the first time, because two code paths may print the same text. */
  sayOnce(text: string): void {
    if (!this.#saidOnce.has(text)) this.say(text);
    this.#saidOnce.add(text);
  }

  /** Prints progress; silent with --quiet. */
  note(text: string): void {
    if (!this.isQuiet) this.say(this.paintNote('dim', text));
  }

  /** Prints a line that the next one replaces, and that null and any other output remove. Only on a terminal that can. */
  progress(text: string | null): void {
    if (this.isQuiet || !this.#io.stderrIsTty || this.#io.env['TERM'] === 'dumb' || (text === null && !this.#hasProgress)) return;
    this.#hasProgress = text !== null;
    this.#io.stderr.write(`${this.#endOfLine()}\r\u001B[2K${text === null ? '' : this.paintNote('dim', text)}`);
  }

  /** A line break if the terminal shows both streams and the text on the other one did not end its line. */
  #endOfLine(): string {
    const sharesLine = this.#isMidLine && this.#io.stdoutIsTty && this.#io.stderrIsTty;
    this.#isMidLine &&= !sharesLine;
    return sharesLine ? '\n' : '';
  }

  failure(error: AppError): void {
    const { code, message, hint } = error;
    if (this.isJson) this.jsonLine({ error: { code, message, ...(hint === undefined ? {} : { hint }) } });
    else this.explain({ message, hint });
  }

  /** Prints the error, then the next step. */
  explain(error: { readonly message: string; readonly hint?: string | undefined }): void {
    this.say(this.paintNote('red', safeForTerminal(error.message)));
    if (error.hint !== undefined) this.say(safeForTerminal(error.hint));
  }

  #hasColour(): boolean {
    return (this.#io.env['NO_COLOR'] ?? '') === '' && this.#io.env['TERM'] !== 'dumb';
  }
}

function colour(style: Style, text: string): string {
  const [on, off] = codes[style];
  return `\u001B[${on}m${text}\u001B[${off}m`;
}
