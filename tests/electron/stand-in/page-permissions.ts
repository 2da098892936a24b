// Applies the app's answers to permission requests of its page. They are set before each load, because the browser does not report
// requests: the page then gets the browser's own denial or consent.

import type { CDPSession } from 'playwright-core';
import type * as Electron from 'electron';
import { permissions } from './native.ts';
import { browserAddress } from './protocol.ts';

interface Descriptor {
  readonly name: string;
  readonly sysex?: boolean;
}

/** Electron's name for each permission of the browser. */
const namesOf: readonly (readonly [Descriptor, string])[] = [
  [{ name: 'geolocation' }, 'geolocation'],
  [{ name: 'notifications' }, 'notifications'],
  [{ name: 'midi', sysex: false }, 'midi'],
  [{ name: 'midi', sysex: true }, 'midiSysex'],
  [{ name: 'camera' }, 'media'],
  [{ name: 'microphone' }, 'media'],
  [{ name: 'clipboard-read' }, 'clipboard-read'],
  [{ name: 'clipboard-write' }, 'clipboard-sanitized-write'],
  [{ name: 'idle-detection' }, 'idle-detection'],
  [{ name: 'window-management' }, 'window-management'],
];

/**
 * `session` is the browser's own, because settings of a page's session would disappear with the page. The handlers see `contents` at the
 * address it is about to load.
 */
export async function tellPermissions(session: CDPSession, contents: object, url: string): Promise<void> {
  const { origin } = new URL(browserAddress(url));
  // The browser itself grants nothing to a page without an origin, such as a data address.
  if (origin === 'null') return;
  const asking = Object.create(contents, { getURL: { value: () => url } }) as Electron.WebContents;
  for (const [permission, name] of namesOf) {
    const setting = (await isAllowed(asking, name, url)) ? 'granted' : 'denied';
    await session.send('Browser.setPermission', { permission, setting, origin });
  }
}

/**
 * "Most web APIs do a permission check and then make a permission request if the check is denied." Without a handler everything is allowed.
 */
async function isAllowed(contents: Electron.WebContents, name: string, url: string): Promise<boolean> {
  const { ask, check } = permissions;
  if (check?.(contents, name as 'media', new URL(url).origin, { isMainFrame: true }) === true) return true;
  if (ask === null) return check === null;
  return new Promise((resolve) => ask(contents, name as 'media', resolve, { isMainFrame: true, requestingUrl: url }));
}
