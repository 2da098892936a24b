// `completion`: prints the script with which a shell completes commands, options and ids.

import { oneOf } from '../kernel/read-params.ts';
import type { CommandContext } from '../command-context.ts';
import { exitCodes } from '../exit-code.ts';
import type { Entry } from '../kernel/entries.ts';
import { fieldsOf } from '../kernel/fields.ts';
import { fishScript } from './fish-script.ts';
import { placesOf, type Place } from './model.ts';
import { bashScript, zshScript } from './posix-script.ts';

const scripts: Readonly<Record<string, (places: readonly Place[]) => string>> = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** Fails with `invalid_params` for an unknown shell. Starts nothing and needs no data folder. */
export async function completion(
  context: CommandContext,
  { shell }: { readonly shell: string },
  entries: readonly Entry[],
): Promise<number> {
  const script = scripts[oneOf(Object.keys(scripts), shell, '<shell>')]?.(placesOf(entries, fieldsOf)) ?? '';
  context.output.result({ shell, script }, () => script);
  return Promise.resolve(exitCodes.done);
}
