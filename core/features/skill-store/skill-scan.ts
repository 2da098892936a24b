// Scans the files of a skill for risks: the rules of risk-rules.ts line by line, characters that hide text, programs and archives among the
// files, and steps that would run at an installation elsewhere. Pure; never suppresses a finding.

import { revealed } from '../../base/visible-text.ts';
import type { SkillRisk } from '../../contracts/features/skill-store.ts';
import { riskRules, type RiskRule } from './risk-rules.ts';

export interface Scanned {
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly name: string;
  readonly description: string;
  readonly secretsIn: (text: string) => readonly string[];
}

const LINE_CHARS_MAX = 4_000;
/** The maximum for all files together. */
const TEXT_CHARS_MAX = 5_000_000;
const WINDOW_CHARS = 1_000;
const OVERLAP_CHARS = 300;
const EXCERPT_CHARS_MAX = 240;
/** The maximum number of findings per rule and file; more would add nothing. */
const PER_RULE_MAX = 3;
const RISKS_MAX = 200;
/** Invisible characters, except those used in emoji and joined scripts. */
const hidden =
  /(?!\u200C|\u200D|\uFEFF|\p{Variation_Selector})\p{Default_Ignorable_Code_Point}|[\u{E0100}-\u{E01EF}]|[\u202A-\u202E\uFFF9-\uFFFB]|(?<!^)\uFEFF|(?<!\p{Extended_Pictographic}|\p{Emoji_Modifier}|\uFE0F|\p{Script=Arabic}|\p{Script=Devanagari}|\p{M})(?:\u200C|\u200D)/u;
/** A word that mixes Latin letters with letters that look like them. */
const mixed =
  /(?<!\p{L})(?=\p{L}*\p{Script=Latin})\p{L}*[\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Cherokee}\uFF21-\uFF3A\uFF41-\uFF5A]\p{L}*/u;
const controls = /(?![\t\f\r])\p{Cc}/u;
const programs: readonly (readonly [string, readonly number[]])[] = [
  ['a program for Linux', [0x7f, 0x45, 0x4c, 0x46]],
  ['a program for Windows', [0x4d, 0x5a]],
  ['a program for macOS', [0xcf, 0xfa, 0xed, 0xfe]],
  ['a program for macOS', [0xca, 0xfe, 0xba, 0xbe]],
  ['a WebAssembly program', [0x00, 0x61, 0x73, 0x6d]],
];
const archives: readonly (readonly number[])[] = [[0x50, 0x4b, 3, 4], [0x1f, 0x8b], [0x37, 0x7a, 0xbc, 0xaf], [0x52, 0x61, 0x72, 0x21], [0xfd, 0x37, 0x7a, 0x58]]; // prettier-ignore
const office = /\.(?:docx|xlsx|pptx|odt|ods|odp|epub)$/i;
const readable = /\.(?:png|jpe?g|gif|webp|ico|pdf|ttf|otf|woff2?|mp[34]|wav|docx|xlsx|pptx|odt)$/i;

export function scanSkill(scanned: Scanned): SkillRisk[] {
  const risks: SkillRisk[] = [];
  let charsLeft = TEXT_CHARS_MAX;
  for (const [path, content] of scanned.files) {
    risks.push(...scanKind(path, content), ...scanSteps(path, content));
    if (!isText(content)) continue;
    const text = Buffer.from(content).toString('utf8');
    risks.push(...scanText(path, text.slice(0, charsLeft)), ...secretRisks(path, scanned.secretsIn(text.replaceAll(placeholder, ''))));
    charsLeft = Math.max(0, charsLeft - text.length);
  }
  const unseen =
    charsLeft > 0 ? [] : [risk('danger', 'endless-text', 'It has more text than was looked at: only the first 5,000,000 characters were.')];
  // Worst first, so that the limit cuts off only lesser risks.
  return [...unseen, ...risks, ...scanWords(scanned)].sort((a, b) => rank(a) - rank(b)).slice(0, RISKS_MAX);
}

/** Forms that also occur in examples. */
const looseForms: ReadonlySet<string> = new Set([
  'secret',
  'url-password',
  'netrc-password',
  'basic-credentials',
  'bearer-token',
  'cookie',
]);
/** For example `sk-or-v1-your-key-here`. */
const placeholder = /[\w-]*(?<![a-z])your[-_][\w-]*/gi;

