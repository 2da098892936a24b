// Describes in plain English the problems that a schema found. The only module that turns issues of the schema library into sentences, for
// settings, operations, commands and tools alike. An issue with a message of ours keeps it.

import { counted } from '../base/counted.ts';
import type * as z from 'zod';
import { isPlainObject } from '../base/json.ts';
import { nearNames } from '../base/near-names.ts';
import { keysAt } from './schema-keys.ts';

const ISSUES_MAX = 10;
const CHARS_MAX = 200;

export interface Checked {
  /** The checked value. It distinguishes a missing key from an invalid one. */
  readonly given: unknown;
  /** The name of the whole value, for issues that name no key. */
  readonly whole: string;
  /** Keys that are valid in some other form of the value. Such a key is reported as misplaced instead of unknown. */
  readonly told?: unknown;
  /** The schema of the value. With it, similar keys are suggested for an unknown one. */
  readonly schema?: z.core.$ZodType;
}

/**
 * A sentence without its full stop for each issue, such as `models.default is missing`. At most ten, followed by the number of the others.
 */
export function describeIssues(issues: readonly z.core.$ZodIssue[], checked: Checked): string[] {
  const lines = issues.slice(0, ISSUES_MAX).flatMap((issue) => describeIssue(issue, checked, []));
  if (issues.length > ISSUES_MAX) lines.push(`and ${issues.length - ISSUES_MAX} more`);
  return lines.map(shorten);
}

type Path = readonly PropertyKey[];

function describeIssue(issue: z.core.$ZodIssue, checked: Checked, above: Path): string[] {
  const path = [...above, ...issue.path];
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => describeUnknownKey([...path, key], checked));
  if (issue.code === 'invalid_union') return describeUnion(issue, checked, path);
  if (issue.code === 'invalid_key' || issue.code === 'invalid_element') {
    return issue.issues.flatMap((inner) => describeIssue({ ...inner, path: [] }, checked, path));
  }
  return [joined(nameOf(path, checked), sentence(issue, valueAt(checked.given, path)))];
}

function describeUnknownKey(path: Path, checked: Checked): string {
  const isTold = path.length === 1 && isPlainObject(checked.told) && Object.hasOwn(checked.told, String(path[0]));
  if (isTold) return `${nameOf(path, checked)} does not go with the other arguments; leave it out`;
  const above = path.slice(0, -1);
  const known = checked.schema === undefined ? null : keysAt(checked.schema, above);
  const near = nearNames(String(path.at(-1)), known ?? []).map((name) => nameOf([...above, name], checked));
  return `${nameOf(path, checked)} is not a known key${near.length === 0 ? '' : ` (did you mean ${near.join(' or ')}?)`}`;
}

/** Joins a message to the name of a key: directly if the message continues the sentence, otherwise with a colon. */
function joined(name: string, said: string): string {
  return /^(?:must|is|are|has|have|needs|does|do|may|can|cannot|names)\b/.test(said) ? `${name} ${said}` : `${name}: ${said}`;
}

/** Reports the closest branch: the one with the fewest complaints about this value. */
function describeUnion(issue: z.core.$ZodIssueInvalidUnion, checked: Checked, path: Path): string[] {
  const name = nameOf(path, checked);
  const value = valueAt(checked.given, path);
  const options = 'options' in issue && Array.isArray(issue.options) ? (issue.options as unknown[]) : [];
  if (options.length > 0)
    return [
      `${name} ${value === undefined ? 'is missing (it must be' : 'must be'} one of ${listed(options)}${value === undefined ? ')' : ''}`,
    ];
  if (value === undefined) return [`${name} is missing`];
  const branches = issue.errors.filter((branch) => branch.length > 0);
  const nearest = branches.toSorted((a, b) => depth(b) - depth(a) || a.length - b.length)[0];
  const isAmbiguous = branches.length > 1 && branches.every((branch) => depth(branch) === 0);
  if (nearest === undefined || isAmbiguous) return [joined(name, isOwn(issue) ? issue.message : noneOf(branches, value))];
  return nearest.flatMap((inner) => describeIssue(inner, checked, path));
}

