// The types behind a sentence about an event. Pure.

import type { EventOf, EventType } from '../../core/contracts/events.ts';
import type { Formats } from './i18n/formats.ts';
import type { Words } from './i18n/words.ts';

export interface EventLine {
  readonly title: string;
  /** Longer text under the title; empty for none. */
  readonly detail: string;
  readonly tone: 'plain' | 'good' | 'wait' | 'bad';
  /** The rule that decided, where a rule did. */
  readonly ruleId?: string;
  /** The pack to look into. */
  readonly packId?: string;
}

/** The inputs of the sentences. */
export interface Telling {
  readonly words: Words;
  readonly format: Formats;
}

/** A sentence for each type of event that has one. */
export type Lines = {
  readonly [T in EventType]?: (event: EventOf<T>, telling: { e: Words['activity']['events']; format: Formats } & Telling) => EventLine;
};

export const line = (title: string, detail = '', tone: EventLine['tone'] = 'plain'): EventLine => ({ title, detail, tone });
export const lines = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join('\n');
