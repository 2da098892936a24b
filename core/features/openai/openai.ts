// The doors for clients that speak OpenAI's or Ollama's API. The code that answers is loaded with the first request; until then each
// request costs one comparison of its path.

import type { Claw } from '../../contracts/claw.ts';
import type { DoorRoute } from '../../contracts/door-route.ts';
import { defineBuiltInFeature } from '../feature.ts';
import type { Completions, OpenAiDeps } from './completions.ts';
import { ollamaPaths } from './ollama-paths.ts';

type Taken = Omit<OpenAiDeps, 'claw'>;

export const openai = defineBuiltInFeature({
  name: 'openai',
  create: (spine: Taken) => ({
    route: (claw: Claw): DoorRoute => {
      const deps = (): OpenAiDeps => ({ ...spine, claw });
      let completions: Promise<Completions> | null = null;
      const shared = (): Promise<Completions> =>
        (completions ??= import('./completions.ts').then(({ Completions: Made }) => new Made(deps())));
      const openAi = later(async () => new (await import('./serve.ts')).OpenAiDoor(deps(), await shared()));
      const ollama = later(async () => new (await import('./serve-ollama.ts')).OllamaDoor(deps(), await shared()));
      return {
        owns: (path) => (path.startsWith('/v1') ? path === '/v1' || path.startsWith('/v1/') : ollamaPaths.has(path)),
        answer: async (request, reply) => {
          await (await (ollamaPaths.has(request.path) ? ollama() : openAi())).answer(request, reply);
        },
      };
    },
  }),
});

/** Calls `make` on first use and caches the result. */
function later<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => (made ??= make());
}
