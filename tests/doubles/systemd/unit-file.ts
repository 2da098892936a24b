// Parses a unit as systemd.syntax(7) and systemd.service(5) specify, and rejects what systemd would reject or silently ignore.

import { accessSync, constants } from 'node:fs';
import { isAbsolute } from 'node:path';

/** The directives this project may use, by section of a user service, each with a pattern for its value. */
const directives: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  Unit: { Description: /^\S.*$/, StartLimitIntervalSec: /^\d+$/, StartLimitBurst: /^\d+$/ },
  Service: {
    Type: /^(?:simple|exec|notify)$/,
    ExecStart: /^\S/,
    Environment: /^\S/,
    Restart: /^(?:no|always|on-failure)$/,
    RestartSec: /^\d+$/,
    RestartPreventExitStatus: /^\d+(?: \d+)*$/,
    KillMode: /^(?:control-group|mixed|process)$/,
    TimeoutStopSec: /^\d+$/,
    OOMPolicy: /^(?:continue|stop|kill)$/,
    LimitCORE: /^(?:0|infinity|\d+)$/,
  },
  Install: { WantedBy: /^default\.target$/ },
};

export interface ReadUnit {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Throws an error with the reason. */
export function readUnit(text: string): ReadUnit {
  const read = { argv: [] as readonly string[], env: {} as Record<string, string> };
  let section = '';
  for (const line of text.split('\n').filter((one) => !/^(?:[#;]|$)/.test(one))) {
    const header = /^\[(\w+)\]$/.exec(line)?.[1];
    section = header ?? section;
    if (header === undefined) readDirective(section, line, read);
  }
  return read;
}

function readDirective(section: string, line: string, read: { argv: readonly string[]; env: Record<string, string> }): void {
  const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(line) ?? [];
  const allowed = directives[section]?.[name];
  if (allowed === undefined) throw new Error(`unknown directive in [${section}]: ${line}`);
  if (!allowed.test(value) || value.endsWith('\\')) throw new Error(`bad value: ${line}`);
  if (name === 'ExecStart') read.argv = commandOf(value);
  if (name !== 'Environment') return;
  for (const item of wordsOf(value)) read.env[item.slice(0, item.indexOf('='))] = item.slice(item.indexOf('=') + 1);
}

function commandOf(value: string): readonly string[] {
  const [first = '', ...rest] = wordsOf(value);
  const isLiteral = first.startsWith(':');
  const program = first.replace(/^[@\-:+!|]+/, '');
  const argv = [program, ...rest];
  if (!isAbsolute(program)) throw new Error(`ExecStart needs an absolute path: ${program}`);
  // systemd 252 reports it like this; the arguments may contain these characters.
  if (/["'\\]/.test(program)) throw new Error(`Executable name contains special characters: ${program}`);
  accessSync(program, constants.X_OK);
  if (!isLiteral && argv.some((word) => /\$\w|\$\{/.test(word))) throw new Error(`a variable would be put in: ${value}`);
  return argv;
}

/** Splits a value into words: quotes as systemd parses them, then specifiers. */
function wordsOf(value: string): string[] {
  const quotedOrPlain = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|(?:[^\s"'\\]|\\.)/;
  const words = value.match(new RegExp(`(?:${quotedOrPlain.source})+`, 'g')) ?? [];
  if (words.join(' ') !== value) throw new Error(`an open quote, or spaces where none belong: ${value}`);
  return words.map((word) =>
    (word.match(new RegExp(quotedOrPlain.source, 'g')) ?? [])
      .map((part) => (/^["']/.test(part) ? part.slice(1, -1) : part))
      .join('')
      .replaceAll(/\\(.)/g, (_, letter: string) => unescaped(letter))
      .replaceAll(/%(.?)/g, (_, letter: string) => (letter === '%' ? '%' : specifier(letter))),
  );
}

function unescaped(letter: string): string {
  if (['\\', '"', "'", ' '].includes(letter)) return letter;
  throw new Error(`unknown escape \\${letter}`);
}

function specifier(letter: string): never {
  throw new Error(`%${letter} would be replaced by systemd`);
}
