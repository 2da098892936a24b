// Checks a skill strictly against the Agent Skills standard and explains each finding. Pure: the caller passes the files.

import type { SkillFinding } from '../../contracts/features/skills.ts';
import type { Head, SkillFile } from './skill-file.ts';
import { isDay, mapOf, openClawOf, toSkillName, type SkillHead } from './skill-head.ts';

export interface Linted {
  readonly file: SkillFile;
  readonly head: SkillHead;
  readonly folderName: string;
  readonly fileName: string;
  /** The files of the folder, relative to it, with forward slashes. */
  readonly files: readonly string[];
}

const standardKeys = new Set(['name', 'description', 'license', 'compatibility', 'metadata', 'allowed-tools']);
const extensionKeys = new Set(['homepage', 'user-invocable', 'disable-model-invocation', 'command-dispatch', 'command-tool', 'command-arg-mode', 'version', 'status', 'replaced-by', 'remove-after']); // prettier-ignore
const foreignBlocks = new Set(['openclaw', 'clawdbot', 'clawdis', 'trayclaw']);
const openClawKeys = new Set(['always', 'emoji', 'homepage', 'os', 'requires', 'primaryEnv', 'skillKey', 'install', 'envVars', 'nix', 'config']); // prettier-ignore
const BODY_LINES_MAX = 500;
/** About 5,000 tokens, at four characters each. */
const BODY_CHARS_MAX = 20_000;

export function lintSkill(linted: Linted): SkillFinding[] {
  return [
    ...lintFile(linted),
    ...lintName(linted),
    ...lintTexts(linted),
    ...lintKeys(linted),
    ...lintMetadata(linted),
    ...lintBody(linted),
  ];
}

const finding = (severity: SkillFinding['severity'], rule: string, message: string, line: number | null = null): SkillFinding => ({
  rule,
  severity,
  message,
  line,
});

function lintFile({ file, fileName }: Linted): SkillFinding[] {
  const forgiven = file.flaws.map(({ rule, message, line }) => finding('error', rule, message, line));
  if (fileName === 'SKILL.md') return forgiven;
  return [...forgiven, finding('warning', 'file-name', `The file is called ${fileName}; the standard's name is SKILL.md.`)];
}

function lintName({ file, folderName }: Linted): SkillFinding[] {
  const name = file.head['name'];
  if (typeof name !== 'string' || name.trim() === '') {
    return [finding('error', 'name-missing', `It has no name; its folder's, ${JSON.stringify(folderName)}, is used.`)];
  }
  const found: SkillFinding[] = [];
  if (name !== toSkillName(name)) {
    const how = 'small letters, digits and single hyphens, at most 64 in all';
    found.push(
      finding(
        'error',
        'name-form',
        `The name ${JSON.stringify(name.slice(0, 80))} must be ${how}; it goes by ${JSON.stringify(toSkillName(name))} here.`,
      ),
    );
  }
  if (name !== folderName) {
    found.push(
      finding(
        'error',
        'name-folder',
        `The name ${JSON.stringify(name.slice(0, 80))} must be that of its folder, ${JSON.stringify(folderName)}.`,
      ),
    );
  }
  return found;
}

function lintTexts({ file: { head } }: Linted): SkillFinding[] {
  const found: SkillFinding[] = [];
  const { description, compatibility, license } = head;
  if (typeof description !== 'string' || description.trim() === '') {
    found.push(
      finding(
        'error',
        'description-missing',
        'It has no description; the first paragraph is used instead. Say what it does and when to use it.',
      ),
    );
  } else {
    if (description.length > 1024)
      found.push(finding('error', 'description-long', `The description has ${description.length} characters; 1,024 are allowed.`));
    if (description.trim().length < 20)
      found.push(finding('warning', 'description-short', 'The description hardly says anything. Say what it does and when to use it.'));
    if (/<\/?[a-z][^>]*>/i.test(description))
      found.push(finding('warning', 'description-markup', 'The description holds markup; it is shown to the model as plain words.'));
  }
  if (typeof compatibility === 'string' && compatibility.length > 500) {
    found.push(finding('error', 'compatibility-long', `"compatibility" has ${compatibility.length} characters; 500 are allowed.`));
  }
  for (const [key, value] of Object.entries({ compatibility, license })) {
    if (value !== undefined && typeof value !== 'string') found.push(finding('error', `${key}-form`, `"${key}" must be a text.`));
  }
  return found;
}

function lintKeys({ file: { head } }: Linted): SkillFinding[] {
  const found: SkillFinding[] = [];
  for (const key of Object.keys(head)) {
    if (standardKeys.has(key)) continue;
    const about = extensionKeys.has(key)
      ? 'an extension of OpenClaw; it is used, other programs refuse it. It may go below "metadata"'
      : 'not a key of the standard and has no effect here. Remove it, or put it below "metadata"';
    found.push(finding(extensionKeys.has(key) ? 'note' : 'error', 'head-key', `"${key}" is ${about}.`));
  }
  const allowed = head['allowed-tools'];
  if (allowed !== undefined && typeof allowed !== 'string') {
    found.push(finding('error', 'allowed-tools-form', '"allowed-tools" must be one text with spaces between the names.'));
  }
  if (allowed !== undefined) {
    found.push(
      finding('note', 'allowed-tools', '"allowed-tools" allows nothing here: each call goes through the gate whatever a skill says.'),
    );
  }
  return found;
}

