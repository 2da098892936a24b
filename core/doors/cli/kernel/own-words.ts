// Errors of a command in the words of its arguments and options: an operation only knows its parameters.

import { AppError, toAppError } from '../../../contracts/errors.ts';
import { takenBy, type Entry, type Given } from './entries.ts';
import { argumentsOf, optionsOf, shapeOf } from './options.ts';

/** `Usage: trayclaw sessions show [options] <session-id>` */
export function usageOf(entry: Entry): string {
  return ['Usage: trayclaw', ...entry.path, '[options]', ...argumentsOf(entry, {}).map(shapeOf)].join(' ');
}

/** An empty path would mean the current folder, as it comes of a variable that is not set. Fails with `invalid_params`. */
export function refuseEmptyPaths(entry: Entry, given: Given): void {
  const paths = entry.form.paths ?? [];
  const isPath = (name: string): boolean => paths.includes(name) || /^(?:path|file|folder|cwd|workspace|into)$/.test(name);
  const labels = [
    ...argumentsOf(entry, {}).flatMap(({ name, label }) => (isPath(name) && given[name] === '' ? [`<${label}>`] : [])),
    ...optionsOf(entry, {}).flatMap(({ key, label, parameter }) =>
      isPath(parameter ?? key) && [given[key]].flat().includes('') ? [label] : [],
    ),
  ];
  const [label] = labels;
  if (label !== undefined) throw new AppError('invalid_params', `${label} must not be empty.`, { data: { hint: usageOf(entry) } });
}

/** The error as its command says it, with the next step where there was none. */
export function inOwnWords(cause: unknown, entry: Entry, entries: readonly Entry[]): AppError {
  const error = toAppError(cause);
  const { code, data, isRetryable } = error;
  const { issues } = data;
  if (code === 'invalid_params' && Array.isArray(issues)) {
    const message = `${issues.map((issue) => renamed(String(issue), entry)).join('; ')}.`;
    return new AppError(code, message, { data: { ...data, hint: error.hint ?? usageOf(entry) }, isRetryable, cause });
  }
  if (code !== 'not_found' || error.hint !== undefined) return error;
  const list = listFor(entry, entries);
  return list === null
    ? error
    : new AppError(code, error.message, { data: { ...data, hint: `See: trayclaw ${list}` }, isRetryable, cause });
}

/** An issue begins with the path of the key it is about. */
function renamed(issue: string, entry: Entry): string {
  const whole = issue.replace(/^the parameters: /, '');
  return whole.replace(/^[\w.]+/, (path) => {
    const names = [path, ...path.split('.')];
    const argument = argumentsOf(entry, {}).find(({ name }) => names.includes(name));
    if (argument !== undefined) return `<${argument.label}>`;
    return optionsOf(entry, {}).find(({ parameter, key }) => names.includes(parameter ?? key))?.label ?? path;
  });
}

/** The command that lists what the first argument names. */
function listFor({ path, form }: Entry, entries: readonly Entry[]): string | null {
  const [first] = takenBy(form);
  if (first === undefined) return null;
  if (first.name === 'turnId') return 'activity search';
  if (first.name === 'sessionId') return 'sessions list';
  const list = `${path[0] ?? ''} list`;
  return entries.some((entry) => entry.path.join(' ') === list) ? list : null;
}
