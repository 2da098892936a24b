// Generates the pages of docs/reference from the tables in the code. Holds the list of pages; each page has a separate file.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { eventBodySchemas, eventTypes } from '../../core/contracts/events.ts';
import { opForms, opGroups } from '../../core/contracts/op-forms.ts';
import { type OpName, opTable } from '../../core/contracts/ops.ts';
import { keyNames } from '../../renderer/lib/commands/keys.ts';
import { english } from '../../renderer/lib/i18n/english/whole.ts';
import { commandPage } from './command-page.ts';
import { errorPage } from './error-page.ts';
import { code, fieldWords, page, sections, sentence, table } from './markdown.ts';
import { settingPage } from './setting-page.ts';
import { toolPage } from './tool-page.ts';

export const referenceFolder = fileURLToPath(new URL('../../docs/reference', import.meta.url));

/** Every page by its file name. */
export async function referencePages(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['commands.md', await commandPage()],
    ['settings.md', settingPage()],
    ['operations.md', operationPage()],
    ['tools.md', await toolPage()],
    ['events.md', eventPage()],
    ['errors.md', errorPage()],
    ['keys.md', await keyPage()],
  ]);
}

/** Writes stale pages, removes files that are not pages, and resolves to the names of both. */
export async function writeReference(): Promise<readonly string[]> {
  mkdirSync(referenceFolder, { recursive: true });
  const pages = await referencePages();
  const present = readdirSync(referenceFolder);
  const surplus = present.filter((name) => !pages.has(name));
  for (const name of surplus) rmSync(join(referenceFolder, name));
  const stale = [...pages].filter(([name, text]) => !present.includes(name) || readFileSync(join(referenceFolder, name), 'utf8') !== text);
  for (const [name, text] of stale) writeFileSync(join(referenceFolder, name), text);
  return [...stale.map(([name]) => name), ...surplus];
}

// docs/reference/events.md: the events of the log, grouped by family.
function eventPage(): string {
  const body = [
    'The log records what happened, in the past tense. Bodies only grow: a field may be added, none is changed or removed. A field that ends',
    'in `?` may be absent. `trayclaw activity events ID` shows the events of a turn.',
    '',
    ...sections(
      eventTypes,
      (type) => type,
      (members) =>
        table(
          ['event', 'body'],
          members.map((type) => [code(type), fieldWords(schemaOf(type))]),
        ),
    ),
  ];
  return page({ title: 'Events', source: 'the event schemas (`core/contracts/events.ts`)', body });
}

function schemaOf(type: (typeof eventTypes)[number]): unknown {
  return z.toJSONSchema(eventBodySchemas[type], { io: 'output', unrepresentable: 'any' });
}

// docs/reference/keys.md: the keys of the window, from the table behind the palette and the key sheet.

interface WindowCommand {
  readonly keys?: { readonly app: readonly string[]; readonly browser: readonly string[] };
  readonly name: (words: (typeof english)['commands']) => string;
}

async function keyPage(): Promise<string> {
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

// docs/reference/operations.md: the operations table with its parameters and results.
function operationPage(): string {
  const body = [
    'All doors use this table: `POST /api/ops/NAME` over HTTP, `claw.op(NAME, …)` in a program, and the commands. Parameters are strict: an',
    'unknown one is refused. A field that ends in `?` may be absent. See [HTTP](../guide/http.md) and [library](../guide/library.md).',
    '',
    ...Object.entries(opGroups).flatMap(([title, families]) => [`## ${title}`, '', ...namesIn(families).flatMap(entry)]),
  ];
  return page({ title: 'Operations', source: 'the operations table (`core/contracts/ops.ts`)', body });
}

function namesIn(families: readonly string[]): OpName[] {
  return (Object.keys(opForms) as OpName[]).filter((name) => families.includes(name.split('.')[0] ?? ''));
}

function entry(name: OpName): string[] {
  const words = (schema: z.ZodType, io: 'input' | 'output'): string => fieldWords(z.toJSONSchema(schema, { io, unrepresentable: 'any' }));
  const { params, result } = opTable[name];
  return [
    `### ${code(name)}`,
    '',
    sentence(opForms[name].about),
    '',
    `- Parameters: ${words(params, 'input')}`,
    `- Result: ${words(result, 'output')}`,
    ...commandLines(name),
    '',
  ];
}

function commandLines(name: OpName): string[] {
  const { commands = {}, forPerson } = opForms[name];
  const lines = Object.keys(commands).map((words) => code(`trayclaw ${words}`));
  return [
    ...(lines.length === 0 ? [] : [`- Command: ${lines.join(', ')}`]),
    ...(forPerson === true ? ['- For a person: refused to a command line that a tool started'] : []),
  ];
}
