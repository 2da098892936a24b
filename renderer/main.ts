// The first script of the page, and a small one: it takes the access token and asks for the first data while the window itself is still on
// its way. Never imports what the window is made of.

import { findBridge } from './lib/bridge.ts';
import { findClient } from './lib/first-client.ts';

const client = findBridge(window) === null ? findClient(window) : null;
void import('./open-window.ts').then(({ openWindow }) => openWindow(document, client));
