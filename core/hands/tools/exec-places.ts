// Answers the command analysis's questions about paths by the same rules as for every file tool. Opens nothing.

import type { CommandPlaces } from '../../guard/command/command.ts';
import type { FactContext, PathFact } from '../../contracts/tools.ts';
import type { PathFacts } from './path-facts.ts';
import { protectionOf } from './protected-places.ts';

export interface ExecPlaces extends CommandPlaces {
  /** Resolves a path from the call's own arguments: relative to the workspace, with `~` as the person's home folder. */
  given(path: string): PathFact;
}

/** For one check of a call: the folders are resolved once. */
export function placesOf(allFacts: PathFacts, context: FactContext): ExecPlaces {
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