/** Known key formats are a danger; other matches are only a warning. */
function secretRisks(path: string, names: readonly string[]): SkillRisk[] {
  if (names.length === 0) return [];
  const known = names.filter((name) => !looseForms.has(name));
  const level = known.length > 0 ? 'danger' : 'warning';
  return [
    risk(level, 'holds-a-secret', `It contains what looks like a secret key (${[...new Set(names)].slice(0, 3).join(', ')}).`, {
      file: path,
    }),
  ];
}

function rank({ level }: SkillRisk): number {
  return level === 'danger' ? 0 : level === 'warning' ? 1 : 2;
}

export function isText(content: Uint8Array): boolean {
  return !content.subarray(0, 65_536).includes(0);
}

export function risk(
  level: SkillRisk['level'],
  rule: string,
  message: string,
  at: Partial<Pick<SkillRisk, 'file' | 'line' | 'excerpt'>> = {},
): SkillRisk {
  return { rule, level, message, file: at.file ?? null, line: at.line ?? null, excerpt: at.excerpt ?? null };
}

function scanKind(path: string, content: Uint8Array): SkillRisk[] {
  const starts = (magic: readonly number[]): boolean => magic.every((byte, at) => content[at] === byte);
  const program = programs.find(([, magic]) => starts(magic));
  if (program !== undefined) return [risk('danger', 'compiled-program', `It brings ${program[0]}, which cannot be read.`, { file: path })];
  if (archives.some(starts) && !office.test(path))
    return [risk('warning', 'packed-again', 'It brings an archive, whose content was not looked at.', { file: path })];
  if (isText(content)) return [];
  return readable.test(path) ? [] : [risk('warning', 'unreadable', 'It brings a file that is not text.', { file: path })];
}

/** Nothing runs at an installation here. A step that would run elsewhere shows the skill's intention. */
function scanSteps(path: string, content: Uint8Array): SkillRisk[] {
  const name = path.split('/').at(-1) ?? '';
  if (name === 'package.json') {
    const hook = /"(pre|post)?(install|prepare|prepublish)"\s*:\s*"([^"]{0,200})/.exec(Buffer.from(content).toString('utf8'));
    if (hook !== null)
      return [
        risk('danger', 'install-step', 'It wants to run something when it is installed; here nothing is run.', {
          file: path,
          excerpt: shown(hook[0]),
        }),
      ];
  }
  if (/^(?:(?:pre|post)-?install(?:\.\w+)?|setup\.py|install\.(?:sh|ps1|bat|py|js))$/i.test(name))
    return [risk('warning', 'install-step', 'It has a script for installing; here nothing is run.', { file: path })];
  return [];
}

function scanText(path: string, text: string): SkillRisk[] {
  const found: SkillRisk[] = [];
  const counts = new Map<string, number>();
  const add = (one: SkillRisk): void => {
    const count = (counts.get(one.rule) ?? 0) + 1;
    counts.set(one.rule, count);
    if (count <= PER_RULE_MAX) found.push(one);
  };
  const lines = text.split('\n');
  const rules = rulesFor(lines);
  for (const [at, line] of lines.entries()) {
    const place = { file: path, line: at + 1 };
    for (const one of scanLine(line)) add({ ...one, ...place });
    for (const one of applyRules(rules, line, lines[at + 1] ?? '')) add({ ...one, ...place });
  }
  for (const comment of text.matchAll(/<!--([\s\S]*?)-->/g)) add(commentRisk(path, text, comment));
  return found;
}

/** The rules that match anywhere in the text. Checked in one pass, because most match nowhere. */
function rulesFor(lines: readonly string[]): readonly RiskRule[] {
  const parts = lines.flatMap((line, at) => [...windowsOf(line), wholeOf(line, lines[at + 1] ?? '')]).join('\n');
  const plain = plainOf(parts);
  return riskRules.filter(({ pattern }) => pattern.test(parts) || pattern.test(plain));
}

function wholeOf(line: string, next: string): string {
  return `${line.slice(-WINDOW_CHARS / 2).replace(/\\$/, '')} ${next.slice(0, WINDOW_CHARS / 2).trim()}`;
}

