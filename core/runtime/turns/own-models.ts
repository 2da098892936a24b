// Adds models that the program answers itself: peers, and the steps of skills. Other models go to their providers.

import type { ModelPort } from './ports.ts';

const free = { inputUsdPerMillion: 0, cachedInputUsdPerMillion: 0, outputUsdPerMillion: 0 };

/** The own models cost nothing, and `stream` answers for them. */
export function withOwnModels(models: ModelPort, isOwn: (ref: string) => boolean, stream: ModelPort['stream']): ModelPort {
  return {
    defaultRef: () => models.defaultRef(),
    defaultChoice: () => models.defaultChoice(),
    info: (ref) => (isOwn(ref) ? { ref, contextTokens: 1_000_000, ...free } : models.info(ref)),
    askWindow: (ref, signal) => (isOwn(ref) ? null : (models.askWindow?.(ref, signal) ?? null)),
    cost: (ref, usage) => (isOwn(ref) ? 0 : models.cost(ref, usage)),
    stream: (ref, ...request) => (isOwn(ref) ? stream(ref, ...request) : models.stream(ref, ...request)),
  };
}
