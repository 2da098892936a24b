// Hooks: programs and functions that a person configured to run before and after the agent's actions. They can only make decisions
// stricter.

import { systemSessionId } from '../../contracts/events.ts';
import { defineBuiltInFeature, type Contribution, type Spine } from '../feature.ts';
import { Hooks } from './hook-runner.ts';

type Taken = Pick<Spine, 'config' | 'clock' | 'logger' | 'log' | 'panic' | 'programs' | 'redactDeep' | 'options'>;

export const hooks = defineBuiltInFeature({
  name: 'hooks',
  create: ({ config, log, programs, options, ...spine }: Taken): Contribution & { readonly gives: { readonly hooks: Hooks | null } } => {
    // The hooks of the program that embeds TrayClaw.
    const library = options.hooks ?? [];
    // Without hooks, no step of a turn waits for any.
    if (config.hooks.length + library.length === 0) return { gives: { hooks: null } };
    const runner = new Hooks({
      ...spine,
      configured: config.hooks,
      library,
      run: programs.ask,
      record: (ran) => void log.append(systemSessionId, [{ type: 'hook.ran', body: ran }]),
    });
    return { gives: { hooks: runner }, dispose: () => runner.dispose() };
  },
});
