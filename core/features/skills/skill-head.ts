// The front matter of a SKILL.md in one form: the standard's keys, OpenClaw's extensions and our own. Lenient: invalid keys are left out
// and reported by the linter.

import { parse } from 'yaml';
import * as z from 'zod';
import type { Head } from './skill-file.ts';

/** A required skill and the range of versions that satisfy the requirement, such as `>=1.0.0 <2.0.0`; `*` for any. */
const requiredSchema = z.object({ name: z.string(), range: z.string() }).readonly();
export type Required = z.infer<typeof requiredSchema>;

const deprecationSchema = z
  .object({
    replacedBy: z.string().nullable(),
    /** For example `2026-12-31`. */
    removeAfter: z.string().nullable(),
  })
  .readonly();
export type Deprecation = z.infer<typeof deprecationSchema>;

const texts = z.array(z.string()).readonly();

const needsSchema = z
  .object({
    /** Platforms as Node names them; empty for all. */
    os: texts,
    bins: texts,
    anyBins: texts,
    env: texts,
    config: texts,
    /** Offered even if requirements are missing, except the platform. */
    always: z.boolean(),
    /** Pairs of a program and how to install it. */
    install: z.array(z.tuple([z.string(), z.string()])).readonly(),
  })
  .readonly();
export type Needs = z.infer<typeof needsSchema>;

/** The values as stated; they are not checked against this machine. */
export const skillHeadSchema = z
  .object({
    name: z.string(),
    description: z.string(),
    license: z.string().nullable(),
    compatibility: z.string().nullable(),
    homepage: z.string().nullable(),
    version: z.string().nullable(),
    deprecation: deprecationSchema.nullable(),
    /** Tools of this program, from our own key. The standard's allowed-tools names tools of other clients and is ignored. */
    tools: texts,
    /** Other skills that the instructions lead to, including required ones. */
    skills: texts,
    requires: z.array(requiredSchema).readonly(),
    /** Hosts and folders that the skill says it needs, such as `api.example.com` and `~/Notes`. */
    hosts: texts,
    folders: texts,
    needs: needsSchema,
    /** Whether the person may open the skill with /skill. */
    userInvocable: z.boolean(),
    /** Whether the skill is offered to the model. */
    modelInvocable: z.boolean(),
  })
  .readonly();
export type SkillHead = z.infer<typeof skillHeadSchema>;

const NAME_CHARS_MAX = 64;
const DESCRIPTION_CHARS_MAX = 4_096;
const LIST_MAX = 50;
/** The names of OpenClaw's block, newest first. The first one present is used. */
const openClawKeys = ['openclaw', 'clawdbot', 'clawdis'] as const;

export function readHead(head: Head, folderName: string, body: string): SkillHead {
  const metadata = mapOf(head['metadata']);
  const openClaw = openClawOf(metadata);
  const own = (key: string): string | null => textOf(metadata[`trayclaw-${key}`]) ?? textOf(mapOf(metadata['trayclaw'])[key]);
  const requires = requiresOf(own('requires'));
  return {
    name: toSkillName(textOf(head['name']) ?? folderName) || toSkillName(folderName),
    description: (textOf(head['description']) ?? firstParagraph(body)).slice(0, DESCRIPTION_CHARS_MAX),
    license: textOf(head['license']),
    compatibility: textOf(head['compatibility']),
    homepage: webAddress(textOf(head['homepage']) ?? textOf(openClaw['homepage'])),
    version: textOf(head['version']) ?? textOf(metadata['version']),
    deprecation: deprecationOf(head, metadata),
    tools: wordsOf(own('tools')),
    skills: [...new Set([...wordsOf(own('skills')).map(toSkillName), ...requires.map(({ name }) => name)])],
    requires,
    hosts: wordsOf(own('hosts')).map((host) => host.toLowerCase()),
    folders: wordsOf(own('folders')),
    needs: needsOf(openClaw, own),
    userInvocable: flagOf(head['user-invocable'], true),
    modelInvocable: !flagOf(head['disable-model-invocation'], false),
  };
}

/** `My_Skill 2` becomes `my-skill-2`. Empty if no valid character is left. */
export function toSkillName(text: string): string {
  const slug = text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return slug.slice(0, NAME_CHARS_MAX).replace(/-+$/, '');
}

export function openClawOf(metadata: Head): Head {
  const key = openClawKeys.find((one) => metadata[one] !== undefined);
  return key === undefined ? {} : mapOf(metadata[key]);
}

