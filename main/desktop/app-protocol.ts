// The window's own scheme: app://trayclaw/ serves only the built window from one folder, with its security headers. Unlike file://, it
// cannot reach other files of the machine, and the page has an origin that IPC can be checked against.

import type { CustomScheme, Protocol } from 'electron';
import { contentPolicy, FramedPages, framedPaths } from '../../core/doors/http/http.ts';

export const appOrigin = 'app://trayclaw';
export const appPage = `${appOrigin}/`;

/** Must be registered before the app is ready. */
export const appScheme: CustomScheme = {
  scheme: 'app',
  privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true },
};

/** The content policy forbids all requests: the window reaches the runtime only over IPC. */
export const appHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': contentPolicy('none'),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), usb=(), serial=(), hid=(), bluetooth=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};

export function serveApp(protocol: Pick<Protocol, 'handle'>, assetsFolder: string): void {
  const framed = new FramedPages();
  protocol.handle('app', (request) => answer(request, assetsFolder, framed));
}

async function answer(request: Request, assetsFolder: string, framed: FramedPages): Promise<Response> {
  const url = URL.parse(request.url);
  if (request.method !== 'GET' || url === null || url.host !== 'trayclaw') return refuse(404);
  try {
    const asset = await framed.read(assetsFolder, url.pathname);
    if (asset === null) return refuse(404);
    return new Response(new Uint8Array(asset.bytes), { headers: { ...appHeaders, ...asset.headers, 'content-type': asset.mediaType } });
  } catch {
    // The page shows that a part is missing; the reason would not help it.
    return refuse(500);
  }
}

function refuse(status: number): Response {
  return new Response(null, { status, headers: { ...appHeaders } });
}

/** True for the pages that the window shows inside itself. */
export function isFramedPage(url: string): boolean {
  return [...framedPaths].some((path) => url === `${appOrigin}${path}`);
}

/** True for the window's own page and nothing else: same scheme, host and document. */
export function isAppPage(url: string): boolean {
  const parsed = URL.parse(url);
  return parsed !== null && parsed.protocol === 'app:' && parsed.host === 'trayclaw' && parsed.port === '' && parsed.pathname === '/';
}
