// Delegation: a bounded task for a Cortensor router of config.yaml, as a tool. There is no such tool where no router is set up.

import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { CortensorRouter } from '../../mind/llm/llm.ts';
import { createDelegate } from './tool.ts';

type Taken = Pick<Spine, 'config' | 'clock' | 'secrets'>;

export const delegate = defineBuiltInFeature({
  name: 'delegate',
  create: ({ config, clock, secrets }: Taken, _rows: null) => {
    const routers = Object.entries(config.providers).flatMap(([name, provider]) =>
      provider.kind === 'cortensor' && provider.sessionId !== undefined
        ? [[name, { router: new CortensorRouter(name, provider, { secrets, clock }), timeoutMs: provider.timeoutMs }] as const]
        : [],
    );
    return { tools: routers.length === 0 ? [] : [createDelegate(new Map(routers))] };
  },
});
