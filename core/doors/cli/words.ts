// A word of an option against the words there are.

import { AppError } from '../../contracts/errors.ts';

/** Fails with `invalid_params`. */
export function oneOf<T extends string>(known: readonly T[], word: string, option: string): T {
  const found = known.find((one) => one === word);
  if (found === undefined) throw new AppError('invalid_params', `${option} takes one of ${known.join(', ')}, not "${word}".`);
  return found;
}
