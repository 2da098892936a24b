// Paths as a rule of config.yaml names them: a file or folder with all below; `*` and `?` stay within one name, `**` does not. Pure.

import { isAbsolute, resolve, sep } from 'node:path';

/** `ignoresCase` where a look-alike on some disk must not slip through. */
export function pathGlob(pattern: string, workspace: string, ignoresCase: boolean): (real: string) => boolean {
  const whole = toSlashes(isAbsolute(pattern) ? pattern : resolve(workspace, pattern)).replace(/\/+$/, '');
  const source = whole
    .split('/')
    .map(partSource)
    .join('/')
    .replace(/(?:\/<all>)+/g, '(?:/.*)?');
  const expression = new RegExp(`^${source}(?:/.*)?$`, ignoresCase ? 'isu' : 'su');
  return (real) => expression.test(toSlashes(real));
}

function partSource(part: string): string {
  if (/^\*{2,}$/.test(part)) return '<all>';
  // A run of stars means no more than one: so the expression never has two ways to read the same text.
  return part
    .replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
    .replace(/(?:\\\*)+/g, '[^/]*')
    .replaceAll('\\?', '[^/]')
    .replaceAll('<', '\\x3c');
}

function toSlashes(path: string): string {
  return sep === '/' ? path : path.split(sep).join('/');
}