function noneOf(branches: readonly (readonly z.core.$ZodIssue[])[], value: unknown): string {
  const types = branches.flatMap(([first]) => (first?.code === 'invalid_type' ? [typeName(first.expected)] : []));
  return types.length < branches.length
    ? 'has none of the forms it may have'
    : `must be ${[...new Set(types)].join(' or ')}, not ${nameOfType(value)}`;
}

/** How deep a branch got before it found an error. */
function depth(branch: readonly z.core.$ZodIssue[]): number {
  return Math.max(...branch.map((issue) => issue.path.length));
}

function sentence(issue: z.core.$ZodIssue, value: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      return wrongType(issue.expected, value);
    case 'too_small':
      return tooSmall(issue);
    case 'too_big':
      return tooBig(issue);
    case 'invalid_value':
      if (isOwn(issue)) return issue.message;
      return value === undefined ? `is missing (it must be one of ${listed(issue.values)})` : `must be ${oneOf(issue.values)}`;
    case 'invalid_format':
      if (isOwn(issue)) return issue.message;
      return issue.format === 'url' ? 'must be a web address such as https://example.org' : 'does not have the right form';
    case 'not_multiple_of':
      return `must be a multiple of ${String(issue.divisor)}`;
    default:
      return isOwn(issue) ? issue.message : 'is not valid';
  }
}

function wrongType(expected: string, value: unknown): string {
  if (value === undefined) return expected === 'nonoptional' ? 'is missing' : `is missing (it must be ${typeName(expected)})`;
  if (expected === 'number' && typeof value === 'number') return 'must be a finite number';
  return `must be ${typeName(expected)}, not ${nameOfType(value)}`;
}

function nameOfType(value: unknown): string {
  return typeName(value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);
}

function tooSmall({ origin, minimum, inclusive, ...issue }: z.core.$ZodIssueTooSmall): string {
  if (isOwn(issue)) return issue.message;
  if (origin === 'string') return minimum === 1 ? 'must not be empty' : `must have at least ${String(minimum)} characters`;
  if (isCounted(origin)) return minimum === 1 ? 'must not be empty' : `must have at least ${String(minimum)} entries`;
  return inclusive === false ? `must be more than ${String(minimum)}` : `must be at least ${String(minimum)}`;
}

function tooBig({ origin, maximum, inclusive, ...issue }: z.core.$ZodIssueTooBig): string {
  if (isOwn(issue)) return issue.message;
  if (origin === 'string') return `must have at most ${String(maximum)} characters`;
  if (isCounted(origin)) return `must have at most ${counted(Number(maximum), 'entry', 'entries')}`;
  return inclusive === false ? `must be less than ${String(maximum)}` : `must be at most ${String(maximum)}`;
}

const isCounted = (origin: string): boolean => origin === 'array' || origin === 'set' || origin === 'map' || origin === 'object';

/** The library's own messages begin in one of these ways. Any other message is ours. */
function isOwn({ message }: { readonly message: string }): boolean {
  return !/^(?:Invalid|Too |Unrecognized)/.test(message);
}

function oneOf(values: readonly unknown[]): string {
  return values.length === 1 ? String(values[0]) : `one of ${listed(values)}`;
}

function listed(values: readonly unknown[]): string {
  return values.map(String).join(', ');
}

function typeName(type: string): string {
  return typeNames[type] ?? `a ${type}`;
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  int: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'keys with values',
  record: 'keys with values',
  null: 'empty',
  undefined: 'left out',
};

function nameOf(path: Path, { whole }: Checked): string {
  return path.length === 0 ? whole : path.map(String).join('.');
}

function valueAt(given: unknown, path: Path): unknown {
  let value: unknown = given;
  for (const key of path) {
    if (Array.isArray(value)) value = (value as unknown[])[Number(key)];
    else if (isPlainObject(value) && Object.hasOwn(value, key)) value = value[String(key)];
    else return undefined;
  }
  return value;
}

function shorten(text: string): string {
  return text.length <= CHARS_MAX ? text : `${text.slice(0, CHARS_MAX)}…`;
}
