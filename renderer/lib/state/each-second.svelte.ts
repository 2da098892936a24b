// Asks the host once a second for something whose changes are no events of the log, while it is shown.

import { untrack } from 'svelte';

/** At once and then each second, until the component is gone. */
export function eachSecond(app: { readonly nowMs: number }, load: () => Promise<void>): void {
  $effect(() => {
    void app.nowMs;
    // The banner above says that the host is away.
    untrack(load).catch(() => undefined);
  });
}
