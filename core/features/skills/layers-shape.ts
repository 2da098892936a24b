// Rewrites skills of the layers project (no head, fixed sections, skill.py, policy.yaml) to the Agent Skills standard. Pure.

import { createHash } from 'node:crypto';
import { isLayersShape } from './skill-file.ts';
import { isDay, toSkillName } from './skill-head.ts';

/** The files its published hash covers, in this order; a missing one counts as empty. */
const covered = ['SKILL.md', 'skill.py', 'policy.yaml'] as const;
const DESCRIPTION_CHARS_MAX = 1024;

export interface ConvertedSkill {
  readonly name: string;
  /** By path in the new skill's folder. */
  readonly files: ReadonlyMap<string, Uint8Array | string>;
}

export { isLayersShape };

/** The hash that its marketplace publishes. */
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

/** Takes only the files that the hash covers, so that no unpublished file gets in. */
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

/** By heading in lower case. */
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
  const uses = [...of('requires').matchAll(/^[-*]\s*`?([A-Za-z][\w-]*)/gm)].map(([, other = '']) => toSkillName(other));
  const metadata = [
    `  version: ${JSON.stringify(of('version') || '0.0.0')}`,
    ...(of('status').toLowerCase() === 'deprecated' ? ['  status: deprecated'] : []),
    ...(replacedBy === undefined ? [] : [`  replaced-by: ${toSkillName(replacedBy)}`]),
    ...(removeAfter !== undefined && isDay(removeAfter) ? [`  remove-after: ${JSON.stringify(removeAfter)}`] : []),
    ...(uses.length === 0 ? [] : [`  trayclaw-skills: ${JSON.stringify(uses.join(' '))}`]),
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

/** Its script was a function of the other program's; here it is a file, and a command to call it. */
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
