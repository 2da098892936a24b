// The doors for clients that speak OpenAI's or Ollama's API. The code that answers is loaded with the first request; until then each
// request costs one comparison of its path.

import { once } from '../../base/waits.ts';
import { defineBuiltInFeature, type DoorPlan } from '../feature.ts';
import type { Completions, OpenAiDeps } from './completions.ts';
import { answeringPaths, ollamaPaths, openAiPaths } from './paths.ts';

type Taken = Omit<OpenAiDeps, 'claw'>;

export const openai = defineBuiltInFeature({
  name: 'openai',
  create: (spine: Taken): { doors: DoorPlan[] } => {
    let completions: Promise<Completions> | null = null;
    const shared = (deps: OpenAiDeps): Promise<Completions> =>
      (completions ??= import('./completions.ts').then(({ Completions: Made }) => new Made(deps)));
    return {
      doors: [
        {
          door: 'openai',
          paths: openAiPaths,
          owns: (path) => path === '/v1' || path.startsWith('/v1/'),
          open: (claw) => {
            const deps = { ...spine, claw };
            const door = once(async () => new (await import('./serve.ts')).OpenAiDoor(deps, await shared(deps)));
            return async (request, reply) => (await door()).answer(request, reply);
          },
        },
        {
          door: 'ollama',
          paths: answeringPaths,
          owns: (path) => ollamaPaths.has(path),
          open: (claw) => {
            const deps = { ...spine, claw };
            const door = once(async () => new (await import('./serve-ollama.ts')).OllamaDoor(deps, await shared(deps)));
            return async (request, reply) => (await door()).answer(request, reply);
          },
        },
      ],
    };
  },
});
