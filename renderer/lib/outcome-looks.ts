// How each state of a call looks in a line: an icon, a tone, and a word where the icon alone would not tell.

import type { CallState } from './fold/turn.ts';
import type { IconName } from '../parts/icon.svelte';

export interface OutcomeLook {
  readonly icon: IconName;
  readonly tone: 'good' | 'wait' | 'bad' | 'quiet';
  readonly word: string;
}

export const outcomeLooks: Readonly<Record<CallState, OutcomeLook>> = {
  ok: { icon: 'check', tone: 'good', word: '' },
  running: { icon: 'clock', tone: 'good', word: 'running' },
  proposed: { icon: 'clock', tone: 'quiet', word: '' },
  waiting: { icon: 'approvals', tone: 'wait', word: 'waits for you' },
  error: { icon: 'cross', tone: 'bad', word: 'failed' },
  denied: { icon: 'cross', tone: 'wait', word: 'denied' },
  cancelled: { icon: 'stop', tone: 'quiet', word: 'stopped' },
  timeout: { icon: 'clock', tone: 'bad', word: 'timed out' },
  skipped: { icon: 'dash', tone: 'quiet', word: 'not run' },
  unknown: { icon: 'question', tone: 'wait', word: 'outcome unknown' },
};
