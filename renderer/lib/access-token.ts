// Reads the access token: once from the address, then from this tab's session storage. Stores it no longer than the tab lives.

const storageKey = 'trayclaw.token';

export interface TokenPlaces {
  readonly location: Pick<Location, 'hash' | 'pathname' | 'search'>;
  readonly history: Pick<History, 'replaceState' | 'state'>;
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
}

/** Removes `#token=…` from the address at once, so that it does not stay in the history. */
export function takeToken(places: TokenPlaces): string | null {
  const match = /^#token=([^&]+)/.exec(places.location.hash);
  if (match?.[1] === undefined) return places.storage.getItem(storageKey);
  const token = decodeURIComponent(match[1]);
  places.storage.setItem(storageKey, token);
  places.history.replaceState(places.history.state, '', places.location.pathname + places.location.search);
  return token;
}

export function keepToken(storage: TokenPlaces['storage'], token: string): void {
  storage.setItem(storageKey, token);
}

export function forgetToken(storage: TokenPlaces['storage']): void {
  storage.removeItem(storageKey);
}
