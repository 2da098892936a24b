// Ends the turns and the processes of their calls before the features that they depend on.

import type { ProcessTrees } from '../../hands/tools/tools.ts';
import type { DeferredTurns } from '../../runtime/turns/turns.ts';
import type { Storage } from '../../store/storage/storage.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';

interface Taken extends Pick<Spine, 'log'> {
  readonly turns: Pick<DeferredTurns, 'dispose'>;
  readonly processes: Pick<ProcessTrees, 'hasStarted' | 'killAll'>;
  readonly storage: Pick<Storage, 'isThrowaway'>;
}

/** Listed after every feature that turns use until they end, so that it is disposed before them. */
export const turnEnd = defineBuiltInFeature({
  name: 'turns',
  create: ({ turns, processes, storage, log }: Taken) => ({
    dispose: async () => {
      await turns.dispose();
      // A look at every process of the machine is most of what ending costs; a throwaway folder without a call left none.
      if (!storage.isThrowaway || processes.hasStarted || log.index.hasCalls()) await processes.killAll();
    },
  }),
});
