// Describes a note of a turn as a sentence. Only wording.

import { nameActor } from './channels.ts';
import type { NoteFact } from '../../core/contracts/turn-view.ts';
import type { Formats } from './i18n/formats.ts';
import type { Words } from './i18n/words.ts';

/** The parts of a language that the wording needs. */
export interface Wording {
  readonly words: Words;
  readonly format: Formats;
}

export function describeNote(fact: NoteFact, { words, format }: Wording): string {
  const { notes } = words.chat;
  const actor = (by: string): string => nameActor(by, words.approvals.actors);
  switch (fact.code) {
    case 'goes_on':
      return notes.goesOn(actor(fact.by));
    case 'unreadable':
      return notes.unreadable;
    case 'cancel':
      return notes.cancelled[fact.by];
    case 'retried':
      return notes.retried(fact.message, format.duration(fact.waitMs));
    case 'failover': {
      const { message, to, waitMs } = fact;
      return waitMs < 1_000 ? notes.failover(message, to) : notes.failoverLater(message, to, format.duration(waitMs));
    }
    case 'undone':
      return notes.undone(actor(fact.by), fact.isAgain, fact.files, fact.refused);
    case 'unpriced':
      return notes.unpriced(fact.about.model, fact.about.scopes);
    case 'budget': {
      const { scope, unit, limit, spent, needed } = fact.about;
      const show = (value: number): string => (unit === 'usd' ? format.usd(value) : format.tokens(value));
      if (needed === undefined) return notes.usedUp(scope, show(spent), show(limit));
      return notes.tooSmall(scope, show(spent), show(limit), show(needed));
    }
    case 'said':
      return fact.text;
  }
}
