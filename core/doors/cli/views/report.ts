// The view of a bug report: shows every file in full, then asks whether to save it.

import type { OpParams } from '../../../contracts/ops.ts';
import { cliCaller } from '../caller.ts';
import type { CommandContext } from '../command-context.ts';
import { confirmed } from '../confirmed.ts';
import { exitCodes } from '../exit-code.ts';
import type { Given } from '../kernel/entries.ts';
import type { ViewsOf } from '../kernel/view.ts';

export const reportViews: ViewsOf<'report'> = { 'report.make': { perform: makeAndSave } };

function makeAndSave(context: CommandContext, params: OpParams<'report.make'>, given: Given): Promise<number> {
  return context.withClaw('any', async ({ claw }) => {
    const { output } = context;
    const made = await claw.op('report.make', params, cliCaller);
    const words = made.files.map(({ name, text }) => `--- ${name}\n${text.trimEnd()}`).join('\n\n');
    const saves = given['yes'] === true || (context.hasPerson && (await confirmed(context, words, 'Save this as one archive?')));
    if (!saves) {
      output.result(made, () => (context.hasPerson ? 'Nothing was saved.' : `${words}\n\nNothing was saved. To save it, say --yes.`));
      return exitCodes.waiting;
    }
    const saved = await claw.op('report.save', { reportId: made.reportId }, cliCaller);
    output.result({ ...made, ...saved }, () => `Saved ${saved.path}. Nothing was sent: attach it to your report yourself.`);
    return exitCodes.done;
  });
}
