// The time the sandbox adds to a command.

import { ownName, type Figure } from '../figures.ts';
import type { BenchContext } from '../section.ts';
import type { SandboxBenchJob, SandboxFigures } from '../workers/sandbox-worker.ts';
import { runWorker } from '../workers/worker.ts';

const FOLDERS = 500;

export async function measureSandbox(context: BenchContext): Promise<Figure[]> {
  context.say(`sandbox: a command with and without it, in a workspace of ${FOLDERS} folders`);
  const job: SandboxBenchJob = { repetitions: context.count(100), folders: FOLDERS };
  const { plain, confined, withNetwork } = await runWorker<SandboxBenchJob, SandboxFigures>('sandbox-worker.ts', job);
  const common = { section: 'sandbox', subject: ownName, unit: 'ms' } as const;
  const figures: Figure[] = [
    { ...common, name: 'command, without', p50: plain.p50, p99: plain.p99, max: plain.max, note: `n ${plain.count}` },
  ];
  for (const [name, taken] of [
    ['added by the sandbox', confined],
    ['added, with a domain allowed', withNetwork],
  ] as const) {
    if (taken === null) context.say(`sandbox: ${name} cannot be measured, for there is none here`);
    else figures.push({ ...common, name, p50: taken.p50 - plain.p50, p99: taken.p99 - plain.p50, max: taken.max - plain.p50 });
  }
  return figures;
}
