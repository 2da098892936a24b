// The module the app gets for `electron`: the stand-in's parts, with the test's control attached.

import { listenToTest } from './control.ts';

export * from './electron.ts';

listenToTest();
