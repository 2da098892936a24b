// The error of every look-up by name: what there is not, and the names that were probably meant. Looks nothing up itself.

import { didYouMean, nearNames } from '../base/near-names.ts';
import { AppError } from './errors.ts';

const NAME_CHARS_MAX = 100;

/** `what` is the kind of thing, such as `saved prompt`; `otherwise` is the hint if no known name is near. */
export function noSuch(what: string, name: string, known: Iterable<string>, otherwise: string): AppError {
  const shown = name.length > NAME_CHARS_MAX ? `${name.slice(0, NAME_CHARS_MAX)}…` : name;
  return new AppError('not_found', `There is no ${what} ${shown}.`, { hint: didYouMean(nearNames(name, known)) ?? otherwise });
}
