// Path patterns in rules of config.yaml: a file, or a folder with everything below it. `*` and `?` match within one name, `**` across
// names. Pure.

import { isAbsolute, resolve, sep } from 'node:path';
import { namesMatcher } from '../../base/wildcard.ts';

/** `ignoresCase` keeps a different spelling from evading a rule on a case-insensitive disk. */
export function pathGlob(pattern: string, workspace: string, ignoresCase: boolean): (real: string) => boolean {
  const fold = (text: string): string => (ignoresCase ? text.toLowerCase() : text);
  const parts = partsOf(fold(isAbsolute(pattern) ? pattern : resolve(workspace, pattern)));
  // A named folder covers everything below it.
  const matches = namesMatcher([...parts, '**']);
  return (real) => matches(partsOf(fold(real)));
}

function partsOf(path: string): string[] {
  return path.split(sep === '/' ? '/' : /[\\/]/).filter((part) => part !== '');
}
