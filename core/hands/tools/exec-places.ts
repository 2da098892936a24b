// What the analysis of commands asks about paths, answered by the same rules as for every file tool. Opens nothing.

import type { CommandPlaces } from '../../guard/command/command.ts';
import type { FactContext } from '../../contracts/tools.ts';
import type { PathFacts } from './path-facts.ts';
import { protectionOf } from './protected-places.ts';

/** For one look at a call: the folders are resolved once. */
export function placesOf(facts: PathFacts, context: FactContext): CommandPlaces {
  const folders = facts.folders(context);
  return {
    opened: folders.opened,
    home: folders.home,
    userHome: facts.userHome,
    fact: (given, cwd, access) => facts.inFolder(given, cwd, access, folders),
    protectionOf: (real) => protectionOf(real, folders),
  };
}
