// Custom schemes: registered before the app is ready, handled by a function from Request to Response. In the underlying browser,
// app://host/path becomes http://host.app.localhost/path; no such request leaves the machine. A page must refer to its own files by
// relative addresses, because the browser does not know app://.

import type { BrowserContext } from 'playwright-core';
import type { CustomScheme } from 'electron';
import { lifecycle } from './lifecycle.ts';

type Handler = (request: Request) => Response | Promise<Response>;

const schemes = new Map<string, CustomScheme>();
const handlers = new Map<string, Handler>();

/** Converts the browser's address to the app's. */
export function appAddress(url: string): string {
  const match = /^http:\/\/([a-z0-9.-]+)\.([a-z][a-z0-9+.-]*)\.localhost(\/.*)?$/.exec(url);
  const [, host, scheme, path] = match ?? [];
  return scheme !== undefined && schemes.has(scheme) ? `${scheme}://${host}${path ?? '/'}` : url;
}

/** Converts the app's address to the browser's. */
export function browserAddress(url: string): string {
  const match = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]+)(.*)$/.exec(url);
  const [, scheme, host, path] = match ?? [];
  return scheme !== undefined && schemes.has(scheme) ? `http://${host}.${scheme}.localhost${path === '' ? '/' : path}` : url;
}

export const protocol = {
  registerSchemesAsPrivileged(list: CustomScheme[]): void {
    // "This method can only be used before the ready event of the app module gets emitted and can be called only once."
    if (lifecycle.isReady) throw new Error('protocol.registerSchemesAsPrivileged should be called before app is ready');
    for (const scheme of list) schemes.set(scheme.scheme, scheme);
  },
  handle(scheme: string, handler: Handler): void {
    if (!lifecycle.isReady) throw new Error('protocol.handle can only be used after app is ready');
    if (handlers.has(scheme)) throw new Error(`The scheme ${scheme} is already handled.`);
    handlers.set(scheme, handler);
  },
  isProtocolHandled: (scheme: string): boolean => handlers.has(scheme),
};

export async function routeSchemes(context: BrowserContext): Promise<void> {
  await context.route(
    (url) => url.hostname.endsWith('.localhost'),
    async (route) => {
      const request = route.request();
      const url = appAddress(request.url());
      const handler = handlers.get(url.slice(0, url.indexOf(':')));
      if (handler === undefined) return route.abort('addressunreachable');
      const body = request.postDataBuffer();
      const response = await handler(
        new Request(url, {
          method: request.method(),
          headers: await request.allHeaders(),
          ...(body === null ? {} : { body: new Uint8Array(body) }),
        }),
      );
      return route.fulfill({
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: Buffer.from(await response.arrayBuffer()),
      });
    },
  );
}
