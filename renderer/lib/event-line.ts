// The types of a sentence that describes an event. Pure.

import type { EventOf, EventType } from '../../core/contracts/events.ts';
import type { DescribedCall } from './describe-call.ts';
import type { Formats } from './i18n/formats.ts';
import type { Words } from './i18n/words.ts';

export interface EventLine {
  readonly title: string;
  /** Longer text under the title; may be empty. */
  readonly detail: string;
  readonly tone: 'plain' | 'good' | 'wait' | 'bad';
  /** The rule that decided, if a rule did. */
  readonly ruleId?: string;
  /** The pack to open. */
  readonly packId?: string;
}

/** The inputs of the sentences. */
export interface Telling {
  readonly words: Words;
  readonly format: Formats;
  /** A call as the conversation names it. */
  readonly call: (call: { readonly tool: string; readonly callId: string }, state: DescribedCall['state']) => string;
}

/** Formats for sentences: with ordinary spaces, because where these are shown, a no-break space is marked as a hidden character. */
export type LineFormats = Pick<Formats, 'duration' | 'number' | 'tokens' | 'usd'>;

export type LineTelling = Omit<Telling, 'format'> & { readonly e: Words['activity']['events']; readonly format: LineFormats };

/** Describes each type of event that has a sentence. */
export type Lines = {
  readonly [T in EventType]?: (event: EventOf<T>, telling: LineTelling) => EventLine;
};

export const line = (title: string, detail = '', tone: EventLine['tone'] = 'plain'): EventLine => ({ title, detail, tone });
export const lines = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join('\n');
