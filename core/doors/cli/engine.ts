// `model install-engine`: says what would be downloaded and its size, asks, and shows the progress.

import type { EngineState } from '../../contracts/features/engine.ts';
import type { CommandContext } from './command-context.ts';
import { confirmed } from './questions.ts';
import { exitCodes } from './exit-code.ts';

const PROGRESS_EVERY_MS = 1_000;

export function installEngine(context: CommandContext, { yes = false }: { readonly yes?: boolean }): Promise<number> {
  return context.withClaw('any', async ({ claw }) => {
    const { output, parts } = context;
    const before = await claw.op('engine.get', {});
    if (before.state === 'installed') {
      output.result(before, () => `The engine ${before.version} is already installed in ${before.folder}.`);
      return exitCodes.done;
    }
    if (!yes && before.state === 'absent') {
      const words = offerOf(before);
      if (!context.hasPerson) {
        output.result(before, () => `${words}\nTo install it, say --yes.`);
        return exitCodes.waiting;
      }
      if (!(await confirmed(context, words, 'Download and install it?'))) return exitCodes.failed;
    }
    let isOver = false;
    const installing = claw.op('engine.install', {}).finally(() => {
      isOver = true;
    });
    const watch = async (): Promise<void> => {
      for (await parts.pause(PROGRESS_EVERY_MS); !isOver; await parts.pause(PROGRESS_EVERY_MS)) {
        const { state, doneBytes, downloadBytes } = await claw.op('engine.get', {});
        if (state === 'installing') output.note(`${megabytes(doneBytes)} of ${megabytes(downloadBytes)} MB`);
      }
    };
    const [done] = await Promise.all([installing, watch()]);
    output.result(done, () => `The engine ${done.version} is installed in ${done.folder}.`);
    return exitCodes.done;
  });
}

function offerOf({ version, source, packages, downloadBytes, diskBytes, folder }: EngineState): string {
  const sizes = `${megabytes(downloadBytes)} MB to download from ${source}, ${megabytes(diskBytes)} MB in ${folder}`;
  return `The engine for GGUF files is node-llama-cpp ${version}: ${packages} packages, ${sizes}. Each archive is checked, and no script of theirs runs.`;
}

function megabytes(bytes: number): string {
  return String(Math.ceil(bytes / 1_000_000));
}
