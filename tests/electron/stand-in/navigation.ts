// Translates a page's navigation in the browser to the events of WebContents; the app is asked before each navigation.

import type { EventEmitter } from 'node:events';
import type * as Electron from 'electron';
import type { CDPSession, Page } from 'playwright-core';
import { appAddress } from './protocol.ts';

export type OpenHandler = Parameters<Electron.WebContents['setWindowOpenHandler']>[0];

export interface Navigated {
  readonly page: Page;
  readonly session: CDPSession;
  readonly mainFrameId: string;
  /** True for navigations that the app started with loadURL or reload, about which it is not asked. */
  readonly isByApp: () => boolean;
  readonly onOpen: OpenHandler;
  readonly onCrash: () => void;
}

export function followNavigation(contents: EventEmitter, { page, session, mainFrameId, isByApp, onOpen, onCrash }: Navigated): void {
  session.on('Page.navigatedWithinDocument', ({ url, frameId }) => {
    contents.emit('did-start-navigation', { url: appAddress(url), isMainFrame: frameId === mainFrameId, isSameDocument: true });
  });
  session.on('Page.loadEventFired', () => contents.emit('did-finish-load', {}));
  page.on('crash', () => {
    onCrash();
    contents.emit('render-process-gone', {}, { reason: 'crashed', exitCode: 1 });
  });
  // Reported before the new page exists; a denied one is closed at once.
  session.on('Page.windowOpen', ({ url, windowName, windowFeatures }) => {
    const { action } = onOpen({
      url: appAddress(url),
      disposition: dispositionOf(windowFeatures),
      frameName: windowName === '_blank' ? '' : windowName,
      features: windowFeatures.join(','),
      referrer: { url: '', policy: 'default' },
    });
    if (action !== 'deny') throw new Error('the stand-in opens no windows for pages');
  });
  page.on('popup', (popup) => void popup.close().catch(() => undefined));
  // Navigations that a page starts are reported to the shell before they happen.
  void session.send('Fetch.enable', { patterns: [{ urlPattern: '*', resourceType: 'Document', requestStage: 'Request' }] });
  session.on('Fetch.requestPaused', ({ requestId, redirectedRequestId, frameId, request }) => {
    const wanted = {
      url: appAddress(request.url),
      isMainFrame: frameId === mainFrameId,
      isByApp: frameId === mainFrameId && isByApp(),
      isRedirect: redirectedRequestId !== undefined,
    };
    const answer = isAllowed(contents, wanted)
      ? session.send('Fetch.continueRequest', { requestId })
      : session.send('Fetch.failRequest', { requestId, errorReason: 'Aborted' });
    // A page that is gone needs no answer.
    answer.catch(() => undefined);
  });
}

/** Without features, a window has all bars and is requested as a tab, both by scripts and by links. */
function dispositionOf(features: readonly string[]): Electron.HandlerDetails['disposition'] {
  return features.length === 0 || features.includes('menubar') ? 'foreground-tab' : 'new-window';
}

interface Wanted {
  readonly url: string;
  readonly isMainFrame: boolean;
  readonly isByApp: boolean;
  readonly isRedirect: boolean;
}

function isAllowed(contents: EventEmitter, { url, isMainFrame, isByApp, isRedirect }: Wanted): boolean {
  let isPrevented = false;
  const details = { url, isMainFrame, isSameDocument: false, preventDefault: () => (isPrevented = true) };
  // "This event will not emit when the navigation is started programmatically with APIs like webContents.loadURL and webContents.back."
  if (isRedirect) contents.emit('will-redirect', details);
  else if (!isByApp) {
    if (isMainFrame) contents.emit('will-navigate', details);
    contents.emit('will-frame-navigate', details);
  }
  if (!isPrevented && !isRedirect) contents.emit('did-start-navigation', { url, isMainFrame, isSameDocument: false });
  return !isPrevented;
}
