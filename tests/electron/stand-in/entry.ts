// What the app gets for `electron`: the modules, and behind them the hands of the test.

import { listenToTest } from './control.ts';

export * from './electron.ts';

listenToTest();
