// A command of the window: its name in the person's language, its keys, its conditions and its action.

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

/** Keys by environment: a browser reserves some keys for itself. */
export interface CommandKeys {
  readonly app: readonly string[];
  readonly browser: readonly string[];
}

export interface Command {
  readonly id: string;
  readonly group: CommandGroup;
  name(words: Words['commands']): string;
  readonly keys?: CommandKeys;
  /** Always possible by default. */
  isPossible?(context: CommandContext): boolean;
  run(context: CommandContext): unknown;
  /** In the palette, where a mouse easily hits the wrong name, it takes a second click. Its keys act at once. */
  readonly asksAgain?: true;
  /** Its keys work while a person types, and with a dialog open. */
  readonly isAlways?: true;
  /** If the command is not possible, its keys keep their meaning in the browser. */
  readonly yields?: true;
  /** Repeats while its keys are held. */
  readonly repeats?: true;
}

type NamedWords = { readonly [K in keyof Words['commands']]: Words['commands'][K] extends string ? K : never }[keyof Words['commands']];

/** Commands of a group by the key of their name. The id is that key with hyphens: `goPolicy` becomes `go-policy`. */
export function commandsOf(
  group: CommandGroup,
  forms: { readonly [K in NamedWords]?: Omit<Command, 'id' | 'group' | 'name'> },
): readonly Command[] {
  return (Object.keys(forms) as NamedWords[]).flatMap((key) => {
    const form = forms[key];
    const id = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    return form === undefined ? [] : [{ ...form, id, group, name: (words: Words['commands']) => words[key] }];
  });
}

/** Only engages the stop; never releases it. */
export const panicChord = 'Ctrl+Shift+.';

export const everywhere = (...chords: string[]): CommandKeys => ({ app: chords, browser: chords });

/** Some keys belong to the browser (a new window, finding on the page, its tabs), so others replace them there. */
export const instead = (inApp: string, inBrowser: string): CommandKeys => ({ app: [inApp], browser: [inBrowser] });

/** Presses a button of the message field. */
export function press(page: Document, name: 'attach' | 'folder'): void {
  page.querySelector<HTMLElement>(`[data-press="${name}"]`)?.click();
}

/** Focuses the named element after the change is rendered. */
export function focusOn(page: Document, name: 'message' | 'session-search' | 'find' | 'find-date'): void {
  page.querySelector<HTMLElement>(`[data-focus="${name}"]`)?.focus();
}
