// `model refresh-prices`: downloads the public price list, shows the changes, asks, and applies them.

import type { CommandContext } from './command-context.ts';
import { confirmed } from './questions.ts';
import { exitCodes } from './exit-code.ts';
import { changesText } from './views/settings.ts';

export function refreshPrices(context: CommandContext, { yes = false }: { readonly yes?: boolean }): Promise<number> {
  return context.withClaw('any', async ({ claw }) => {
    const { output } = context;
    const checked = await claw.op('prices.check', {});
    const words = changesText(checked);
    if (checked.added + checked.changed === 0) {
      output.result(checked, () => `${words}\nThe prices in use are the same.`);
      return exitCodes.done;
    }
    if (!yes) {
      if (!context.hasPerson) {
        output.result(checked, () => `${words}\nTo use them, say --yes.`);
        return exitCodes.waiting;
      }
      if (!(await confirmed(context, words, 'Use these prices?'))) return exitCodes.failed;
    }
    const used = await claw.op('prices.use', { id: checked.id });
    output.result({ ...checked, loaded: used.loaded }, () => (yes ? `${words}\n` : '') + 'These prices are in use now.');
    return exitCodes.done;
  });
}
