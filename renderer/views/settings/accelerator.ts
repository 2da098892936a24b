// Converts pressed keys to the notation of https://www.electronjs.org/docs/latest/tutorial/keyboard-shortcuts#accelerators. Pure.

type Pressed = Pick<KeyboardEvent, 'code' | 'ctrlKey' | 'altKey' | 'shiftKey' | 'metaKey'>;

const named: Readonly<Record<string, string>> = {
  Escape: 'Escape',
  Space: 'Space',
  Enter: 'Return',
  Backspace: 'Backspace',
  Delete: 'Delete',
  Insert: 'Insert',
  Home: 'Home',
  End: 'End',
  PageUp: 'PageUp',
  PageDown: 'PageDown',
  ArrowUp: 'Up',
  ArrowDown: 'Down',
  ArrowLeft: 'Left',
  ArrowRight: 'Right',
};

/** The keys as labelled on a keyboard; Electron accepts these names too. */
export function shownKeys(accelerator: string, isMac: boolean): string {
  return accelerator.replace(/\b(?:CommandOrControl|CmdOrCtrl)\b/, isMac ? 'Command' : 'Ctrl').replace(/\bEscape\b/, 'Esc');
}

/** Null for fewer than two of Ctrl, Alt, Shift and Command: combinations that edit text, such as Ctrl+V, must stay free. */
export function acceleratorOf({ code, ctrlKey, altKey, shiftKey, metaKey }: Pressed, isMac: boolean): string | null {
  const key = named[code] ?? /^(?:Key([A-Z])|Digit(\d)|(F\d{1,2}))$/.exec(code)?.slice(1).find(Boolean);
  if (key === undefined) return null;
  const held = [
    ...(ctrlKey ? ['Control'] : []),
    ...(altKey ? ['Alt'] : []),
    ...(shiftKey ? ['Shift'] : []),
    ...(metaKey ? [isMac ? 'Command' : 'Super'] : []),
  ];
  // Shift with an arrow selects text; Ctrl+Shift does so by words.
  const selects = shiftKey && !altKey && !metaKey && /^(?:Arrow|Home|End)/.test(code);
  return held.length < 2 || selects ? null : [...held, key].join('+');
}
