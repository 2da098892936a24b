// The first message when no model is set up: offers a key from the environment, and says if only the offline demo answers. A key is used
// only after a yes.

import type { Claw } from '../../contracts/claw.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import type { KeyOffer, ProviderDraft } from '../../contracts/provider-ops.ts';
import type { CommandContext } from './command-context.ts';
import type { LineReader } from './line-reader.ts';

/** If nothing is set up, offers the keys of the environment to a person at the terminal, and says on stderr if the demo answers. */
export async function meetModel(context: CommandContext, claw: Claw, lines: LineReader | null): Promise<void> {
  const { defaultModel, problem, offers } = await claw.op('model.list', {});
  // Without any model the turn fails with the same message.
  if (problem === null || defaultModel === null) return;
  if (lines !== null && !context.output.isJson) {
    for (const offer of offers) {
      if (!(await isWanted(lines, offer))) continue;
      if (await takeOffer(context, claw, offer)) return;
      break;
    }
  }
  const hint =
    offers.length === 0
      ? problem.hint.replace('trayclaw', context.program)
      : problem.hint.replace('trayclaw setup', `${context.program} setup`);
  context.output.say(context.output.paintNote('yellow', `${problem.message} ${hint}`));
}

export function draftOf({ preset, kind, baseUrl, variable }: KeyOffer): ProviderDraft {
  return { name: preset, kind, ...(baseUrl === null ? {} : { baseUrl }), apiKey: `env:${variable}` };
}

async function isWanted(lines: LineReader, { title, variable }: KeyOffer): Promise<boolean> {
  const gone = new AbortController();
  const stopListening = lines.onInterrupt(() => gone.abort());
  try {
    lines.forgetTypedAhead();
    const answer = await lines.ask(`Use ${title} with the key in ${variable}? [y]es · [n]o (Enter: no): `, gone.signal);
    if (gone.signal.aborted) throw new AppError('cancelled', 'Cancelled; nothing was changed.');
    return /^y(es)?$/i.test(answer?.trim() ?? '');
  } finally {
    stopListening();
  }
}

/** Returns false if the key does not work; nothing was changed then. */
async function takeOffer(context: CommandContext, claw: Claw, offer: KeyOffer): Promise<boolean> {
  const provider = draftOf(offer);
  try {
    const { ok, modelId, error } = await claw.op('provider.try', { provider });
    if (!ok || modelId === null) {
      if (error !== null) context.output.explain(error);
      return false;
    }
    const { model } = await claw.op('provider.add', { provider, modelId });
    context.output.note(`${model ?? modelId} answers from now on. Another model: ${context.program} models`);
    return true;
  } catch (cause) {
    context.output.explain(toAppError(cause));
    return false;
  }
}
