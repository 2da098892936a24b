// Rewrites the errors of operations in terms of the command's arguments and options, because an operation knows only its parameters.

import { AppError, toAppError } from '../../../contracts/errors.ts';
import { takenBy, type Entry, type Given } from './entries.ts';
import { argumentsOf, optionsOf, shapeOf } from './options.ts';

/** Such as `Usage: trayclaw sessions show [options] <session-id>`. */
export function usageOf(entry: Entry): string {
  return ['Usage: trayclaw', ...entry.path, '[options]', ...argumentsOf(entry, {}).map(shapeOf)].join(' ');
}

/** The full command line of the example. */
export function exampleOf({ path, form }: Pick<Entry, 'path' | 'form'>): string {
  return ['trayclaw', ...path, form.example ?? ''].join(' ').trim();
}

/** An empty path, for example from an unset variable, would mean the current folder. Fails with `invalid_params`. */
export function refuseEmptyPaths(entry: Entry, given: Given): void {
  const labels = [
    ...argumentsOf(entry, {}).flatMap(({ name, label, isPath }) => (isPath && given[name] === '' ? [`<${label}>`] : [])),
    ...optionsOf(entry, {}).flatMap(({ key, label, isPath }) => (isPath && [given[key]].flat().includes('') ? [label] : [])),
  ];
  const [label] = labels;
  if (label !== undefined) throw new AppError('invalid_params', `${label} must not be empty.`, { hint: usageOf(entry) });
}

/** The error in the command's terms, with a next step if it had none: a usage error ends with a command. */
export function inOwnWords(cause: unknown, entry: Entry, entries: readonly Entry[]): AppError {
  const error = inTermsOf(cause, entry, entries);
  const { code, message, data, isRetryable, hint } = error;
  if (code !== 'invalid_params' || /\btrayclaw [a-z]/.test(error.told())) return error;
  const help = `See: trayclaw ${entry.path.join(' ')} --help`;
  return new AppError(code, message, { data, hint: hint === undefined ? help : `${hint}\n${help}`, isRetryable, cause });
}

function inTermsOf(cause: unknown, entry: Entry, entries: readonly Entry[]): AppError {
  const error = toAppError(cause);
  const { code, data, isRetryable } = error;
  const { issues } = data;
  if (code === 'invalid_params' && Array.isArray(issues)) {
    const message = `${issues.map((issue) => renamed(String(issue), entry)).join('; ')}.`;
    const hint =
      issues.some((issue) => isMissing.test(String(issue))) && entry.form.example !== undefined
        ? `${usageOf(entry)}\nExample: ${exampleOf(entry)}`
        : usageOf(entry);
    return new AppError(code, message, { data, hint: error.hint ?? hint, isRetryable, cause });
  }
  if (error.hint !== undefined) return error;
  const list = code === 'unknown_tool' ? 'tools' : code === 'not_found' ? listFor(entry, entries, data) : null;
  return list === null ? error : new AppError(code, error.message, { data, hint: `See: trayclaw ${list}`, isRetryable, cause });
}

const isMissing = / is missing\b.*$/;

/** An issue starts with the path of its key. A missing argument is described by its help text, because its type alone does not help. */
function renamed(issue: string, entry: Entry): string {
  const whole = issue.replace(/^the parameters: /, '');
  const [path = ''] = /^[\w.]+/.exec(whole) ?? [];
  // The last key says most: `provider.baseUrl` is about the address, if the command asks for one.
  const names = [path, ...path.split('.').toReversed()];
  const argument = argumentsOf(entry, {}).find(({ name }) => names.includes(name));
  const options = optionsOf(entry, {});
  const option = names.flatMap((name) => options.find(({ parameter, key }) => name === (parameter ?? key)) ?? [])[0];
  const label = argument === undefined ? (option?.label ?? path) : `<${argument.label}>`;
  const about = (argument ?? option)?.about ?? '';
  const said = whole.slice(path.length);
  return label + (about === '' ? said : said.replace(isMissing, ` is missing: ${about}`));
}

/** The command that lists the possible values of what was not found: by default, of the first argument. */
function listFor({ path, form }: Entry, entries: readonly Entry[], data: AppError['data']): string | null {
  const [first] = takenBy(form);
  if ('sessionId' in data || first?.name === 'sessionId') return 'sessions list';
  if ('turnId' in data || first?.name === 'turnId') return 'activity search';
  if (first === undefined) return null;
  const list = `${path[0] ?? ''} list`;
  return entries.some((entry) => entry.path.join(' ') === list) ? list : null;
}
