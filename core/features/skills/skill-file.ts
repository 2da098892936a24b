// Parses one SKILL.md: the front matter as leniently as the standard's guide for clients recommends, the body unchanged. Records the flaws
// it tolerated. Does not access the disk.

import { parseDocument } from 'yaml';
import { err, ok, type Result } from '../../base/result.ts';

export type Head = Readonly<Record<string, unknown>>;

/** A tolerated flaw of the front matter. */
export interface HeadFlaw {
  readonly rule: 'head-yaml' | 'head-duplicate' | 'head-lines';
  readonly message: string;
  readonly line: number | null;
}

export interface SkillFile {
  readonly head: Head;
  readonly body: string;
  /** The line of the file at which the body starts, from 1. */
  readonly bodyLine: number;
  readonly flaws: readonly HeadFlaw[];
}

export interface FileRefusal {
  readonly reason: string;
  readonly hint: string;
}

export const SKILL_BYTES_MAX = 1_000_000;
const HEAD_CHARS_MAX = 64_000;
const HEAD = /^---[ \t]*\n([\s\S]*?)\n?---[ \t]*(?:\n|$)/;

export function readSkillFile(source: string): Result<SkillFile, FileRefusal> {
  const text = source.replace(/^\uFEFF/, '').replaceAll(/\r\n?/g, '\n');
  if (text.includes('\0')) return err({ reason: 'It is not a text file.', hint: 'Save SKILL.md as plain text in UTF-8.' });
  const found = HEAD.exec(text);
  if (found === null) return err(withoutHead(text));
  const [whole, headText = ''] = found;
  if (headText.length > HEAD_CHARS_MAX) {
    return err({
      reason: 'Its head is longer than 64,000 characters.',
      hint: 'Keep name and description in the head and the rest in the body.',
    });
  }
  const body = text.slice(whole.length);
  const { head, flaws } = readHead(headText);
  if (Object.keys(head).length === 0) {
    return err({
      reason: 'Nothing in its head could be read.',
      hint: 'Between the two --- lines there must be at least "description: …".',
    });
  }
  return ok({ head, body: body.trim(), bodyLine: lineOf(text, whole.length + (body.length - body.trimStart().length)), flaws });
}

function withoutHead(text: string): FileRefusal {
  if (isLayersShape(text)) {
    return {
      reason: 'It has the shape of the layers project (no head, sections such as "## What it does").',
      hint: 'Bring it in with: trayclaw skills import FOLDER',
    };
  }
  const opened = text.startsWith('---\n');
  return opened
    ? { reason: 'Its head begins with --- and never ends.', hint: 'Close it with a line of three hyphens.' }
    : { reason: 'It has no head.', hint: 'Begin the file with ---, "name: …", "description: …" and --- again.' };
}

/** The format of the layers project: no front matter, a title, and sections with fixed names. */
export function isLayersShape(text: string): boolean {
  return /^#\s+\S/.test(text.trimStart()) && /^##\s+What it does\s*$/im.test(text);
}

/** Parses the front matter as YAML; if that fails, with quotes around values that contain a colon; if that fails, line by line. */
function readHead(text: string): { head: Head; flaws: HeadFlaw[] } {
  const plain = parseYaml(text);
  if (plain.head !== null) return { head: plain.head, flaws: plain.flaws };
  const flaw: HeadFlaw = {
    rule: 'head-yaml',
    message: `The head is not valid YAML: ${plain.problem}. Quote values that hold ": ".`,
    line: plain.line,
  };
  const quoted = parseYaml(quoteValues(text));
  if (quoted.head !== null) return { head: quoted.head, flaws: [flaw, ...quoted.flaws] };
  const lines = readLines(text);
  return { head: lines, flaws: [flaw, { rule: 'head-lines', message: 'Only its single lines "key: value" were read.', line: null }] };
}

type Parsed =
  | { readonly head: Head; readonly flaws: HeadFlaw[] }
  | { readonly head: null; readonly problem: string; readonly line: number | null };

function parseYaml(text: string): Parsed {
  const document = parseDocument(text, { uniqueKeys: false, prettyErrors: false, logLevel: 'silent' });
  const [problem] = document.errors;
  if (problem !== undefined) return { head: null, problem: firstLine(problem.message), line: lineOf(text, problem.pos[0]) + 1 };
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 20 });
  } catch (cause) {
    return { head: null, problem: firstLine(String(cause)), line: null };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { head: null, problem: 'it is not a list of keys', line: null };
  return { head: value as Head, flaws: duplicatesIn(text) };
}

function duplicatesIn(text: string): HeadFlaw[] {
  const seen = new Set<string>();
  return text.split('\n').flatMap((line, at): HeadFlaw[] => {
    const key = /^([A-Za-z][\w-]*):/.exec(line)?.[1];
    if (key === undefined) return [];
    if (!seen.has(key)) {
      seen.add(key);
      return [];
    }
    return [{ rule: 'head-duplicate', message: `"${key}" appears twice; the last one counts.`, line: at + 2 }];
  });
}

/** Quotes values such as `description: Use when: asked`, which is common but invalid YAML. */
function quoteValues(text: string): string {
  return text
    .split('\n')
    .map((line) => {
      const [, key, value] = /^([A-Za-z][\w-]*):[ \t]+([^"'|>[{].*)$/.exec(line) ?? [];
      return key === undefined || value === undefined ? line : `${key}: ${JSON.stringify(value.trim())}`;
    })
    .join('\n');
}

function readLines(text: string): Head {
  const head: Record<string, unknown> = {};
  for (const line of text.split('\n')) {
    const [, key, value] = /^([A-Za-z][\w-]*):[ \t]*(\S.*)$/.exec(line) ?? [];
    if (key !== undefined && value !== undefined) head[key] = value.trim().replace(/^(["'])(.*)\1$/, '$2');
  }
  return head;
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? text).replace(/[.\s]+$/, '');
}
