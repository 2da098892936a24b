// Analyses commands before they run: whether a line is one plain program, its known effects and the files it runs, or the possible effects
// of any other line. Does not decide whether a command is allowed and starts nothing.

import { readsOf, type CommandFact, type PathFact, type PlainCommand } from '../../contracts/tools.ts';
import { ContentHashes } from './content-hash.ts';
import { lookAtJoined, type LookedAt } from './joined-command.ts';
import { readEntry } from './entered-folder.ts';
import { inputsOf, outputsOf, readJoinedLine, type JoinedPart } from './joined-line.ts';
import { withWholeNames } from './listed-files.ts';
import { LineChanges } from './line-changes.ts';
import { lookAtLine, type LineLook } from './line-risks.ts';
import type { CommandPlaces } from './protected-walk.ts';
import { isOpen, lookAtPlain, type PlainSubject } from './plain-command.ts';
import { expandPatterns } from './pattern-words.ts';
import { rewriteLine, type LinePlace } from './rewritten-line.ts';
import { readPlainLine } from './plain-line.ts';
import { findProgram } from './program-path.ts';
import { isWriter } from './write-command.ts';

export type { CommandPlaces } from './protected-walk.ts';
export { placesNamedBy } from './named-places.ts';
export { inputsOf, readJoinedLine, type JoinedPart } from './joined-line.ts';
export { literalWords } from './literal-lexer.ts';
export { lookAtLine } from './line-risks.ts';
export { outsideFile } from './outside-files.ts';
export { runsGit } from './script-git.ts';
export { ContentHashes } from './content-hash.ts';
export { codeFiles, programFiles } from './program-files.ts';

export interface CommandRequest {
  readonly line: string;
  /** Real path of the folder the command runs in. */
  readonly cwd: string;
  /** The environment of the child process, without the variables that mark a call. */
  readonly environment: Readonly<Record<string, string>>;
}

/** plain: runs this file, with the first word of the list as its name. line: the shell runs this text. */
export type Launch = (
  | { readonly kind: 'plain'; readonly file: string; readonly argv: readonly string[] }
  | { readonly kind: 'line'; readonly line: string }
) & {
  /** Added to the environment that every child process gets. */
  readonly environment: Readonly<Record<string, string>>;
};

export interface CommandAnalysis extends LineLook {
  readonly fact: CommandFact;
  readonly launch: Launch;
}

export interface CommandAnalystOptions {
  readonly platform: NodeJS.Platform;
  readonly nowMs: () => number;
}

const ENTRIES_MAX = 3;

export class CommandAnalyst {
  readonly #platform: NodeJS.Platform;
  readonly #hashes: ContentHashes;

  constructor(options: CommandAnalystOptions) {
    this.#platform = options.platform;
    this.#hashes = new ContentHashes(options.nowMs);
  }

  /**
   * Reads the disk but changes nothing. The same line gets the same answer while nothing it depends on changes. A line that starts with
   * `cd` is analysed as the rest of the line in that folder, provided that the rest is understood.
   */
  analyse(request: CommandRequest, places: CommandPlaces): CommandAnalysis {
    return this.#inFolder(request, places, ENTRIES_MAX) ?? this.#analyse(request, places);
  }

