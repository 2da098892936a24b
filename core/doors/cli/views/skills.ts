// Views of skills, and the parser of the name or folder to check.

import { counted } from '../../../base/counted.ts';
import { resolve } from 'node:path';
import type { OpParams, OpResult } from '../../../contracts/ops.ts';
import type { SkillFinding, SkillListing, SkillView } from '../../../contracts/features/skills.ts';
import type { CommandContext } from '../command-context.ts';
import { confirmed } from '../questions.ts';
import { exitCodes } from '../exit-code.ts';
import type { Given } from '../kernel/entries.ts';
import { tabled, type ViewsOf } from '../kernel/view.ts';
import { facts } from '../table.ts';
import { skillStoreViews } from './skill-store.ts';

export const skillViews: ViewsOf<'skill'> = {
  'skill.list': { show: describeAll },
  'skill.get': { show: describe },
  'skill.lint': {
    // A name is never interpreted as a path.
    params: (_, { given, context }) => {
      const what = String(given['name-or-folder']);
      return /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(what) ? { name: what } : { path: resolve(context.io.cwd, what) };
    },
    show: describeFindings,
    exitCode: ({ results }) =>
      results.some(({ findings }) => findings.some(({ severity }) => severity === 'error')) ? exitCodes.failed : exitCodes.done,
  },
  'skill.import': {
    show: describeImport,
    saysWhyNot: true,
    exitCode: ({ imported }) => (imported.length > 0 ? exitCodes.done : exitCodes.failed),
  },
  'skill.remove': { perform: removeSkills },
  'skill.trust': { json: ({ skills }) => skills, show: ({ skills }) => rows(skills) },
  'skill.configure': { show: (skill) => rows([skill]) },
  'skill.reload': { show: (result, { isRunning }) => describeReload(result, isRunning) },
  ...skillStoreViews,
};

/** Removes a skill, then offers skills that only removed ones needed, until no unneeded skill is left. */
function removeSkills(context: CommandContext, params: OpParams<'skill.remove'>, given: Given): Promise<number> {
  return context.withClaw('any', async ({ claw }) => {
    const { output } = context;
    const first = await claw.op('skill.remove', params);
    const removed = [first];
    for (let left = first.unneeded; left.length > 0;) {
      const words = `${left.join(', ')} ${left.length === 1 ? 'was' : 'were'} installed for other skills only, and none needs ${left.length === 1 ? 'it' : 'them'} now.`;
      if (given['unneeded'] !== true && !(context.hasPerson && (await confirmed(context, words, 'Remove that too?')))) break;
      for (const name of left) removed.push(await claw.op('skill.remove', { name }));
      left = removed.at(-1)?.unneeded ?? [];
    }
    const lines = removed.map(({ path, callId }) => `Removed ${path}. To take this back: ${context.program} undo ${callId}`);
    const { unneeded } = removed.at(-1) ?? first;
    const rest = unneeded.length === 0 ? [] : [`No longer needed: ${unneeded.join(', ')}`];
    output.result({ ...first, unneeded }, () => [...lines, ...rest].join('\n'));
    return exitCodes.done;
  });
}

function describeAll({ skills, refused }: OpResult<'skill.list'>): string {
  const left = refused.map(({ path, reason, hint }) => `Not taken in: ${path}. ${reason} ${hint}`);
  return [rows(skills), ...left].join('\n');
}

function rows(skills: readonly SkillListing[]): string {
  const about = ({ whyNot, description }: (typeof skills)[number]): string => whyNot ?? description;
  const columns = { SKILL: 'name', VERSION: 'version', FROM: 'origin', TRUST: 'trust', OFFERED: 'isOffered', '': about } as const;
  return tabled(skills, columns, 'No skill fits.');
}

function describe(skill: SkillView): string {
  const needs = skill.requirements.map(
    ({ kind, name, isMet, hint }) => `${kind} ${name} ${isMet ? 'is there' : `is missing${hint === null ? '' : ` (${hint})`}`}`,
  );
  const about = facts([
    ['skill', `${skill.name} ${skill.version ?? ''}`.trim()],
    ['about', skill.description],
    ['folder', skill.path],
    ['trust', `${skill.trust}, content ${skill.sha256}`],
    ['status', skill.status],
    ['offered', skill.whyNot ?? 'yes'],
    ['needs', needs.join('; ') || 'nothing'],
    ['files', skill.files.map(({ path }) => path).join(' ') || 'none'],
    ['findings', skill.findings.length === 0 ? 'none' : skill.findings.map(({ message }) => message).join(' ')],
  ]);
  return `${about}\n\n${skill.body}`;
}

function describeFindings({ results }: OpResult<'skill.lint'>): string {
  return results.map(({ name, path, findings }) => [`${name} (${path})`, ...findingLines(findings)].join('\n')).join('\n\n');
}

function findingLines(findings: readonly SkillFinding[]): string[] {
  if (findings.length === 0) return ['  no problems found'];
  return findings.map(({ severity, rule, message, line }) => `  ${severity} ${rule}${line === null ? '' : ` (line ${line})`}: ${message}`);
}

function describeImport({ imported, skipped }: OpResult<'skill.import'>): string {
  const done = imported.flatMap((one) => [
    `${one.name}: copied to ${one.path}${one.converted ? ', rewritten to the standard' : ''}. Not trusted yet.`,
    ...findingLines(one.findings),
  ]);
  return [...done, ...skipped.map(({ path, reason, hint }) => `Left out: ${path}. ${reason} ${hint}`)].join('\n');
}

/** Without a running instance there was no earlier reading to compare with, so all would be new. */
function describeReload({ skills, added, changed, removed }: OpResult<'skill.reload'>, isRunning: boolean): string {
  if (!isRunning) return `${counted(skills, 'skill')}. They are read at each start.`;
  const part = (what: string, names: readonly string[]): string => (names.length === 0 ? '' : ` ${what}: ${names.join(', ')}.`);
  return `${counted(skills, 'skill')}.${part('New', added)}${part('Changed', changed)}${part('Gone', removed)}`;
}
