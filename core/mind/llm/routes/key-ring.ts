// The keys of one provider: picks the first that is healthy or due for a trial, or else the one whose cool-down ends first. Pure.

import { subjectsOf, type Health, type ModelHealth } from './model-health.ts';

export interface PickedKey {
  readonly keyRef: string | null;
  readonly health: Health;
}

export function pickKey(ref: string, keys: readonly (string | null)[], health: ModelHealth): PickedKey {
  let best: PickedKey | null = null;
  for (const keyRef of keys) {
    const { key, keyAndModel } = subjectsOf(ref, keyRef);
    const own = health.of(key, keyAndModel);
    if (own.state === 'ok' || own.state === 'open') return { keyRef, health: own };
    if (best === null || own.untilMs < best.health.untilMs) best = { keyRef, health: own };
  }
  return best ?? { keyRef: null, health: { state: 'ok', untilMs: 0, why: 'stop' } };
}
