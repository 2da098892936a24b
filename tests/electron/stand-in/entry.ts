// The module the app gets for `electron`: the stand-in's parts, and behind them the control of the test.

import { listenToTest } from './control.ts';

export * from './electron.ts';

listenToTest();
