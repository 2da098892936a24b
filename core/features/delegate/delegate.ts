// The tool `delegate`, which gives a bounded task to a Cortensor router of config.yaml. The tool does not exist if no router is configured.

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
