// The client of a page in a browser, and the operations whose answers the first screen shows. It requests them at once, before the code
// that shows them is loaded.

import { keepToken, takeToken } from './access-token.ts';
import { HttpClient } from './http-client.ts';

/** The page of sessions a new window requests; the list requests the same. */
export const firstSessions = { limit: 100 };

export type Page = Pick<Window, 'location' | 'history' | 'sessionStorage'>;

export function createClient({ location, sessionStorage }: Page, token: string): HttpClient {
  const client = new HttpClient({ origin: location.origin, token, onKept: (next) => keepToken(sessionStorage, next) });
  client.askAhead('session.list', firstSessions);
  client.askAhead('model.list', {});
  return client;
}

export function findClient(page: Page): HttpClient | null {
  const token = takeToken({ location: page.location, history: page.history, storage: page.sessionStorage });
  return token === null ? null : createClient(page, token);
}
