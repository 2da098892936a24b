// Signals: the one bus whatever comes in from outside or by the clock goes through, and what feeds it.

export { FileWatch } from './file-watch.ts';
export { HookGate, type HookCall } from './hook-gate.ts';
export { SignalBook, signalMigrations, type SignalRow } from './signal-rows.ts';
export { SignalHub, type Signal, type SignalResult, type SignalLimits, type SignalHubDeps } from './signal-hub.ts';
