// The restrictions of every page of the app: it cannot leave its address, open windows, embed pages (except the one that draws diagrams),
// or get permissions. Attached to the app, so that every window has them.

import type { App, Session, WebContents } from 'electron';
import type { Logger } from '../../core/base/logger.ts';
import { isAppPage, isFramedPage } from './app-protocol.ts';

export interface ContentsGuardOptions {
  readonly app: Pick<App, 'on'>;
  readonly session: Pick<Session, 'setPermissionRequestHandler' | 'setPermissionCheckHandler' | 'setDevicePermissionHandler'>;
  readonly logger: Logger;
}

/** The only permission our page needs is copying from the conversation. */
const allowedPermissions: ReadonlySet<string> = new Set(['clipboard-sanitized-write']);

export function guardContents({ app, session, logger }: ContentsGuardOptions): void {
  app.on('web-contents-created', (_event, contents) => guardOne(contents, logger));
  session.setPermissionRequestHandler((contents, permission, answer) => {
    answer(allowedPermissions.has(permission) && isAppPage(contents.getURL()));
  });
  session.setPermissionCheckHandler((contents, permission) => {
    return allowedPermissions.has(permission) && contents !== null && isAppPage(contents.getURL());
  });
  session.setDevicePermissionHandler(() => false);
}

function guardOne(contents: WebContents, logger: Logger): void {
  const refuse = (what: string, url: string): void => {
    logger.log('warn', 'the window was kept from leaving its page', { what, url: url.slice(0, 200) });
  };
  contents.on('will-navigate', (details) => {
    if (isAppPage(details.url)) return;
    details.preventDefault();
    refuse('navigation', details.url);
  });
  contents.on('will-frame-navigate', (details) => {
    if (details.isMainFrame || isFramedPage(details.url)) return;
    details.preventDefault();
    refuse('a frame', details.url);
  });
  contents.on('will-redirect', (details) => {
    details.preventDefault();
    refuse('redirect', details.url);
  });
  contents.on('will-attach-webview', (event) => {
    event.preventDefault();
    refuse('an embedded page', '');
  });
  // The page opens external links through the bridge, which requires a click.
  contents.setWindowOpenHandler(({ url }) => {
    refuse('a new window', url);
    return { action: 'deny' };
  });
}
