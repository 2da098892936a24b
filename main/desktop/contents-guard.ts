// What every page of the app is forbidden, whoever made it: leaving its address, opening windows, embedding others, asking for
// permissions. Attached to the app, so that no window can be made without it.

import type { App, Session, WebContents } from 'electron';
import type { Logger } from '../../core/base/logger.ts';
import { isAppPage } from './app-protocol.ts';

export interface ContentsGuardOptions {
  readonly app: Pick<App, 'on'>;
  readonly session: Pick<Session, 'setPermissionRequestHandler' | 'setPermissionCheckHandler' | 'setDevicePermissionHandler'>;
  readonly logger: Logger;
  /** A link to open outside; asked for by a click on a link of the page. */
  readonly openLink: (url: string) => void;
}

/** Copying from the conversation is the one permission a page of ours has a use for. */
const allowedPermissions: ReadonlySet<string> = new Set(['clipboard-sanitized-write']);

export function guardContents({ app, session, logger, openLink }: ContentsGuardOptions): void {
  app.on('web-contents-created', (_event, contents) => guardOne(contents, logger, openLink));
  session.setPermissionRequestHandler((contents, permission, answer) => {
    answer(allowedPermissions.has(permission) && isAppPage(contents.getURL()));
  });
  session.setPermissionCheckHandler((contents, permission) => {
    return allowedPermissions.has(permission) && contents !== null && isAppPage(contents.getURL());
  });
  session.setDevicePermissionHandler(() => false);
}

function guardOne(contents: WebContents, logger: Logger, openLink: (url: string) => void): void {
  const refuse = (what: string, url: string): void => {
    logger.log('warn', 'the window was kept from leaving its page', { what, url: url.slice(0, 200) });
  };
  contents.on('will-navigate', (details) => {
    if (isAppPage(details.url)) return;
    details.preventDefault();
    refuse('navigation', details.url);
  });
  contents.on('will-frame-navigate', (details) => {
    if (details.isMainFrame) return;
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
  contents.setWindowOpenHandler(({ url, disposition }) => {
    // A click on a link asks for a tab; a script asks for a window of its own.
    if (disposition === 'foreground-tab' || disposition === 'background-tab') openLink(url);
    else refuse('a new window', url);
    return { action: 'deny' };
  });
}
