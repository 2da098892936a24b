// The window's language: its texts, and its formats for numbers and times. English is the only catalogue; a second one is a file of type
// `Words`, and the choice between them is made here.

import { english } from './english/english.ts';
import { Formats } from './formats.ts';
import type { Words } from './words.ts';

export interface Language {
  /** Contains only the chat's texts at first. */
  readonly words: Words;
  readonly format: Formats;
  /** Resolves when the texts of commands are loaded. */
  commands(): Promise<void>;
  /** Resolves when the texts of turns are loaded. */
  talk(): Promise<void>;
  /** Resolves when all texts are loaded: required before anything is shown that is neither in the first load nor about turns. */
  whole(): Promise<void>;
}

/** English with British formats, for the 24-hour clock, which the log uses too. */
export function createLanguage(): Language {
  const words: object = { ...english };
  const commands = once(async () => Object.assign(words, { commands: (await import('./english/commands.ts')).commands }));
  const talk = once(async () => Object.assign(words, (await import('./english/talk.ts')).talk));
  const later = once(async () => Object.assign(words, (await import('./english/later.ts')).later));
  const whole = async (): Promise<void> => void (await Promise.all([talk(), later()]));
  return { words: words as Words, format: new Formats('en-GB', english.common, Date.now), commands, talk, whole };
}

/** A failed load is retried by the next caller. */
function once(load: () => Promise<unknown>): () => Promise<void> {
  let coming: Promise<void> | null = null;
  const start = async (): Promise<void> => {
    try {
      await load();
    } catch (cause) {
      coming = null;
      throw cause;
    }
  };
  return () => (coming ??= start());
}
