// Views of the skill store: the effect of a plan, shown before anything is installed; search, origin, tests.

import { counted } from '../../../base/counted.ts';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { OpParams, OpResult } from '../../../contracts/ops.ts';
import type { PlannedSkill, SkillEffect, SkillPlan, SkillRisk } from '../../../contracts/features/skill-store.ts';
import type { CommandContext } from '../command-context.ts';
import { confirmed } from '../questions.ts';
import { exitCodes } from '../exit-code.ts';
import type { Given } from '../kernel/entries.ts';
import type { View } from '../kernel/view.ts';
import { facts, table } from '../table.ts';

type StoreViewed = 'skill.search' | 'skill.plan' | 'skill.info' | 'skill.pin' | 'skill.test';

export const skillStoreViews: { readonly [N in StoreViewed]: View<N> } = {
  'skill.search': { show: describeFound },
  'skill.plan': { params: withPaths, perform: planAndInstall },
  'skill.info': { show: describeInfo },
  'skill.pin': { show: ({ name, isPinned }) => (isPinned ? `${name} stays at its version.` : `${name} can be updated again.`) },
  'skill.test': { show: describeTest, exitCode: ({ isGood }) => (isGood ? exitCodes.done : exitCodes.failed) },
};

const BODY_LINES = 40;
const DIFF_LINES = 400;

