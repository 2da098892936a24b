// The first script of the page, and a small one: it reads the access token and requests the first data while the window's code is still
// loading. Must not import the window's code.

import { findBridge } from './lib/bridge.ts';
import { findClient } from './lib/first-client.ts';

const client = findBridge(window) === null ? findClient(window) : null;
void import('./open-window.ts').then(({ openWindow }) => openWindow(document, client));
