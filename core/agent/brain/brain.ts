// The interface of the brain: the fold of a turn's events, the decision on the folded state, and replay. All of it is pure.

export { decide, type EndStatus, type Intent } from './decide.ts';
export { applyEvent, countRepeats, type TurnEvent } from './fold.ts';
export { replayTurn, type ReplayReport } from './replay.ts';
export { emptyTurn, isResolved, type CallState, type TurnState } from './turn-state.ts';
