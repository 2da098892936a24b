// The form of a command of the window: its name in the person's language, its keys, its conditions and its action.

import type { Language } from '../i18n/language.ts';
import type { Words } from '../i18n/words.ts';
import type { App } from '../state/app.svelte.ts';
import type { Appearance } from '../state/appearance.svelte.ts';
import type { Frame } from '../state/frame.svelte.ts';

export interface CommandContext {
  readonly app: App;
  readonly frame: Frame;
  readonly appearance: Appearance;
  readonly language: Language;
  readonly page: Document;
}

export type CommandGroup = keyof Words['commands']['groups'];

/** By where the window is: a browser keeps some keys for itself, and others a person needs there. */
export interface CommandKeys {
  readonly app: readonly string[];
  readonly browser: readonly string[];
}

export interface Command {
  readonly id: string;
  readonly group: CommandGroup;
  name(words: Words['commands']): string;
  readonly keys?: CommandKeys;
  /** Possible at any time unless told. */
  isPossible?(context: CommandContext): boolean;
  run(context: CommandContext): unknown;
  /** From the palette, where a name is quickly chosen by mistake, it takes a second press. Its keys are meant. */
  readonly asksAgain?: true;
  /** Its keys work while something is typed, and with a dialog open. */
  readonly isAlways?: true;
  /** Repeats while its keys are held. */
  readonly repeats?: true;
}

export const everywhere = (...chords: string[]): CommandKeys => ({ app: chords, browser: chords });

/** In a browser these keys belong to the browser (a new window, finding on the page, its tabs), so others replace them there. */
export const instead = (inApp: string, inBrowser: string): CommandKeys => ({ app: [inApp], browser: [inBrowser] });

/** Puts the focus where the name says, once what was changed is on the page. */
export function focusOn(page: Document, name: 'message' | 'session-search' | 'rule'): void {
  page.querySelector<HTMLElement>(`[data-focus="${name}"]`)?.focus();
}
