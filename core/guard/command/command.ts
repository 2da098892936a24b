// Understands commands before they run: whether a line is one plain program, its known effects, the files it runs, and the possible effects
// of any other line. Does not decide permission and starts nothing.

import type { CommandFact, PathFact } from '../../contracts/tools.ts';
import { ContentHashes } from './content-hash.ts';
import { lookAtJoined, type LookedAt } from './joined-command.ts';
import { readJoinedLine } from './joined-line.ts';
import { lookAtLine, type LineLook } from './line-risks.ts';
import type { CommandPlaces } from './protected-walk.ts';
import { lookAtPlain } from './plain-command.ts';
import { readPlainLine } from './plain-line.ts';
import { findProgram } from './program-path.ts';

export type { CommandPlaces } from './protected-walk.ts';
export { readJoinedLine, type JoinedPart } from './joined-line.ts';
export { literalWords } from './literal-lexer.ts';
export { lookAtLine } from './line-risks.ts';

export interface CommandRequest {
  readonly line: string;
  /** Real path of the folder it runs in. */
  readonly cwd: string;
  /** The environment of the child, without the markers of a call. */
  readonly environment: Readonly<Record<string, string>>;
}

/** plain: this file, with the first word of the list as its name. line: this text, run by the shell. */
export type Launch = (
  | { readonly kind: 'plain'; readonly file: string; readonly argv: readonly string[] }
  | { readonly kind: 'line'; readonly line: string }
) & {
  /** Added to the environment every child gets. */
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

export class CommandAnalyst {
  readonly #platform: NodeJS.Platform;
  readonly #hashes: ContentHashes;

  constructor(options: CommandAnalystOptions) {
    this.#platform = options.platform;
    this.#hashes = new ContentHashes(options.nowMs);
  }

  /** Reads the disk, changes nothing. The same line gets the same answer as long as nothing it depends on changes. */
  analyse(request: CommandRequest, places: CommandPlaces): CommandAnalysis {
    const { line, cwd } = request;
    const about = lookAtLine(line, cwd, places);
    const asGiven: Launch = { kind: 'line', line, environment: {} };
    const unclear = (why: string): CommandAnalysis => ({ ...about, fact: { line, cwd, unclear: why }, launch: asGiven });
    const plain = readPlainLine(line, this.#platform);
    if (!plain.ok) return this.#joined(request, about, places) ?? unclear(plain.error);
    const [name = ''] = plain.value;
    const program = this.#find(name, request, places);
    if (program === null) return unclear(`no program ${name} was found`);
    const look = lookAtPlain({ argv: plain.value, program, cwd, environment: request.environment }, places, this.#hashes);
    return {
      ...about,
      fact: { line, cwd, plain: look.plain },
      paths: withoutRepeats([...look.paths, ...about.paths]),
      risks: [...about.risks, ...look.risks],
      launch: { kind: 'plain', file: program.file, argv: plain.value, environment: look.environment },
    };
  }

  /** A line of several commands that is as safe as its parts; null for any other. */
  #joined(request: CommandRequest, about: LineLook, places: CommandPlaces): CommandAnalysis | null {
    const { line, cwd, environment } = request;
    const parts = this.#platform === 'win32' ? null : readJoinedLine(line);
    if (parts === null) return null;
    const looked: LookedAt[] = [];
    for (const part of parts) {
      const program = this.#find(part.argv[0] ?? '', request, places);
      if (program === null) return null;
      looked.push({ part, file: program.file, look: lookAtPlain({ argv: part.argv, program, cwd, environment }, places, this.#hashes) });
    }
    const look = lookAtJoined(looked);
    if (look === null) return null;
    return {
      ...about,
      fact: { line, cwd, joined: look.joined },
      paths: withoutRepeats([...look.paths, ...about.paths]),
      risks: [...about.risks, ...look.risks],
      launch: { kind: 'line', line: look.line, environment: look.environment },
    };
  }

  #find(name: string, { cwd, environment }: CommandRequest, places: CommandPlaces) {
    const path = environment['PATH'] ?? environment['Path'] ?? '';
    return findProgram(name, { cwd, path, writable: [...places.opened, places.home], platform: this.#platform });
  }
}

function withoutRepeats(paths: readonly PathFact[]): readonly PathFact[] {
  const seen = new Set<string>();
  return paths.filter((path) => {
    const key = `${path.access} ${path.given} ${path.real}`;
    return !seen.has(key) && seen.add(key) !== null;
  });
}
