// `doctor` and `recover`: find problems, show the repairs, and run them once a person has seen their effect.

import type { Claw } from '../../contracts/claw.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import type { OpParams, OpResult } from '../../contracts/ops.ts';
import { recoveryKindSchema } from '../../contracts/features/health.ts';
import type { CommandContext } from './command-context.ts';
import { confirmed } from './questions.ts';
import { exitCodes } from './exit-code.ts';
import { tabled } from './kernel/view.ts';

type Health = OpResult<'health.check'>;
type Plan = OpResult<'recovery.plan'>;

interface DoctorOptions {
  readonly full?: boolean;
  readonly fix?: boolean;
}

/** A runtime that cannot start is reported as a finding too. */
export async function doctor(context: CommandContext, { full, fix }: DoctorOptions): Promise<number> {
  try {
    return await context.withClaw('any', async ({ claw }) => {
      const params = full === true ? { full: true } : {};
      let health = await claw.op('health.check', params);
      if (fix === true && (await fixAll(context, claw, health))) health = await claw.op('health.check', params);
      context.output.result(health, () => describeHealth(health));
      return health.ok ? exitCodes.done : exitCodes.failed;
    });
  } catch (cause) {
    const { code, message, hint } = toAppError(cause);
    if (code === 'internal') throw cause;
    const result = { ok: false, checks: [{ id: 'runtime', ok: false, detail: message, ...(hint === undefined ? {} : { fix: hint }) }] };
    context.output.result(result, () => describeHealth(result));
    return exitCodes.failed;
  }
}

/** Returns true if anything was repaired. */
async function fixAll(context: CommandContext, claw: Claw, { checks }: Health): Promise<boolean> {
  let hasFixed = false;
  for (const { id, detail, repair } of checks) {
    if (repair === undefined) continue;
    const words = [`${id}: ${detail}`, ...repair.will.map((line) => `  ${line}`)].join('\n');
    const wanted = context.hasPerson ? await confirmed(context, words, 'Do it?') : repair.harmless;
    if (!wanted) {
      context.output.note(`${id}: left as it is.`);
      continue;
    }
    const { did } = await claw.op('health.fix', { checkId: id, run: true });
    for (const line of did) context.output.note(`${id}: ${line}`);
    hasFixed = true;
  }
  return hasFixed;
}

function describeHealth({ checks }: Health): string {
  return tabled(
    checks,
    {
      CHECK: 'id',
      STATE: ({ ok, fix }) => (ok ? (fix === undefined ? 'ok' : 'note') : 'FAILED'),
      DETAIL: 'detail',
      'WHAT TO DO': ({ fix }) => fix ?? '',
    },
    'No checks.',
  );
}

function listKinds(context: CommandContext): Promise<number> {
  return context.runOp(
    'recovery.list',
    {},
    {
      json: ({ kinds }) => kinds,
      human: ({ kinds }) => tabled(kinds, { NAME: 'kind', WHAT: 'title', WHEN: 'when', TARGET: 'target' }, 'None.'),
    },
  );
}

interface Wanted {
  readonly kind?: string;
  readonly target?: string;
  readonly yes?: boolean;
}

export async function recover(context: CommandContext, { kind, target, yes }: Wanted): Promise<number> {
  if (kind === undefined) return listKinds(context);
  const known = recoveryKindSchema.safeParse(kind);
  if (!known.success) throw new AppError('invalid_params', `There is no recovery called ${kind}.`, { hint: 'See: trayclaw recover' });
  return context.withClaw('any', async ({ claw }) => {
    const params: OpParams<'recovery.plan'> = { kind: known.data, ...(target === undefined ? {} : { target }) };
    const plan = await claw.op('recovery.plan', params);
    const goesOn = plan.runs && (yes === true || (context.hasPerson && (await confirmed(context, describePlan(plan), 'Do it?'))));
    if (!goesOn) {
      context.output.result(plan, () => describePlan(plan));
      return plan.runs ? exitCodes.waiting : exitCodes.done;
    }
    const done = await claw.op('recovery.run', { planId: plan.planId });
    context.output.result(done, () => done.did.join('\n'));
    return exitCodes.done;
  });
}

function describePlan({ will, lost, keeps }: Plan): string {
  const part = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)];
  return [
    ...part('What is done', will),
    ...part('What is lost', lost.length === 0 ? ['Nothing.'] : lost),
    ...part('What stays', keeps),
  ].join('\n');
}
