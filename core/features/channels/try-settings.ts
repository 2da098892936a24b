// Tests settings that are not saved: first the problems of single fields, then one connection. Writes nothing.

import type * as z from 'zod';
import type { ChannelTrial, ResolveSecret } from '../../contracts/channels.ts';
import { describeIssues } from '../../contracts/describe-issues.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import type { Caller, OpParsed, OpResult } from '../../contracts/ops.ts';
import type { Secrets } from '../../guard/secret/secret.ts';
import type { Spine } from '../feature.ts';

export interface TrialDeps extends Pick<Spine, 'closing'> {
  readonly secrets: Pick<Secrets, 'resolve' | 'guard'>;
  readonly trials: readonly ChannelTrial[];
}

const TRIAL_MS = 30_000;

export async function trySettings(
  { trials, secrets, closing }: TrialDeps,
  { channel, settings, secrets: values, checkOnly }: OpParsed<'channel.try'>,
  caller: Caller,
): Promise<OpResult<'channel.try'>> {
  const trial = trials.find((one) => one.channel === channel);
  if (trial === undefined) throw new AppError('not_found', `The settings of ${channel} cannot be tested.`);
  for (const [name, value] of Object.entries(values)) secrets.guard(value, name);
  const fields = faultsOf(trial.settings, settings);
  const nothing = { fields, me: null, problem: null };
  if (fields.length > 0 || checkOnly === true) return nothing;
  const signals = [closing, AbortSignal.timeout(TRIAL_MS), ...(caller.signal === undefined ? [] : [caller.signal])];
  const resolve: ResolveSecret = async (reference) => values[reference.replace(/^keychain:/, '')] ?? (await secrets.resolve(reference));
  try {
    return { ...nothing, me: await trial.connect(settings, resolve, AbortSignal.any(signals)) };
  } catch (cause) {
    const error = toAppError(cause);
    // An unreachable server requires nothing from the person. Every other failure comes with a hint.
    const problem = error.code === 'fetch_failed' ? error.message : error.told();
    const { field } = error.data;
    return { ...nothing, problem, fields: typeof field === 'string' ? [{ path: field, problem }] : [] };
  }
}

function faultsOf(schema: z.ZodType, given: unknown): OpResult<'channel.try'>['fields'] {
  const parsed = schema.safeParse(given);
  if (parsed.success) return [];
  return parsed.error.issues.map((issue) => {
    const path = issue.path.map(String).join('.');
    // The problem omits the path, because the window shows it next to the field.
    const [told = ''] = describeIssues([issue], { given, whole: '' });
    return { path, problem: told.slice(path.length).replace(/^:? /, '') };
  });
}
