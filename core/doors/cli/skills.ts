// `skills`: what instructions there are, what is wrong with them, and which of them a person trusts.

import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { OpParams, OpResult } from '../../contracts/ops.ts';
import type { SkillFinding, SkillListing, SkillView } from '../../contracts/features/skills.ts';
import type { Run } from './command-context.ts';
import { exitCodes } from './exit-code.ts';
import { facts, table } from './table.ts';

interface ImportOptions {
  readonly sha256?: string;
  readonly replace?: boolean;
}

interface TrustOptions {
  readonly folder?: string;
  readonly sha256?: string;
  readonly revoke?: boolean;
}

export function registerSkills(program: Command, run: Run): void {
  const skills = program.command('skills').description('instructions for kinds of work');
  skills
    .command('list')
    .description('list the skills, or those that fit a task')
    .argument('[words...]', 'words of a task')
    .action((words: string[]) =>
      run((context) => context.runOp('skill.list', words.length === 0 ? {} : { query: words.join(' ') }, { human: describeAll })),
    );
  skills
    .command('show')
    .description('show a skill with its instructions')
    .argument('<name>')
    .action((name: string) => run((context) => context.runOp('skill.get', { name }, { human: describe })));
  skills
    .command('lint')
    .alias('verify')
    .description('check a skill or a folder of skills; exit code 1 for an error')
    .argument('<name-or-folder>')
    .action((what: string) =>
      run((context) => context.runOp('skill.lint', lintTarget(what), { human: describeFindings, exitCode: lintCode })),
    );
  registerBringing(skills, run);
  skills
    .command('trust')
    .description('trust the text of a skill as it is now')
    .argument('[name]')
    .option('--folder <path>', 'all skills of a folder outside the workspace, also later ones')
    .option('--sha256 <hash>', 'only if this is still its content')
    .option('--revoke', 'no longer')
    .action((name: string | undefined, { folder, sha256, revoke }: TrustOptions) => {
      const params: OpParams<'skill.trust'> = {
        ...(name === undefined ? {} : { name }),
        ...(folder === undefined ? {} : { folder: resolve(folder) }),
        ...(sha256 === undefined ? {} : { sha256 }),
        ...(revoke === true ? { trusted: false } : {}),
      };
      return run((context) =>
        context.runOp('skill.trust', params, { json: (result) => result.skills, human: ({ skills: changed }) => rows(changed) }),
      );
    });
  for (const enabled of [true, false]) {
    skills
      .command(enabled ? 'enable' : 'disable')
      .description(enabled ? 'let the agent use a skill again' : 'keep the agent from using a skill')
      .argument('<name>')
      .action((name: string) => run((context) => context.runOp('skill.configure', { name, enabled }, { human: (skill) => rows([skill]) })));
  }
  skills
    .command('reload')
    .description('read all skill folders again')
    .action(() => run((context) => context.runOp('skill.reload', {}, { human: describeReload })));
}

/** What comes into the workspace and goes out of it. */
function registerBringing(skills: Command, run: Run): void {
  skills
    .command('import')
    .alias('install')
    .description('copy a skill, or all below a folder, into the workspace; trusts nothing')
    .argument('<folder>')
    .option('--sha256 <hash>', 'what was published for it')
    .option('--replace', 'in place of one of the same name')
    .action((folder: string, { sha256, replace }: ImportOptions) => {
      const params: OpParams<'skill.import'> = {
        path: resolve(folder),
        ...(sha256 === undefined ? {} : { sha256 }),
        ...(replace === true ? { replace } : {}),
      };
      return run((context) =>
        context.runOp('skill.import', params, {
          human: describeImport,
          exitCode: ({ imported }) => (imported.length > 0 ? exitCodes.done : exitCodes.failed),
        }),
      );
    });
  skills
    .command('remove')
    .description('remove a skill from the workspace; undo puts it back')
    .argument('<name>')
    .action((name: string) =>
      run((context) =>
        context.runOp('skill.remove', { name }, { human: ({ path, callId }) => removedWords(path, callId, context.program) }),
      ),
    );
}

/** A name is never a way to a folder. */
function lintTarget(what: string): OpParams<'skill.lint'> {
  return /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(what) ? { name: what } : { path: resolve(what) };
}

function lintCode({ results }: OpResult<'skill.lint'>): number {
  return results.some(({ findings }) => findings.some(({ severity }) => severity === 'error')) ? exitCodes.failed : exitCodes.done;
}

function describeAll({ skills, refused }: OpResult<'skill.list'>): string {
  const left = refused.map(({ path, reason, hint }) => `Not taken in: ${path}. ${reason} ${hint}`);
  return [rows(skills), ...left].join('\n');
}

function rows(skills: readonly SkillListing[]): string {
  return table(
    ['SKILL', 'VERSION', 'FROM', 'TRUST', 'OFFERED', ''],
    skills.map((one) => [one.name, one.version ?? '-', one.origin, one.trust, one.isOffered ? 'yes' : 'no', one.whyNot ?? one.description]),
    'No skill fits.',
  );
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
  if (findings.length === 0) return ['  nothing to say'];
  return findings.map(({ severity, rule, message, line }) => `  ${severity} ${rule}${line === null ? '' : ` (line ${line})`}: ${message}`);
}

function describeImport({ imported, skipped }: OpResult<'skill.import'>): string {
  const done = imported.flatMap((one) => [
    `${one.name}: copied to ${one.path}${one.converted ? ', rewritten to the standard' : ''}. Not trusted yet.`,
    ...findingLines(one.findings),
  ]);
  return [...done, ...skipped.map(({ path, reason, hint }) => `Left out: ${path}. ${reason} ${hint}`)].join('\n');
}

function removedWords(path: string, callId: string, program: string): string {
  return `Removed ${path}. To take this back: ${program} undo ${callId}`;
}

function describeReload({ skills, added, changed, removed }: OpResult<'skill.reload'>): string {
  const part = (what: string, names: readonly string[]): string => (names.length === 0 ? '' : ` ${what}: ${names.join(', ')}.`);
  return `${skills} skills.${part('New', added)}${part('Changed', changed)}${part('Gone', removed)}`;
}
