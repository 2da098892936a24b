// Finds a file outside the opened folders whose content a line may bring in: by a name among its words, or anywhere in its text. Programs
// and settings of the system are not content of others. Reads only names on the disk.

import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { CommandFact } from '../../contracts/tools.ts';
import { statOf } from './file-condition.ts';
import { commandsOf, type LineCommand } from './line-commands.ts';
import { nameOf } from './program-names.ts';
import type { CommandPlaces } from './protected-walk.ts';
import { writeTargets } from './write-targets.ts';

const WORDS_MAX = 1000;
const FOLDERS_MAX = 20;
const system =
  /^(?:\/(?:usr|bin|sbin|lib\w*|etc|opt|nix|snap|System|Library|Applications|proc|sys|dev(?!\/shm))(?:\/|$)|[a-z]:\\(?:windows|program files))/i;
/** Commands that show and keep nothing of what they name. */
const contentless = new Set('mkdir rmdir rm touch chmod chown chgrp kill mktemp unlink export unset test ['.split(' '));
/** Only these take a whole folder; another program may as well write to a folder it is given. */
const walkers = new Set('cp mv rsync tar zip cat find grep rg ls head tail diff ln install git'.split(' '));
/** Absolute, above this folder, or in the person's folder. */
const outsideText = /(?<![^\s=:'"(<{,])(?:~|\$HOME|\$\{HOME\}|\.\.)?\/[^\s'"`;|&()<>*?[\]{}$,:]+[*?[]?/g;

/** Returns the real path of the first such file, the folder of the command if it names too many, and null if there is none. */
export function outsideFile({ line, cwd }: CommandFact, places: CommandPlaces): string | null {
  const commands = commandsOf(line).commands.filter(({ elsewhere }) => !elsewhere);
  const takesFolders = commands.some(({ words }) => walkers.has(nameOf(words[0]?.text ?? '')));
  const looks = commands.map((command) => lookAt(command, cwd, places));
  const unread = new Set(looks.flatMap((look) => [...look.unread]));
  const pieces = [...line.matchAll(outsideText)].map(([text]) => pathOf(beforePattern(text), cwd, places));
  const paths = new Set([...looks.flatMap(({ read }) => read), ...pieces.filter((path) => !unread.has(path))]);
  if (paths.size > WORDS_MAX) return cwd;
  for (const path of paths) {
    const { real, insideWorkspace } = places.fact(path, cwd, 'read');
    if (insideWorkspace || system.test(real)) continue;
    const stat = statOf(() => statSync(real));
    if (stat?.isFile() === true || (takesFolders && stat?.isDirectory() === true)) return real;
  }
  return null;
}

interface Looked {
  readonly read: readonly string[];
  readonly unread: ReadonlySet<string>;
}

/** The paths that a command reads, as far as its words show, and those that it does not. */
function lookAt({ words, read, written, folders }: LineCommand, cwd: string, places: CommandPlaces): Looked {
  const base = folders.slice(0, FOLDERS_MAX).reduce((folder, { text }) => pathOf(text, folder, places), cwd);
  const inBase = (texts: readonly string[]): string[] => texts.map((text) => pathOf(text, base, places));
  const texts = words.map(({ text }) => text);
  const name = nameOf(texts[0] ?? '');
  // A move reads all but the last, and the archive of tar may be read as well as written.
  const targets = name === 'mv' ? texts.slice(-1) : name === 'tar' ? [] : writeTargets(texts);
  const own = contentless.has(name) ? texts : [...texts.slice(0, 1), ...targets];
  const unread = new Set(inBase([...own, ...written.map(({ text }) => text)]));
  // `if=FILE` and `--file=FILE` name a file as well.
  const values = [...texts.slice(1), ...read.map(({ text }) => text)].map((text) => /^[\w-]{1,40}=(.+)$/s.exec(text)?.[1] ?? text);
  return { read: inBase(values.filter((text) => !text.startsWith('-'))).filter((path) => !unread.has(path)), unread };
}

/** `/a/b*` is something in `/a`. */
function beforePattern(text: string): string {
  return /[*?[]/.test(text.slice(-1)) ? text.slice(0, text.lastIndexOf('/') + 1) : text;
}

function pathOf(text: string, base: string, places: CommandPlaces): string {
  return resolve(
    base,
    text.replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/|$)/, () => places.userHome),
  );
}
