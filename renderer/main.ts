// The first script of the page, and a small one: it reads the access token and requests the first data while the window's code is still
// loading. Must not import the window's code.

import { findBridge } from './lib/bridge.ts';
import { findClient } from './lib/first-client.ts';

// Before the first paint: a person who chose another theme than the system's would otherwise see a flash of the system's.
const theme = localStorage.getItem('trayclaw.theme');
if (theme !== null) document.documentElement.dataset['theme'] = theme;

const client = findBridge(window) === null ? findClient(window) : null;
void import('./open-window.ts').then(({ openWindow }) => openWindow(document, client));
