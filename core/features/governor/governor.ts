// The governor: watches a turn by its events and tightens what the gate allows. Off unless config.yaml says otherwise; then a turn has none.

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
      gives: settings.mode === 'off' ? {} : { governor: new TurnGovernor({ ...spine, config: settings, hasLimits }) },
      handlers: createGovernorOps({ ...spine, config: settings, perTurnUsd: config.budget.perTurnUsd ?? null }),
    };
  },
});
