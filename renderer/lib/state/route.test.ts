import { expect, test } from 'vitest';
import { Route } from './route.svelte.ts';

/** A location that changes without an event, as before the browser sends one. */
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

test('an address that changed meanwhile is followed, not replaced', () => {
  const address = silentLocation();
  const route = new Route(() => address);
  address.hash = '#/activity/s2/t2';
  route.replace('chat', 's1');
  expect(address.hash).toBe('#/activity/s2/t2');
  expect(route.place).toEqual({ view: 'activity', sessionId: 's2', turnId: 't2', atSeq: null });
});

test('an address that was read at once is not read again when the browser tells of it', () => {
  const address = silentLocation();
  const route = new Route(() => address);
  const target = Object.assign(new EventTarget(), { location: address });
  const stop = route.follow(target as unknown as Window);
  route.go('chat', 's1');
  const { place } = route;
  target.dispatchEvent(new Event('hashchange'));
  expect(route.place).toBe(place);
  address.hash = '#/health';
  target.dispatchEvent(new Event('hashchange'));
  expect(route.place.view).toBe('health');
  stop();
});
