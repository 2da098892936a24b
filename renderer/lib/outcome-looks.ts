// The look of each state of a call in a line: an icon, a tone, and whether its word is visible or only for screen readers.

import type { CallState } from '../../core/contracts/turn-view.ts';
import type { IconName } from '../kit/icon-paths.ts';

export interface OutcomeLook {
  readonly icon: IconName;
  readonly tone: 'good' | 'wait' | 'bad' | 'quiet';
  /** False if the icon alone is enough; the word is then only for screen readers. */
  readonly isShown: boolean;
}

export const outcomeLooks: Readonly<Record<CallState, OutcomeLook>> = {
  ok: { icon: 'check', tone: 'good', isShown: false },
  running: { icon: 'clock', tone: 'good', isShown: true },
  proposed: { icon: 'circle', tone: 'quiet', isShown: false },
  // The line of the turn says it, and the card below asks.
  waiting: { icon: 'approvals', tone: 'wait', isShown: false },
  error: { icon: 'cross', tone: 'bad', isShown: true },
  denied: { icon: 'cross', tone: 'wait', isShown: true },
  cancelled: { icon: 'stop', tone: 'quiet', isShown: true },
  timeout: { icon: 'clock', tone: 'bad', isShown: true },
  skipped: { icon: 'dash', tone: 'quiet', isShown: true },
  unknown: { icon: 'question', tone: 'wait', isShown: true },
};
