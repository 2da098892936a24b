// Decides whether a line consists only of plain commands joined by `&&`, `||`, `;` or `|`. As for a single command, two independent parsers
// must agree: our own, which splits the line and reads each piece, and the tree of the shell parser.

import type { Command, PipelineNode, Redirection, Statement } from 'unbash';
import { readPlainLine } from './plain-line.ts';
import { literalCommand, parseShell } from './shell-tree.ts';

export type Joint = '&&' | '||' | ';' | '|';

export interface JoinedPart {
  /** The operator before the part; null for the first part. */
  readonly joint: Joint | null;
  readonly argv: readonly string[];
  /** Outputs that are discarded, merged or written to a file, and files that are read: `2>/dev/null`, `2>&1`, `>>a.txt`, `<a.txt`, in order. */
  readonly redirects: readonly string[];
  /** The files whose names it gets on its input, each name as a whole. */
  readonly listed?: ListedFiles;
}

export interface ListedFiles {
  /** The folders they are in. */
  readonly roots: readonly string[];
  /** The arguments of the `find` that finds them. */
  readonly found?: readonly string[];
  /** Set if git lists them: tracked files, whose names begin with no folder. */
  readonly areTracked?: true;
}

const PARTS_MAX = 60;
const redirectAtEnd = /\s(?<text>2>&1|[12]?>>? ?[\w./][\w./-]*|< ?[\w./][\w./-]*)\s*$/;
const output = /^[12]?>>?([^&].*)$/;

/** Returns the names of the files that a part reads as its input. */
export function inputsOf({ redirects }: JoinedPart): readonly string[] {
  const files = redirects.filter((redirect) => redirect.startsWith('<')).map((redirect) => redirect.slice(1));
  return files.filter((file) => file !== '/dev/null');
}

/** Returns the names of the files that a part writes its output to. */
export function outputsOf({ redirects }: JoinedPart): readonly string[] {
  return redirects.flatMap((redirect) => output.exec(redirect)?.[1] ?? []).filter((file) => file !== '/dev/null');
}

/** Returns the parts in order, also for one command with redirects. Returns null for any other line, and for a single plain command. */
export function readJoinedLine(line: string): readonly JoinedPart[] | null {
  const own = readOwn(line);
  if (own === null || (own.length === 1 && own[0]?.redirects.length === 0)) return null;
  const parsed = readTree(line);
  return parsed !== null && JSON.stringify(own) === JSON.stringify(parsed) ? own : null;
}

function readOwn(line: string): JoinedPart[] | null {
  const pieces = cutLine(line);
  if (pieces === null || pieces.length > PARTS_MAX) return null;
  const parts: JoinedPart[] = [];
  for (const { joint, text } of pieces) {
    const { rest, redirects } = takeRedirects(text);
    const plain = readPlainLine(rest, 'linux');
    if (!plain.ok) return null;
    parts.push({ joint, argv: plain.value, redirects });
  }
  return parts;
}

export interface Piece {
  readonly joint: Joint | null;
  readonly text: string;
}

/** Splits at operators outside quotes. Returns null if a quote stays open or an operator is not supported. */
export function cutLine(line: string): Piece[] | null {
  const pieces: Piece[] = [];
  let joint: Joint | null = null;
  let from = 0;
  for (let at = 0; at < line.length; at++) {
    const character = line[at] ?? '';
    if (character === "'" || character === '"') {
      const end = closingQuote(line, at);
      if (end === null) return null;
      at = end;
      continue;
    }
    if (character === '\\') {
      at += 1;
      continue;
    }
    const found: Joint | null = jointAt(line, at);
    if (found === null) continue;
    pieces.push({ joint, text: line.slice(from, at) });
    joint = found;
    at += found.length - 1;
    from = at + 1;
  }
  return [...pieces, { joint, text: line.slice(from) }];
}

function jointAt(line: string, at: number): Joint | null {
  const two = line.slice(at, at + 2);
  if (two === '&&' || two === '||') return two;
  const one = line[at];
  return one === ';' || one === '|' ? one : null;
}

export function closingQuote(line: string, at: number): number | null {
  if (line[at] === "'") {
    const end = line.indexOf("'", at + 1);
    return end < 0 ? null : end;
  }
  for (let end = at + 1; end < line.length; end++) {
    if (line[end] === '\\') end += 1;
    else if (line[end] === '"') return end;
  }
  return null;
}

function takeRedirects(text: string): { rest: string; redirects: string[] } {
  const redirects: string[] = [];
  let rest = text;
  for (let found = redirectAtEnd.exec(rest); found !== null; found = redirectAtEnd.exec(rest)) {
    redirects.unshift((found.groups?.['text'] ?? '').replace(' ', ''));
    rest = rest.slice(0, found.index);
  }
  return { rest: rest.trim(), redirects };
}

function readTree(line: string): JoinedPart[] | null {
  const tree = parseShell(line);
  if (tree === null || (tree.errors?.length ?? 0) > 0 || tree.shebang !== undefined) return null;
  const parts: JoinedPart[] = [];
  try {
    const isRead = tree.commands.every((statement, index) => addStatement(statement, index === 0 ? null : ';', parts));
    return isRead ? parts : null;
  } catch {
    // The parser reads parts lazily. If it fails here, it has not understood the line.
    return null;
  }
}

function addStatement({ background, command }: Statement, joint: Joint | null, parts: JoinedPart[]): boolean {
  if (background === true) return false;
  if (command.type !== 'AndOr') return addPipeline(command, joint, parts);
  return command.commands.every((one, index) => addPipeline(one, index === 0 ? joint : (command.operators[index - 1] ?? null), parts));
}

function addPipeline(node: PipelineNode, joint: Joint | null, parts: JoinedPart[]): boolean {
  if (node.type !== 'Pipeline') return node.type === 'Command' && addCommand(node, joint, parts);
  if (node.prefixes.length > 0 || node.operators.some((operator) => operator !== '|')) return false;
  return node.commands.every((one, index) => one.type === 'Command' && addCommand(one, index === 0 ? joint : '|', parts));
}

function addCommand(command: Command, joint: Joint | null, parts: JoinedPart[]): boolean {
  const words = literalCommand(command);
  const redirects = command.redirects.map(redirectText);
  if (!words.ok || redirects.includes(null)) return false;
  parts.push({ joint, argv: words.value, redirects: redirects.filter((text) => text !== null) });
  return true;
}

function redirectText(redirect: Redirection): string | null {
  if (redirect.type !== 'Redirect' || redirect.target === undefined) return null;
  const { operator, descriptor, target } = redirect;
  if (descriptor !== undefined && !('value' in descriptor)) return null;
  return `${descriptor === undefined ? '' : String(descriptor.value)}${operator}${target.value}`;
}