function lintMetadata(linted: Linted): SkillFinding[] {
  const { metadata } = linted.file.head;
  if (metadata === undefined) return [];
  const map = mapOf(metadata);
  return [...lintForm(metadata, map), ...lintValues(map, linted)];
}

function lintForm(metadata: unknown, map: Head): SkillFinding[] {
  const found: SkillFinding[] = [];
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) {
    const readable = Object.keys(map).length > 0;
    const more = readable ? '; the text in its place was read' : ' and could not be read';
    found.push(finding(readable ? 'warning' : 'error', 'metadata-form', `"metadata" must be a list of keys${more}.`));
  }
  for (const key of Object.keys(map)) {
    if (typeof map[key] !== 'object' || map[key] === null) continue;
    if (foreignBlocks.has(key))
      found.push(finding('note', 'metadata-nested', `"metadata.${key}" is more than a text; it is used here, a strict reader refuses it.`));
    else found.push(finding('error', 'metadata-nested', `"metadata.${key}" must be a text.`));
  }
  const unknown = Object.keys(openClawOf(map)).filter((key) => !openClawKeys.has(key));
  if (unknown.length > 0)
    found.push(finding('note', 'openclaw-key', `Of its OpenClaw block ${unknown.join(', ')} is not known and has no effect.`));
  return found;
}

function lintValues(map: Head, { head }: Linted): SkillFinding[] {
  const found: SkillFinding[] = [];
  const day = map['remove-after'];
  if (typeof day === 'string' && !isDay(day))
    found.push(finding('error', 'remove-after-form', '"remove-after" must be a day such as 2026-12-31.'));
  if (head.version !== null && !/^\d+\.\d+\.\d+(?:[-+][\w.-]+)?$/.test(head.version)) {
    found.push(finding('warning', 'version-form', `The version ${JSON.stringify(head.version)} is not of the form 1.2.3.`));
  }
  if (head.needs.os.some((name) => !['darwin', 'linux', 'win32'].includes(name))) {
    found.push(finding('warning', 'os-unknown', `Of the systems ${head.needs.os.join(', ')} only darwin, linux and win32 are known.`));
  }
  return found;
}

/** Separate from the other checks, because the available tools change while the files stay the same. */
export function lintTools({ tools }: SkillHead, known: ReadonlySet<string>): SkillFinding[] {
  return tools
    .filter((tool) => !known.has(tool))
    .map((tool) => finding('warning', 'tool-unknown', `There is no tool ${JSON.stringify(tool)}.`));
}

function lintBody({ file: { body, bodyLine }, files }: Linted): SkillFinding[] {
  const found: SkillFinding[] = [];
  if (body === '') return [finding('error', 'body-missing', 'It has no instructions below its head.')];
  const lines = body.split('\n');
  if (lines.length > BODY_LINES_MAX)
    found.push(
      finding(
        'warning',
        'body-long',
        `The instructions have ${lines.length} lines; keep them below 500 and move the rest to separate files.`,
      ),
    );
  if (body.length > BODY_CHARS_MAX)
    found.push(
      finding('warning', 'body-heavy', `The instructions have about ${Math.round(body.length / 4)} tokens; keep them below 5,000.`),
    );
  const known = new Set(files);
  let fenced = false;
  for (const [at, line] of lines.entries()) {
    if (/^\s*(```|~~~)/.test(line)) fenced = !fenced;
    if (fenced) continue;
    for (const target of linkedFiles(line)) found.push(...lintLink(target, known, bodyLine + at));
  }
  return found;
}

/** The relative targets of Markdown links. Skips addresses, anchors and placeholders. */
export function linkedFiles(line: string): string[] {
  return [...line.matchAll(/\]\(<?([^)\s>]+)>?[^)]*\)/g)]
    .map(([, target = '']) => target.replace(/[#?].*$/, '').replace(/^\{baseDir\}\//, ''))
    .filter((target) => target !== '' && !/^[a-z][a-z0-9+.-]*:|^\/\/|^#|[{}<>$*]/i.test(target));
}

function lintLink(target: string, files: ReadonlySet<string>, line: number): SkillFinding[] {
  const path = target.replace(/^\.\//, '');
  if (path.startsWith('/') || path.split('/').includes('..')) {
    return [
      finding(
        'error',
        'link-outside',
        `The link to ${JSON.stringify(target)} leads out of the skill's folder and is never followed.`,
        line,
      ),
    ];
  }
  const isThere = files.has(path) || [...files].some((file) => file.startsWith(`${path.replace(/\/$/, '')}/`));
  if (!isThere) return [finding('warning', 'link-dead', `The link to ${JSON.stringify(target)} leads to nothing.`, line)];
  return path.split('/').length > 2 ? [finding('note', 'link-deep', `${JSON.stringify(target)} is more than one level down.`, line)] : [];
}
