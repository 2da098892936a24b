// docs/reference/keys.md: the keys of the window, from the table behind the palette and the key sheet.

import { keyNames } from '../../renderer/lib/commands/keys.ts';
import { english } from '../../renderer/lib/i18n/english/whole.ts';
import { page, table } from './markdown.ts';

interface WindowCommand {
  readonly keys?: { readonly app: readonly string[]; readonly browser: readonly string[] };
  readonly name: (words: (typeof english)['commands']) => string;
}

export async function keyPage(): Promise<string> {
  // A computed name: the table's imports are checked with the types of a page, which this program does not have.
  const { commandTable } = (await import(new URL('../../renderer/lib/commands/commands.ts', import.meta.url).href)) as {
    commandTable: readonly WindowCommand[];
  };
  const namesOf = (chords: readonly string[]): string =>
    chords.map((chord) => keyNames(chord, false, english.frame.keys).join('+')).join(' or ');
  const rows = commandTable.flatMap((command) =>
    command.keys === undefined ? [] : [[command.name(english.commands), namesOf(command.keys.app), namesOf(command.keys.browser)]],
  );
  const body = [
    'On a Mac, ⌘ takes the place of Ctrl, except for the panic stop. A browser keeps some keys for itself, so the window uses others there.',
    'Single letters work while nothing is typed; a switch in Settings turns them off. `?` shows these keys in the window.',
    '',
    ...table(['command', 'desktop app', 'in a browser'], rows),
  ];
  return page({ title: 'Keys of the window', source: 'the command table of the window (`renderer/lib/commands`)', body });
}