  #inFolder({ line, cwd, environment }: CommandRequest, places: CommandPlaces, left: number): CommandAnalysis | null {
    const entry = this.#platform === 'win32' || left === 0 ? null : readEntry(line, cwd);
    if (entry === null) return null;
    const folder = places.fact(entry.folder, cwd, 'read');
    const request = { line: entry.line, cwd: folder.real, environment };
    const rest = this.#inFolder(request, places, left - 1) ?? this.#analyse(request, places);
    return rest.fact.unclear === undefined ? { ...rest, paths: withoutRepeats([folder, ...rest.paths]) } : null;
  }

  #analyse(request: CommandRequest, places: CommandPlaces): CommandAnalysis {
    const { line, cwd } = request;
    const about = lookAtLine(line, cwd, places);
    const asGiven: Launch = { kind: 'line', line, environment: {} };
    const unclear = (why: string): CommandAnalysis => ({ ...about, fact: { line, cwd, unclear: why }, launch: asGiven });
    const plain = readPlainLine(line, this.#platform);
    if (!plain.ok) return this.#joined(request, about, places) ?? this.#expanded(request, places) ?? unclear(plain.error);
    const [name = ''] = plain.value;
    const program = this.#find(name, request, places);
    if (program === null) return unclear(`no program ${name} was found`);
    const look = lookAtPlain({ argv: plain.value, program, ...this.#subject(request, places) }, places, this.#hashes);
    const safer = look.plain.reads === null ? this.#expanded(request, places) : null;
    if (safer !== null && readsOf(safer.fact) !== null) return safer;
    return {
      ...about,
      hosts: hostsOf(about, look.plain),
      fact: { line, cwd, plain: look.plain },
      // The words alone say less about a command whose files are known.
      paths: withoutRepeats(look.plain.writes === undefined ? [...look.paths, ...about.paths] : look.paths),
      risks: [...about.risks, ...look.risks],
      launch: { kind: 'plain', file: program.file, argv: plain.value, environment: look.environment },
    };
  }

  /**
   * Analyses a line with patterns, variables or a loop by their present values, if it then only reads or changes files. Returns null for
   * any other line, and if an earlier change of the line could change those values.
   */
  #expanded(request: CommandRequest, places: CommandPlaces): CommandAnalysis | null {
    const listed = new Set<string>();
    const place = { ...request, onListed: (folder: string) => listed.add(folder) };
    const line = this.#platform === 'win32' ? null : lineToRun(request.line, place);
    if (line === null) return null;
    const inPlace = this.#inFolder({ ...request, line }, places, 1) ?? this.#analyse({ ...request, line }, places);
    // The names of a folder are in the words of the line, whatever its commands do with them.
    const shown = [...listed].map((folder) => places.fact(folder, request.cwd, 'read')).filter((folder) => !isOpen(folder));
    const analysis = { ...inPlace, paths: withoutRepeats([...shown, ...inPlace.paths]) };
    if (readsOf(analysis.fact) !== null) return { ...analysis, fact: { ...analysis.fact, line: request.line } };
    const writes = (analysis.fact.joined ?? analysis.fact.plain)?.writes;
    // A person who is asked sees the line that runs.
    return writes === undefined || (readsDisk.test(request.line) && changesBeforeEnd(analysis)) ? null : analysis;
  }

  /** Analyses a line of several commands that is as safe as its parts. Returns null for any other line. */
  #joined(request: CommandRequest, about: LineLook, places: CommandPlaces): CommandAnalysis | null {
    const { line, cwd } = request;
    const given = this.#platform === 'win32' ? null : readJoinedLine(line);
    if (given === null) return null;
    const parts = withWholeNames(given, this.#platform === 'linux');
    const looked: LookedAt[] = [];
    const changes = new LineChanges(cwd, places);
    for (const part of parts) {
      const program = this.#find(part.argv[0] ?? '', request, places);
      if (program === null) return null;
      const subject = { argv: part.argv, program, earlier: changes.next(part.joint), ...listedBy(part), ...this.#subject(request, places) };
      const one: LookedAt = {
        part,
        file: program.file,
        look: lookAtPlain(subject, places, this.#hashes),
        inputs: inputsOf(part).map((file) => places.fact(file, cwd, 'read')),
        outputs: outputsOf(part).map((file) => places.fact(file, cwd, 'write')),
      };
      changes.add(one);
      looked.push(one);
    }
    const look = lookAtJoined(looked, changes.onlyChangesFiles);
    if (look === null) return null;
    return {
      ...about,
      hosts: hostsOf(about, look.joined),
      fact: { line, cwd, joined: look.joined },
      paths: withoutRepeats([...look.paths, ...about.paths]),
      risks: [...about.risks, ...look.risks],
      launch: { kind: 'line', line: look.line, environment: look.environment },
    };
  }

  #subject(request: CommandRequest, places: CommandPlaces): Pick<PlainSubject, 'cwd' | 'environment' | 'find'> {
    return { cwd: request.cwd, environment: request.environment, find: (name) => this.#find(name, request, places) };
  }

  #find(name: string, { cwd, environment }: CommandRequest, places: CommandPlaces) {
    const path = environment['PATH'] ?? environment['Path'] ?? '';
    return findProgram(name, { cwd, path, writable: [...places.opened, places.home], platform: this.#platform });
  }
}

const listedBy = ({ listed }: JoinedPart): Pick<PlainSubject, 'listed'> => (listed === undefined ? {} : { listed });

/** Returns the line that runs in place of one with patterns, variables or a loop. Returns null if there is none. */
export function lineToRun(line: string, place: LinePlace): string | null {
  const rewritten = rewriteLine(line, place) ?? line;
  const expanded = expandPatterns(rewritten, place.cwd, place.onListed) ?? rewritten;
  return expanded === line ? null : expanded;
}

/** Signs of a value that depends on the files there: a pattern or a condition. */
const readsDisk = /[*?[]|\b(?:if|test)\b/;

/** Returns whether a command of the line changes files before the last pipeline begins. */
function changesBeforeEnd({ fact, launch }: CommandAnalysis): boolean {
  if (fact.joined?.writes === undefined || launch.kind !== 'line') return false;
  const parts = readJoinedLine(fact.line) ?? [];
  const last = parts.findLastIndex(({ joint }) => joint !== '|');
  return parts.slice(0, last).some((part) => outputsOf(part).length > 0 || isWriter(part.argv[0] ?? ''));
}

/** A command that only reads, or changes files, contacts no host, although a word of it may look like one (`HEAD:a.txt`). */
function hostsOf(about: LineLook, known: Pick<PlainCommand, 'reads' | 'writes'>): LineLook['hosts'] {
  return known.reads === null && known.writes === undefined ? about.hosts : [];
}

function withoutRepeats(paths: readonly PathFact[]): readonly PathFact[] {
  const seen = new Set<string>();
  return paths.filter((path) => {
    const key = `${path.access} ${path.given} ${path.real}`;
    return !seen.has(key) && seen.add(key) !== null;
  });
}
