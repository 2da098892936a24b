// Runs before each end-to-end file: the browser that a worker shares among its files is there before handles are counted, so it is not taken
// for something that a file left open.

import { launchBrowser } from './open-window.ts';

await launchBrowser();
