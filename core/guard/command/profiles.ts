// All programs known to be mere readers, by name. Adds nothing to what the lists say.

import { expressionProfiles } from './expression-profiles.ts';
import { placeProfiles } from './place-profiles.ts';
import type { Profile } from './profile.ts';
import { searchProfiles } from './search-profiles.ts';
import { textProfiles } from './text-profiles.ts';

export const readers: ReadonlyMap<string, Profile> = new Map(
  [...textProfiles, ...placeProfiles, ...searchProfiles, ...expressionProfiles].map((profile) => [profile.program, profile]),
);
