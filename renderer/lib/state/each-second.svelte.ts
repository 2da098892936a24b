// Polls the host once a second, while shown, for something whose changes are not events of the log.

import { untrack } from 'svelte';

/** Runs at once and then each second, until the component is destroyed. */
export function eachSecond(app: { readonly nowMs: number }, load: () => Promise<void>): void {
  $effect(() => {
    void app.nowMs;
    // The banner above already says that the host is away.
    untrack(load).catch(() => undefined);
  });
}
