// Checks that a value has the form of a plugin: its name, and that everything it adds carries that name. Does not judge what the plugin
// does.

import { AppError } from '../../contracts/errors.ts';
import { pluginNameSchema } from '../../contracts/features/plugins.ts';
import { opTable } from '../../contracts/ops.ts';
import type { Plugin } from '../../contracts/plugin.ts';

const LOCAL_NAME = /^[a-z][A-Za-z0-9_]{0,60}$/;
/** Families of the program's own operations. */
const taken: ReadonlySet<string> = new Set(Object.keys(opTable).map((name) => name.split('.')[0] ?? ''));

/** Fails with invalid_config. */
export function assertPlugin(given: unknown): asserts given is Plugin {
  if (typeof given !== 'object' || given === null || !('name' in given) || !('create' in given) || typeof given.create !== 'function') {
    throw refuse('A plugin exports a constant called feature, made with defineFeature.');
  }
  const name = pluginNameSchema.safeParse(given.name);
  if (!name.success) throw refuse('The name of a plugin has 2 to 31 small letters, digits or dashes and begins with a letter.');
  if (taken.has(name.data)) throw refuse(`The name ${name.data} belongs to operations of the program. Take another.`);
  const { operations = {}, events = {}, migrations = [] } = given as Plugin;
  const odd = [...Object.keys(operations), ...Object.keys(events)].find((local) => !LOCAL_NAME.test(local));
  if (odd !== undefined) throw refuse(`${JSON.stringify(odd)} cannot be the name of an operation or event: letters, digits and _ alone.`);
  const stranger = migrations.find(({ id }) => !id.startsWith(`${name.data}-`));
  if (stranger !== undefined) throw refuse(`The migration ${stranger.id} does not begin with ${name.data}-.`);
}

function refuse(message: string): AppError {
  return new AppError('invalid_config', message);
}
