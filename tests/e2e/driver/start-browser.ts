// Runs before each end-to-end file: starts the browser that a worker's files share before handles are counted, so that it does not count as
// left open by a file.

import { launchBrowser } from './open-window.ts';

await launchBrowser();
