// When who an agent is, or a prompt file, may be another than before. The host has them; here is only when to look again.

import type { AnyEvent } from '../../../core/contracts/events.ts';

const changing: ReadonlySet<string> = new Set(['identity.changed', 'prompt.accepted']);

export class Identities {
  revision = $state(0);

  apply({ type }: AnyEvent): void {
    if (changing.has(type)) this.revision += 1;
  }
}
