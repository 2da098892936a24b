// Ties the path that a tool opens to the path that the gate saw. Facts are remembered by the call's own argument object, and a run whose
// path has since come to lead elsewhere is refused. Opens nothing itself.

import { AppError } from '../../contracts/errors.ts';
import type { CallFacts, FactContext, PathFact } from '../../contracts/tools.ts';
import type { CommandPlaces } from '../../guard/command/command.ts';
import { realPathFileSystem } from './file-system-port.ts';
import { PathFacts } from './path-facts.ts';
import { protectionOf } from './protected-places.ts';

/** For tools outside this module. */
export function createCheckedPaths(userHome: string): Pick<CheckedPaths, 'fact' | 'confirm'> {
  return new CheckedPaths(new PathFacts({ files: realPathFileSystem, userHome }));
}

export class CheckedPaths {
  readonly #facts: PathFacts;
  readonly #shown = new WeakMap<object, PathFact>();

  constructor(facts: PathFacts) {
    this.#facts = facts;
  }

  callFacts(args: object, given: string, access: PathFact['access'], context: FactContext): CallFacts {
    return { class: access, paths: [this.fact(args, given, access, context)], command: null, hosts: [] };
  }

  fact(args: object, given: string, access: PathFact['access'], context: FactContext): PathFact {
    const fact = this.#facts.forOneLook().of(given, access, context);
    this.remember(args, fact);
    return fact;
  }

  /** Ties a fact that was obtained elsewhere to the call. */
  remember(args: object, fact: PathFact): void {
    this.#shown.set(args, fact);
  }

  /** Resolves a path to show what a call would do. Ties and confirms nothing. */
  look(given: string, context: FactContext): string {
    return this.#facts.of(given, 'write', context).real;
  }

  /** Returns the rules for paths in a command line. */
  commandPlaces(context: FactContext): ExecPlaces {
    return placesOf(this.#facts, context);
  }

  /** Returns the real path to act on now. Fails with `tool_failed` if it is not the one in the facts. */
  confirm(args: object, given: string, access: PathFact['access'], context: FactContext): PathFact {
    const facts = this.#facts.forOneLook();
    const problem = facts.problemOf(given, context);
    if (problem !== null) throw new AppError('tool_failed', `Cannot use this path: ${problem}.`);
    const now = facts.of(given, access, context);
    const shown = this.#shown.get(args);
    if (shown !== undefined && shown.real !== now.real) {
      throw new AppError('tool_failed', `${given} leads to ${now.real} now; it led to ${shown.real} when the call was checked.`, {
        hint: 'Nothing was done. List the folder again, then repeat the call.',
      });
    }
    return now;
  }

  folders(context: FactContext): ReturnType<PathFacts['folders']> {
    return this.#facts.folders(context);
  }
}

// Answers the command analysis's questions about paths by the same rules as for every file tool. Opens nothing.

interface ExecPlaces extends CommandPlaces {
  /** Resolves a path from the call's own arguments: relative to the workspace, with `~` as the person's home folder. */
  given(path: string): PathFact;
}

/** For one check of a call: the folders are resolved once. */
function placesOf(allFacts: PathFacts, context: FactContext): ExecPlaces {
  const facts = allFacts.forOneLook();
  const folders = facts.folders(context);
  const judged = new Map<string, PathFact>();
  return {
    opened: folders.opened,
    home: folders.home,
    userHome: facts.userHome,
    given: (path) => facts.of(path, 'read', context),
    fact: (given, cwd, access) => {
      const key = `${access}\0${cwd}\0${given}`;
      const fact = judged.get(key) ?? facts.inFolder(given, cwd, access, folders);
      judged.set(key, fact);
      return fact;
    },
    protectionOf: (real) => protectionOf(real, folders),
  };
}
