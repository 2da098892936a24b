// The client of a page in a browser, and the operations whose answers the first screen shows. It asks for them at once, before anything that
// shows them is there.

import { keepToken, takeToken } from './access-token.ts';
import { HttpClient } from './http-client.ts';

/** The page of sessions a new window begins with; the list asks for the same. */
export const firstSessions = { limit: 100 };

export type Page = Pick<Window, 'location' | 'history' | 'sessionStorage'>;

export function createClient({ location, sessionStorage }: Page, token: string): HttpClient {
  const client = new HttpClient({ origin: location.origin, token, onRenewed: (next) => keepToken(sessionStorage, next) });
  client.askAhead('session.list', firstSessions);
  client.askAhead('model.list', {});
  return client;
}

export function findClient(page: Page): HttpClient | null {
  const token = takeToken({ location: page.location, history: page.history, storage: page.sessionStorage });
  return token === null ? null : createClient(page, token);
}
