import { expect, test } from 'vitest';
import { keepToken, takeToken, type TokenPlaces } from './access-token.ts';

function placesWith(hash: string, kept: string | null): { places: TokenPlaces; shown: string[]; stored: Map<string, string> } {
  const stored = new Map(kept === null ? [] : [['trayclaw.token', kept]]);
  const shown: string[] = [];
  const places: TokenPlaces = {
    location: { hash, pathname: '/', search: '' },
    history: { state: null, replaceState: (_state, _unused, url) => shown.push(String(url)) },
    storage: {
      getItem: (key) => stored.get(key) ?? null,
      setItem: (key, value) => void stored.set(key, value),
      removeItem: (key) => void stored.delete(key),
    },
  };
  return { places, shown, stored };
}

test('a token in the address is taken, kept for the tab, and removed from the address', () => {
  const { places, shown, stored } = placesWith('#token=a%2Fb', 'old');
  expect([takeToken(places), shown, [...stored.values()]]).toEqual(['a/b', ['/'], ['a/b']]);
});

test('without one the tab may still have it', () => {
  expect(takeToken(placesWith('#/chat', 'kept').places)).toBe('kept');
  expect(takeToken(placesWith('', null).places)).toBe(null);
});

test('what the tab keeps can be replaced and forgotten', () => {
  const { places, stored } = placesWith('', 'old');
  keepToken(places.storage, 'new');
  expect([...stored.values()]).toEqual(['new']);
  keepToken(places.storage, null);
  expect(stored.size).toBe(0);
});