/** Returns a map, or parses a text that contains one. JSON5 is close enough to YAML's flow style. */
export function mapOf(value: unknown): Head {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Head;
  if (typeof value !== 'string' || !value.trimStart().startsWith('{')) return {};
  try {
    const parsed: unknown = parse(value, { uniqueKeys: false, logLevel: 'silent' });
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? (parsed as Head) : {};
  } catch {
    // The linter reports that the text is unreadable.
    return {};
  }
}

/** Parses `capacity-planner >=1.0.0 <2.0.0; other ^1.2`. */
function requiresOf(text: string | null): Required[] {
  const parts = (text ?? '').split(/[;\n]/).slice(0, LIST_MAX);
  return parts.flatMap((part) => {
    const [, name = '', range = ''] = /^\s*`?([A-Za-z][\w-]*)`?[\s:@]*(.*?)\s*$/.exec(part) ?? [];
    return toSkillName(name) === ''
      ? []
      : [{ name: toSkillName(name), range: range === '' ? '*' : range.replaceAll('==', '=').slice(0, 200) }];
  });
}

function needsOf(openClaw: Head, own: (key: string) => string | null): Needs {
  const requires = mapOf(openClaw['requires']);
  const install = new Map<string, string>();
  for (const entry of listOf(openClaw['install'])) {
    const how = installHint(mapOf(entry));
    if (how !== null) for (const bin of how.bins) install.set(bin, how.hint);
  }
  const variables = listOf(openClaw['envVars']).map(mapOf);
  const required = variables.filter((one) => one['required'] === true).flatMap((one) => namesOf([one['name']]));
  return {
    os: [...namesOf(openClaw['os']), ...wordsOf(own('os'))].map(platformOf),
    bins: [...namesOf(requires['bins']), ...wordsOf(own('bins'))],
    anyBins: [...namesOf(requires['anyBins']), ...wordsOf(own('any-bins'))],
    env: [...new Set([...namesOf(requires['env']), ...required, ...wordsOf(own('env'))])],
    config: [...namesOf(requires['config']), ...wordsOf(own('config'))],
    always: flagOf(openClaw['always'], false),
    install: [...install],
  };
}

function installHint(entry: Head): { bins: string[]; hint: string } | null {
  const kind = textOf(entry['kind']);
  const what = textOf(entry['formula']) ?? textOf(entry['package']) ?? textOf(entry['module']) ?? textOf(entry['url']);
  if (kind === null || what === null) return null;
  const commands: Readonly<Record<string, string>> = {
    brew: `brew install ${what}`,
    node: `npm install -g ${what}`,
    go: `go install ${what}`,
    uv: `uv tool install ${what}`,
  };
  const bins = namesOf(entry['bins']);
  return { bins, hint: commands[kind] ?? `${kind}: ${what}` };
}

function deprecationOf(head: Head, metadata: Head): Deprecation | null {
  const status = textOf(head['status']) ?? textOf(metadata['status']);
  if (status?.toLowerCase() !== 'deprecated') return null;
  const day = textOf(metadata['remove-after']) ?? textOf(head['remove-after']);
  const replacedBy = textOf(metadata['replaced-by']) ?? textOf(head['replaced-by']);
  return { replacedBy: replacedBy === null ? null : toSkillName(replacedBy), removeAfter: day !== null && isDay(day) ? day : null };
}

export function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00Z`));
}

function platformOf(name: string): string {
  const known: Readonly<Record<string, string>> = { macos: 'darwin', mac: 'darwin', osx: 'darwin', windows: 'win32', win: 'win32' };
  return known[name.toLowerCase()] ?? name.toLowerCase();
}

function firstParagraph(body: string): string {
  const paragraph = body.split(/\n\s*\n/).find((part) => part.trim() !== '' && !/^\s*(#|---|```)/.test(part)) ?? '';
  return paragraph.replaceAll(/\s+/g, ' ').trim();
}

function textOf(value: unknown): string | null {
  if (value instanceof Date) return value.toISOString().slice(0, 10);
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}

function flagOf(value: unknown, usual: boolean): boolean {
  if (typeof value === 'boolean') return value;
  return typeof value === 'string' ? value.trim().toLowerCase() === 'true' : usual;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value.slice(0, LIST_MAX) as unknown[]) : [];
}

function namesOf(value: unknown): string[] {
  const given = typeof value === 'string' ? wordsOf(value) : listOf(value);
  return given.filter((one): one is string => typeof one === 'string' && one.trim() !== '').map((one) => one.trim().slice(0, 200));
}

function wordsOf(text: string | null): string[] {
  return (text ?? '')
    .split(/[\s,]+/)
    .filter((word) => word !== '')
    .slice(0, LIST_MAX);
}

function webAddress(text: string | null): string | null {
  return text !== null && /^https?:\/\/\S+$/.test(text) ? text : null;
}
