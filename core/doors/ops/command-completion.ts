// Completions of a partial slash command: names, models, choices, files of the workspace. Read-only, and never outside the workspace.

import { readdirSync, realpathSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { isInside } from '../../base/inside-folder.ts';
import type { CommandParameter, CommandSpec } from '../../contracts/commands.ts';
import type { OpResult } from '../../contracts/ops.ts';
import type { OpsParts } from './parts.ts';

interface Deps extends Pick<OpsParts, 'models' | 'skills' | 'prompts'> {
  /** The folder whose files are completed; null if it is not trusted. */
  readonly folder: string | null;
}

type Completion = OpResult<'command.complete'>['completions'][number];

const COMPLETIONS_MAX = 50;
const NAMES_LOOKED_AT = 5_000;

export function completeLine(line: string, commands: readonly CommandSpec[], deps: Deps): Completion[] {
  const typed = line.trimStart();
  const [, name = '', space = '', given = ''] = /^\/(\S*)(\s*)([\s\S]*)$/.exec(typed) ?? [];
  if (!typed.startsWith('/') || typed.startsWith('//')) return [];
  if (space === '') {
    return commands
      .filter((command) => command.name.startsWith(name.toLowerCase()))
      .map((command) => ({
        line: `/${command.name}${command.parameters.length > 0 ? ' ' : ''}`,
        label: `/${command.name}`,
        about: command.about,
      }));
  }
  const spec = commands.find((command) => command.name === name.toLowerCase());
  if (spec === undefined) return [];
  const words = given.split(/\s+/);
  const isRest = spec.parameters[0]?.kind === 'path';
  const at = isRest ? 0 : words.length - 1;
  const begun = isRest ? given : (words.at(-1) ?? '');
  const parameter = spec.parameters[at];
  if (parameter === undefined) return [];
  const before = typed.slice(0, typed.length - begun.length);
  return valuesFor(parameter, begun, { commands, deps })
    .slice(0, COMPLETIONS_MAX)
    .map(({ value, about, line: whole }) => ({ line: whole ?? before + value, label: value, about }));
}

interface Known {
  readonly commands: readonly CommandSpec[];
  readonly deps: Deps;
}

interface Value {
  readonly value: string;
  readonly about: string;
  /** Replaces the whole line. */
  readonly line?: string;
}

function valuesFor(parameter: CommandParameter, begun: string, { commands, deps }: Known): Value[] {
  const starting = (values: readonly Value[]): Value[] => values.filter(({ value }) => value.startsWith(begun));
  switch (parameter.kind) {
    case 'choice':
      return starting((parameter.choices ?? []).map((value) => ({ value, about: '' })));
    case 'command':
      return starting(commands.map(({ name, about }) => ({ value: name, about })));
    case 'model': {
      const models = deps.models.list().models.map(({ ref, source }) => ({ value: ref, about: source }));
      return [...models, { value: 'default', about: 'the usual model' }].filter(({ value }) =>
        value.toLowerCase().includes(begun.toLowerCase()),
      );
    }
    case 'skill':
      return starting(deps.skills.list().map(({ name, description }) => ({ value: name, about: description.slice(0, 100) })));
    case 'prompt':
      return starting(deps.prompts.list().map(({ name, text }) => ({ value: name, about: text.slice(0, 100), line: text })));
    case 'path':
      return deps.folder === null ? [] : filesBeginning(begun, deps.folder);
    default:
      return [];
  }
}

/** The files in the workspace that start with the given path. Empty for a folder outside the workspace or one that cannot be read. */
function filesBeginning(begun: string, workspace: string): { value: string; about: string }[] {
  const folder = begun.endsWith('/') ? begun : `${dirname(begun)}/`;
  const start = begun.endsWith('/') || begun === '' ? '' : begun.slice(begun.lastIndexOf('/') + 1);
  const shown = begun.includes('/') ? begun.slice(0, begun.lastIndexOf('/') + 1) : '';
  return entriesOf(resolve(workspace, begun === '' ? '.' : folder), workspace)
    .filter((entry) => entry.name.startsWith(start) && (start.startsWith('.') || !entry.name.startsWith('.')))
    .map((entry) => ({ value: join(shown, entry.name).replaceAll(sep, '/') + (entry.isDirectory() ? '/' : ''), about: '' }))
    .sort((a, b) => (a.value < b.value ? -1 : 1));
}

function entriesOf(folder: string, workspace: string) {
  try {
    const real = realpathSync(folder);
    // A symbolic link may lead out of the workspace.
    if (!isInside(real, realpathSync(workspace))) return [];
    return readdirSync(real, { withFileTypes: true }).slice(0, NAMES_LOOKED_AT);
  } catch {
    // A missing or unreadable folder has no completions.
    return [];
  }
}
