// Views of the engine for GGUF files.

import type { EngineState } from '../../../contracts/features/engine.ts';
import type { ViewsOf } from '../kernel/view.ts';

const size = (bytes: number): string => `${Math.ceil(bytes / 1_000_000)} MB`;

const states: Readonly<Record<EngineState['state'], (engine: EngineState) => string>> = {
  unsupported: () => 'There is no engine for this platform. Use Ollama, LM Studio or llama-server.',
  absent: ({ version, source, downloadBytes, diskBytes }) =>
    `The engine ${version} is not installed: ${size(downloadBytes)} to download from ${source}, ${size(diskBytes)} on the disk. Install it: trayclaw model install-engine`,
  installing: ({ doneBytes, downloadBytes }) => `The engine is being installed: ${size(doneBytes)} of ${size(downloadBytes)}.`,
  installed: ({ version, folder }) => `The engine ${version} is installed in ${folder}.`,
};

export const engineViews: ViewsOf<'engine'> = {
  'engine.get': { show: (engine) => states[engine.state](engine) },
};
