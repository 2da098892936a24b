// Tracks when an agent's identity or a prompt file may have changed. The host has the data; this only says when to reload it.

import type { AnyEvent } from '../../../core/contracts/events.ts';

const changing: ReadonlySet<string> = new Set(['identity.changed', 'prompt.accepted']);

export class Identities {
  revision = $state(0);

  apply({ type }: AnyEvent): void {
    if (changing.has(type)) this.revision += 1;
  }
}
