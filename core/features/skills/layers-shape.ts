// Converts skills of the layers project (no front matter, fixed sections, skill.py, policy.yaml) to the Agent Skills standard. Pure.

import { createHash } from 'node:crypto';
import { parse } from 'yaml';
import { isLayersShape, type Head } from './skill-file.ts';
import { isDay, mapOf, toSkillName } from './skill-head.ts';

/** The files that the published hash covers, in this order. A missing file counts as empty. */
const covered = ['SKILL.md', 'skill.py', 'policy.yaml'] as const;
const DESCRIPTION_CHARS_MAX = 1024;

export interface ConvertedSkill {
  readonly name: string;
  /** Keyed by the path in the folder of the new skill. */
  readonly files: ReadonlyMap<string, Uint8Array | string>;
}

export { isLayersShape };

/** The hash that the marketplace of the layers project publishes. */
export function hashLayersSkill(files: ReadonlyMap<string, Uint8Array>): string {
  const digest = createHash('sha256');
  for (const name of covered)
    digest
      .update(name)
      .update('\0')
      .update(files.get(name) ?? '')
      .update('\0');
  return digest.digest('hex');
}

/** Converts only files that the hash covers, so that no unpublished file is included. */
export function convertLayersSkill(files: ReadonlyMap<string, Uint8Array>, folderName: string): ConvertedSkill {
  const source = Buffer.from(files.get('SKILL.md') ?? '')
    .toString('utf8')
    .replaceAll(/\r\n?/g, '\n');
  const title = /^#\s+(.+)$/m.exec(source)?.[1]?.trim() ?? folderName;
  const sections = readSections(source);
  const name = toSkillName(title) || toSkillName(folderName);
  const script = files.get('skill.py');
  const policy = files.get('policy.yaml');
  const converted = new Map<string, Uint8Array | string>([['SKILL.md', writeSkill(name, sections, { script, policy })]]);
  if (script !== undefined) converted.set('scripts/skill.py', script);
  if (policy !== undefined) converted.set('references/policy.yaml', policy);
  return { name, files: converted };
}

/** Sections by their heading in lower case. */
function readSections(source: string): ReadonlyMap<string, string> {
  const sections = new Map<string, string>();
  for (const part of source.split(/^##\s+/m).slice(1)) {
    const [heading = '', ...lines] = part.split('\n');
    sections.set(heading.trim().toLowerCase(), lines.join('\n').trim());
  }
  return sections;
}

interface Beside {
  readonly script: Uint8Array | undefined;
  readonly policy: Uint8Array | undefined;
}

function writeSkill(name: string, sections: ReadonlyMap<string, string>, { script, policy }: Beside): string {
  const of = (heading: string): string => sections.get(heading) ?? '';
  const description = `${plainWords(of('what it does'))} ${plainWords(of('when to use it'))}`.trim().slice(0, DESCRIPTION_CHARS_MAX);
  const deprecation = of('deprecation');
  const replacedBy = /replaced by:\s*([\w-]+)/i.exec(deprecation)?.[1];
  const removeAfter = /remove after:\s*(\S+)/i.exec(deprecation)?.[1];
  const uses = [...of('requires').matchAll(/^[-*]\s*`?([A-Za-z][\w-]*)`?[ \t]*([<>=!~^\d][^\n]*)?$/gm)].map(
    ([, other = '', range = '']) => {
      return `${toSkillName(other)} ${rangeOf(range)}`;
    },
  );
  const { hosts, folders } = boundsIn(policy);
  const metadata = [
    `  version: ${JSON.stringify(of('version') || '0.0.0')}`,
    ...(of('status').toLowerCase() === 'deprecated' ? ['  status: deprecated'] : []),
    ...(replacedBy === undefined ? [] : [`  replaced-by: ${toSkillName(replacedBy)}`]),
    ...(removeAfter !== undefined && isDay(removeAfter) ? [`  remove-after: ${JSON.stringify(removeAfter)}`] : []),
    ...(uses.length === 0 ? [] : [`  trayclaw-requires: ${JSON.stringify(uses.join('; '))}`]),
    ...(hosts.length === 0 ? [] : [`  trayclaw-hosts: ${JSON.stringify(hosts.join(' '))}`]),
    ...(folders.length === 0 ? [] : [`  trayclaw-folders: ${JSON.stringify(folders.join(' '))}`]),
    ...(script === undefined ? [] : ['  trayclaw-tools: exec', '  trayclaw-bins: python3']),
  ];
  const shown = ['what it does', 'when to use it', 'inputs', 'outputs', 'tools used internally', 'example invocation', 'requires'];
  const body = shown
    .filter((heading) => of(heading) !== '')
    .map((heading) => `## ${heading[0]?.toUpperCase() ?? ''}${heading.slice(1)}\n\n${of(heading)}`);
  return [
    '---',
    `name: ${name}`,
    `description: ${JSON.stringify(description === '' ? `The skill ${name} of the layers project.` : description)}`,
    'metadata:',
    ...metadata,
    '---',
    '',
    `# ${name}`,
    '',
    ...(script === undefined ? [] : [scriptWords(script), '']),
    ...(policy === undefined
      ? []
      : ['What it says it needs of network and files is in [references/policy.yaml](references/policy.yaml). It grants nothing here.', '']),
    body.join('\n\n'),
    '',
  ].join('\n');
}

/** The hosts and folders that policy.yaml asks for. */
function boundsIn(policy: Uint8Array | undefined): { hosts: string[]; folders: string[] } {
  const given = policyIn(policy);
  const listed = (value: unknown): string[] => (Array.isArray(value) ? value.flatMap(wordOf) : []);
  const { readable, writable } = mapOf(given['filesystem']);
  const { egress } = mapOf(given['network']);
  const hosts = Array.isArray(egress) ? egress.flatMap((one) => wordOf(mapOf(one)['allow'])) : [];
  return { hosts: [...new Set(hosts)], folders: [...new Set([...listed(readable), ...listed(writable)])] };
}

function policyIn(policy: Uint8Array | undefined): Head {
  try {
    return mapOf(parse(Buffer.from(policy ?? '').toString('utf8'), { uniqueKeys: false, logLevel: 'silent' }));
  } catch {
    // An unreadable policy declares nothing, so everything the script does counts as undeclared.
    return {};
  }
}

function wordOf(value: unknown): string[] {
  return typeof value === 'string' && /^[\w.*~/:-]{1,200}$/.test(value) ? [value] : [];
}

/** Rewrites `!= 1.2.0` as the two ranges around that version, because ranges have no such operator. */
function rangeOf(text: string): string {
  const plain = text.replaceAll(/[`,]/g, ' ').replaceAll('==', '=').trim();
  return plain.replaceAll(/!=\s*([\w.+-]+)/g, '<$1 || >$1') || '*';
}

/** In the original program the script is called as a function. Here it is a file, with a command that calls it. */
function scriptWords(script: Uint8Array): string {
  const entry = /async def (\w+)\(/.exec(Buffer.from(script).toString('utf8'))?.[1] ?? 'main';
  return [
    `The work is done by [scripts/skill.py](scripts/skill.py), whose function \`${entry}\` takes one text and gives one back. Run it with the exec tool:`,
    '',
    '```sh',
    `python3 -c 'import asyncio,sys; sys.path.insert(0, "{baseDir}/scripts"); import skill; print(asyncio.run(skill.${entry}(sys.argv[1])))' "THE ARGUMENT"`,
    '```',
  ].join('\n');
}

function plainWords(text: string): string {
  return text
    .replaceAll(/[`*_#]/g, '')
    .replaceAll(/^\s*[-+]\s+/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
