import { expect, test } from 'vitest';
import { Route } from './route.svelte.ts';

/** An address that changes without an event, as it does until the browser sends one. */
function silentLocation() {
  return {
    hash: '',
    replace(href: string) {
      this.hash = href;
    },
  };
}

test.each(['go', 'replace'] as const)('%s leads to the place at once', (way) => {
  const address = silentLocation();
  const route = new Route(() => address);
  route[way]('chat', 's1');
  expect(route.place).toEqual({ view: 'chat', sessionId: 's1', turnId: null, atSeq: null });
  expect(address.hash).toBe('#/chat/s1');
});
