// Runs the command for the pressed keys. Single-character keys work only outside text fields, and only if the person enabled them.

import { takesText } from '../takes-text.ts';
import type { Command, CommandContext } from './command.ts';
import { commandTable } from './commands.ts';
import { isPressed, isSingle, type KeyPress } from './keys.ts';

export interface Situation {
  readonly place: 'app' | 'browser';
  readonly isMac: boolean;
  readonly isTyping: boolean;
  readonly isDialogOpen: boolean;
  readonly hasSingleKeys: boolean;
  readonly isRepeat: boolean;
}

/** The command for these keys in this situation, whether or not it is possible. */
export function commandFor(press: KeyPress, situation: Situation): Command | undefined {
  const { place, isMac, isTyping, isDialogOpen, hasSingleKeys, isRepeat } = situation;
  return commandTable.find((command) => {
    if (isDialogOpen && !command.isAlways) return false;
    if (isRepeat && !command.repeats) return false;
    return (command.keys?.[place] ?? []).some(
      (chord) => isPressed(chord, press, isMac) && (!isSingle(chord) || (hasSingleKeys && !isTyping && !isDialogOpen)),
    );
  });
}

/** Handles the window's keydown event. */
export function runShortcut(event: KeyboardEvent, context: CommandContext): void {
  const { place, isMac } = context.frame;
  // A part of the page that handled the key takes precedence.
  if (event.defaultPrevented || event.isComposing || movesInText(event, context.page.activeElement, isMac)) return;
  const command = commandFor(event, {
    place,
    isMac,
    isTyping: takesText(context.page.activeElement),
    isDialogOpen: context.page.querySelector('dialog[open]') !== null,
    hasSingleKeys: context.appearance.hasSingleKeys,
    isRepeat: event.repeat,
  });
  if (command === undefined) return;
  const isPossible = command.isPossible?.(context) ?? true;
  // Suppresses the browser's action too, even if the command is not possible.
  if (isPossible || command.yields !== true) event.preventDefault();
  if (isPossible) void command.run(context);
}

/** On a Mac, Option with an arrow moves by paragraphs in text; Alt with an arrow opens a select box, and Home and End move in text. */
function movesInText(event: KeyboardEvent, focused: Element | null, isMac: boolean): boolean {
  if ((event.key === 'Home' || event.key === 'End') && takesText(focused)) return true;
  if (!event.altKey || !event.key.startsWith('Arrow')) return false;
  return focused instanceof HTMLSelectElement || (isMac && takesText(focused));
}
