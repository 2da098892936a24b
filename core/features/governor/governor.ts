// The governor: watches a turn through its events and tightens the gate's decisions. Off unless config.yaml enables it; then turns have no
// governor.

import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { createGovernorOps } from './ops.ts';
import { TurnGovernor } from './turn-governor.ts';

export { assessCall } from './assess.ts';
export { follow } from './signals.ts';

type Taken = Pick<Spine, 'config' | 'clock' | 'log' | 'policy' | 'budget'>;

export const governor = defineBuiltInFeature({
  name: 'governor',
  create: ({ config, ...spine }: Taken) => {
    const settings = config.governor;
    const hasLimits = Object.values(config.budget).some((limit) => limit !== undefined);
    return {
      gives: { governor: settings.mode === 'off' ? null : new TurnGovernor({ ...spine, config: settings, hasLimits }) },
      handlers: createGovernorOps({ ...spine, config: settings, perTurnUsd: config.budget.perTurnUsd ?? null }),
    };
  },
});