/** A sentence or command may continue in the next line; the match is reported for the line where it begins. */
function applyRules(rules: readonly RiskRule[], line: string, next: string): SkillRisk[] {
  if (rules.length === 0 || line.trim() === '') return [];
  const after = next.slice(0, WINDOW_CHARS / 2).trim();
  const views = windowsOf(line).flatMap((part) => [...new Set([part, plainOf(part)])]);
  return rules.flatMap(({ rule, level, pattern, message }) => {
    const own = views.map((view) => pattern.exec(view)).find((hit) => hit !== null);
    const hit = own ?? (pattern.test(after) ? null : pattern.exec(plainOf(wholeOf(line, next))));
    return hit === null ? [] : [risk(level, rule, message, { excerpt: excerptOf(hit) })];
  });
}

/** Splits a long line into overlapping parts, so that every rule runs on short text. */
function windowsOf(line: string): string[] {
  const parts: string[] = [];
  for (let at = 0; at === 0 || at < line.length - OVERLAP_CHARS; at += WINDOW_CHARS - OVERLAP_CHARS)
    parts.push(line.slice(at, at + WINDOW_CHARS));
  return parts;
}

function scanLine(line: string): SkillRisk[] {
  const found = /[^\t -~]/.test(line) ? scanCharacters(line) : [];
  if (line.length > LINE_CHARS_MAX)
    found.push(risk('warning', 'endless-line', `A line of ${line.length} characters, too long to read.`, { excerpt: shown(line) }));
  if (!line.startsWith('|') && /\S[ \t]{120,}\S/.test(line))
    found.push(
      risk('danger', 'out-of-sight', 'Text far to the right of the screen.', { excerpt: shown(line.trimEnd().slice(-EXCERPT_CHARS_MAX)) }),
    );
  return found;
}

function scanCharacters(line: string): SkillRisk[] {
  const found: SkillRisk[] = [];
  if (hidden.test(line))
    found.push(risk('danger', 'hidden-characters', 'Invisible characters hide text or reverse it.', { excerpt: shown(line) }));
  if (controls.test(line))
    found.push(risk('danger', 'control-characters', 'Characters that control a terminal hide what it says.', { excerpt: shown(line) }));
  if (mixed.test(line))
    found.push(risk('warning', 'look-alikes', 'Letters of another alphabet look like these.', { excerpt: shown(line) }));
  return found;
}

function commentRisk(path: string, text: string, comment: RegExpMatchArray): SkillRisk {
  const line = text.slice(0, comment.index).split('\n').length;
  const inner = (comment[1] ?? '').trim();
  return risk('warning', 'hidden-comment', 'A comment that a reader of the page does not see; the model does.', {
    file: path,
    line,
    excerpt: shown(inner),
  });
}

/** Normalizes spaced-out, full-width and look-alike words, which a model reads as the plain words. */
function plainOf(line: string): string {
  const plain = line.normalize('NFKD').replaceAll(/[\p{M}\p{Cf}]/gu, '').replaceAll(/[аΑ]/g, 'a').replaceAll(/[еΕ]/g, 'e').replaceAll(/[оΟο]/g, 'o').replaceAll(/[рΡ]/g, 'p').replaceAll(/[сϲ]/g, 'c').replaceAll(/[іΙ]/g, 'i').replaceAll(/['"]{2}/g, ''); // prettier-ignore
  return plain.replaceAll(/\b(?:\p{L}[ .*_-]){4,}\p{L}\b/gu, (word) => word.replaceAll(/[ .*_-]/g, ''));
}

function scanWords({ name, description }: Scanned): SkillRisk[] {
  const words = `${name} ${description}`;
  if (!hidden.test(words) && revealed(words.replaceAll('\n', ' ')) === words.replaceAll('\n', ' ')) return [];
  return [risk('danger', 'hidden-characters', 'Its name or description is not what it looks like.', { excerpt: shown(words) })];
}

function excerptOf(hit: RegExpExecArray): string {
  const from = Math.max(0, hit.index - 40);
  return shown(hit.input.slice(from, hit.index + Math.min(hit[0].length, 160) + 40).trim());
}

export function shown(text: string): string {
  return revealed(text.replaceAll('\n', ' ')).slice(0, EXCERPT_CHARS_MAX);
}
