// Reads the access token: once from the address, then from this tab's session storage. Stores it no longer than the tab lives, nor
// while another program answers at the address, whose page could read it after a reload.

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

/** Null forgets it. */
export function keepToken(storage: TokenPlaces['storage'], token: string | null): void {
  if (token === null) storage.removeItem(storageKey);
  else storage.setItem(storageKey, token);
}