/** Resolves a folder or an archive against the current folder. Everything else is a name or an address. */
function withPaths(params: Partial<OpParams<'skill.plan'>>, { context }: { readonly context: CommandContext }): OpParams<'skill.plan'> {
  const { cwd } = context.io;
  const isPath = (ref: string): boolean =>
    /^(?:\.{1,2}(?:[/\\]|$)|[/\\]|[A-Za-z]:[/\\])/.test(ref) ||
    (/\.\w+(?:#|$)/.test(ref) && existsSync(resolve(cwd, ref.replace(/#.*$/, ''))));
  const wants = (params.wants ?? []).map((ref) => (!/^(?:https?|github):/.test(ref) && isPath(ref) ? resolve(cwd, ref) : ref));
  return { ...params, wants };
}

/** Shows the plan, asks, and installs. Without a terminal and without --yes it only shows the plan, and the exit code tells. */
function planAndInstall(context: CommandContext, params: OpParams<'skill.plan'>, given: Given): Promise<number> {
  return context.withClaw('any', async ({ claw }) => {
    const { output } = context;
    const plan = await claw.op('skill.plan', params);
    const words = planText(plan);
    if (plan.planId === null) {
      output.result(plan, () => words);
      return exitCodes.done;
    }
    const despiteDangers = given['despiteDangers'] === true;
    const refusal =
      plan.isDangerous && !despiteDangers ? 'It looks dangerous. If you know better: --yes --despite-dangers' : 'To install it, say --yes.';
    if (given['yes'] !== true || (plan.isDangerous && !despiteDangers)) {
      if (!context.hasPerson || given['yes'] === true) {
        output.result(plan, () => `${words}\n\nNothing was installed. ${refusal}`);
        return exitCodes.waiting;
      }
      const question = plan.isDangerous ? 'It looks dangerous. Install it all the same?' : 'Install this?';
      if (!(await confirmed(context, words, question))) {
        output.say('Nothing was installed.');
        return exitCodes.waiting;
      }
    }
    const wish = {
      planId: plan.planId,
      ...(plan.isDangerous ? { despiteDangers: true } : {}),
      ...(given['pin'] === true ? { pin: true } : {}),
    };
    const { installed, lockFile } = await claw.op('skill.install', wish);
    const done = installed.map(
      ({ name, version, path }) =>
        `Installed ${name}${version === null ? '' : ` ${version}`} in ${path}. Its text is trusted as it is now.`,
    );
    output.result({ ...plan, installed, lockFile }, () => [...(given['yes'] === true ? [words, ''] : []), ...done].join('\n'));
    return exitCodes.done;
  });
}

export function planText({ skills, unchanged }: SkillPlan): string {
  const there = unchanged.map(({ name, version, reason }) => `${name}${version === null ? '' : ` ${version}`}: ${reason}`);
  return [...skills.map(skillText), ...there].join('\n\n') || 'Nothing to install.';
}

function skillText(skill: PlannedSkill): string {
  const { name, version, installed, source, because, license } = skill;
  const before =
    installed === null
      ? 'new'
      : `in place of ${installed.version ?? 'one without a version'}${installed.isChanged ? ', which was changed' : ''}`;
  const about = facts([
    ['skill', `${name} ${version ?? '(no version)'}, ${before}`],
    ['about', skill.description],
    ['from', source.from],
    ['of', source.publisher ?? 'not named'],
    ['signed', signedText(source)],
    ['verified', source.verified],
    ...(because.length === 0 ? [] : [['needed by', because.join(' → ')] as const]),
    ...(source.commit === null ? [] : [['commit', source.commit] as const]),
    ...(license === null ? [] : [['license', license] as const]),
    ['content', `${counted(skill.files.length, 'file')}, sha256 ${skill.sha256}`],
    ['can', effectsText(skill.effects)],
  ]);
  const findings = skill.findings.filter(({ severity }) => severity !== 'note').map(({ severity, message }) => `  ${severity}: ${message}`);
  return [about, '', risksText(skill.risks), ...findings, '', installed === null ? bodyText(skill.body) : changesText(skill)].join('\n');
}

function signedText({ signer }: PlannedSkill['source']): string {
  return signer === null ? 'no' : `by ${signer.identity}, as ${signer.issuer} confirms`;
}

function effectsText(effects: readonly SkillEffect[]): string {
  const words = effects.map(({ kind, name, isDeclared }) => `${kind} ${name}${isDeclared ? '' : ' (not declared)'}`);
  return words.join(', ') || 'nothing: it is only text';
}

export function risksText(risks: readonly SkillRisk[]): string {
  if (risks.length === 0) return 'No risks were found. That proves nothing, so read the text.';
  return risks
    .map(({ level, rule, message, file, line, excerpt }) => {
      const place = file === null ? '' : ` (${file}${line === null ? '' : `, line ${line}`})`;
      return `  ${level.toUpperCase()} ${rule}${place}: ${message}${excerpt === null ? '' : `\n      ${excerpt}`}`;
    })
    .join('\n');
}

function bodyText(body: string): string {
  const lines = body.split('\n');
  const more = lines.length > BODY_LINES ? [`| … ${lines.length - BODY_LINES} more lines`] : [];
  return ['It says:', ...lines.slice(0, BODY_LINES).map((line) => `| ${line}`), ...more].join('\n');
}

function changesText({ changes }: PlannedSkill): string {
  const marks = { same: ' ', added: '+', removed: '-' } as const;
  const lines = changes.flatMap(({ path, kind, lines: all }) => [
    `${kind} ${path}`,
    ...(all === null ? ['  (not text)'] : all.map((one) => `  ${marks[one.kind]} ${one.text}`)),
  ]);
  const more = lines.length > DIFF_LINES ? [`… ${lines.length - DIFF_LINES} more lines`] : [];
  return lines.length === 0 ? 'Its files are the same.' : ['What changes:', ...lines.slice(0, DIFF_LINES), ...more].join('\n');
}

function describeFound({ skills, problems }: OpResult<'skill.search'>): string {
  const rows = skills.map(({ name, version, market, publisher, isInstalled, installed, verdict, deprecation, description }) => {
    const state = isInstalled ? `have ${installed ?? 'it'}` : deprecation === null ? '' : 'deprecated';
    return [name, version ?? '-', market, publisher ?? '-', state, verdict ?? description];
  });
  const failed = problems.map(({ market, problem }) => `The market ${market} could not be asked: ${problem}`);
  return [table(['SKILL', 'VERSION', 'MARKET', 'OF', '', ''], rows, 'No market offers such a skill.'), ...failed].join('\n');
}

function describeInfo({ name, state, lock, usedBy, effects, risks }: OpResult<'skill.info'>): string {
  const states = {
    'as-installed': 'as it was installed',
    changed: 'its files were changed since it was installed',
    missing: 'its folder is gone',
    'not-from-store': 'not installed from anywhere',
  } as const;
  const origin: readonly (readonly [string, string])[] =
    lock === null
      ? []
      : [
          ['version', `${lock.version ?? 'none'}${lock.isPinned ? ', pinned' : ''}`],
          ['from', lock.source.from],
          ['of', lock.source.publisher ?? 'not named'],
          ['signed', signedText(lock.source)],
          ['verified', lock.source.verified],
          [
            'approved',
            `by ${lock.approvedBy} on ${new Date(lock.approvedAtMs).toISOString().slice(0, 10)}, ${lock.risks.danger} dangers, ${lock.risks.warning} warnings`,
          ],
          ['content', lock.sha256],
        ];
  const about = facts([
    ['skill', name],
    ['state', states[state]],
    ...origin,
    ['used by', usedBy.join(', ') || 'nothing'],
    ['can', effectsText(effects)],
  ]);
  return `${about}\n\n${risksText(risks)}`;
}

function describeTest({ name, isGood, findings, risks, run }: OpResult<'skill.test'>): string {
  const linted = findings.map(({ severity, message }) => `  ${severity}: ${message}`);
  const cases =
    run === null
      ? ['It has no cases: write some to evals/first.yaml in its folder.']
      : [`Cases: ${run.passed} passed, ${run.failed} failed, ${run.errors} could not be judged.`, ...run.cases.filter(({ verdict }) => verdict !== 'pass').map((one) => `  ${one.verdict} ${one.name}: ${one.reason}`)]; // prettier-ignore
  return [`${name}: ${isGood ? 'good' : 'not good yet'}`, ...linted, risksText(risks), ...cases].join('\n');
}
