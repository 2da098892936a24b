// Hooks: programs and functions a person set up to run before and after what the agent does. They can only make things stricter.

import { systemSessionId } from '../../contracts/events.ts';
import type { LibraryHook } from '../../contracts/features/hooks.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { Hooks } from './hook-runner.ts';

type Taken = Pick<Spine, 'config' | 'clock' | 'logger' | 'log' | 'panic' | 'programs' | 'redactDeep'>;

export const hooks = defineBuiltInFeature({
  name: 'hooks',
  /** `library`: hooks of the program that embeds TrayClaw. */
  create: ({ config, log, programs, ...spine }: Taken, _rows: null, library: readonly LibraryHook[]) => {
    // Without hooks, no step of a turn waits for any.
    if (config.hooks.length + library.length === 0) return { port: null };
    const port = new Hooks({
      ...spine,
      configured: config.hooks,
      library,
      run: programs.ask,
      record: (ran) => void log.append(systemSessionId, [{ type: 'hook.ran', body: ran }]),
    });
    return { port, dispose: () => port.dispose() };
  },
});
