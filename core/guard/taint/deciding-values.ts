// Finds the values of a call that determine its effect or that leave this machine, and who may vouch for each. Pure except for the port.

import { isAbsolute, relative, sep } from 'node:path';
import { isPlainObject, parseJson } from '../../base/json.ts';
import type { CallFacts, PathFact } from '../../contracts/tools.ts';
import { isLiveFile } from './live-files.ts';
import type { ValueKind } from './missing-pieces.ts';

export interface DecidingValue {
  readonly kind: ValueKind;
  readonly value: string;
  /** person: only the person's own text. workspace: also trusted results from before any untrusted content. */
  readonly vouched: 'person' | 'workspace';
}

export interface ValueContext {
  /** The workspace and additional opened folders, real paths. */
  readonly folders: readonly string[];
  readonly files: { exists(path: string): boolean; isExecutable(path: string): boolean };
}

export interface ValuedCall {
  readonly argsJson: string;
  readonly facts: CallFacts;
}

const VALUES_MAX = 500;
const DEPTH_MAX = 20;
/** Settings of built-in tools that choose a form and carry no data. */
const neutral: ReadonlySet<string> = new Set(['get', 'head', 'markdown', 'text', 'html', 'json', 'auto']);

/** Returns an empty list for a read-only call where reading is free. */
export function decidingValues(call: ValuedCall, opened: ValueContext): DecidingValue[] {
  const { facts } = call;
  // The person also named the session's own folder.
  const context = facts.workspace === undefined ? opened : { ...opened, folders: [facts.workspace, ...opened.folders] };
  if (facts.command !== null) {
    const cwd = showPath(facts.command.cwd, facts.command.cwd, context);
    return [{ kind: 'command', value: facts.command.line, vouched: 'person' }, ...pathValues([cwd])];
  }
  if (facts.decides !== undefined) return facts.decides.map((value) => ({ kind: 'text', value, vouched: 'person' }));
  // A number outside the address only limits the answer. All other values are sent, or may be.
  if (facts.request?.reads === true) return allValues(call.argsJson, 'person', { topNumbers: false });
  if (facts.class === 'read' && facts.hosts.length === 0)
    return pathValues(facts.paths.filter(isGuarded).map((path) => show(path, context)));
  if (facts.class === 'write' && facts.paths.length > 0)
    return [...facts.paths.map((path) => placeValue(path, context)), ...liveContent(call, context)];
  return allValues(call.argsJson, 'person');
}

/** The content a call writes, without its path. */
export function contentValues(call: ValuedCall): DecidingValue[] {
  const places = new Set(call.facts.paths.map((path) => path.given));
  return allValues(call.argsJson, 'workspace').filter(({ value }) => !places.has(value));
}

function liveContent(call: ValuedCall, context: ValueContext): DecidingValue[] {
  const live = call.facts.paths.some(
    (path) => path.access === 'write' && isLiveFile(show(path, context), () => context.files.isExecutable(path.real)),
  );
  return live ? contentValues(call) : [];
}

function pathValues(paths: readonly string[]): DecidingValue[] {
  return paths.map((value) => ({ kind: 'path', value, vouched: 'workspace' }));
}

/** Changing an existing file needs a path the person named. The name of a new file may come from any trusted text in the session. */
function placeValue(path: PathFact, context: ValueContext): DecidingValue {
  const value = show(path, context);
  if (path.access === 'write' && context.files.exists(path.real)) return { kind: 'name', value, vouched: 'person' };
  return { kind: 'path', value, vouched: 'workspace' };
}

function isGuarded(path: PathFact): boolean {
  return !path.insideWorkspace || path.protectedBy !== null;
}

function show(path: PathFact, context: ValueContext): string {
  return isAbsolute(path.given) ? showPath(path.real, path.given, context) : path.given;
}

/** Returns the path relative to the opened folder that contains it. The person named that folder by opening it. */
function showPath(real: string, given: string, context: ValueContext): string {
  for (const folder of context.folders) {
    const way = relative(folder, real);
    if (way !== '..' && !way.startsWith('..' + sep) && !isAbsolute(way)) return way;
  }
  return given;
}

function allValues(argsJson: string, vouched: DecidingValue['vouched'], take = { topNumbers: true }): DecidingValue[] {
  const parsed = parseJson(argsJson);
  const texts: string[] = [];
  const isTaken = parsed.ok && collect(take.topNumbers ? parsed.value : withoutNumbers(parsed.value), texts, 0);
  // Arguments that cannot be parsed are one value that counts as not said.
  return (isTaken ? texts : [argsJson]).map((value) => ({ kind: 'text', value, vouched }));
}

function withoutNumbers(value: unknown): unknown {
  return isPlainObject(value) ? Object.fromEntries(Object.entries(value).filter(([, one]) => typeof one !== 'number')) : value;
}

/** Returns false if there is too much to check. Names of parameters come from the tool; nested names come from the model. */
function collect(value: unknown, into: string[], depth: number): boolean {
  if (into.length > VALUES_MAX || depth > DEPTH_MAX) return false;
  if (typeof value === 'string') {
    if (depth > 1 || !neutral.has(value.toLowerCase())) into.push(value);
    return true;
  }
  if (typeof value === 'number') into.push(String(value));
  if (Array.isArray(value)) return value.every((item: unknown) => collect(item, into, depth + 1));
  if (!isPlainObject(value)) return true;
  if (depth > 0) into.push(...Object.keys(value));
  return Object.values(value).every((item) => collect(item, into, depth + 1));
}
