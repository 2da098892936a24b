// Checks the form of a plugin: its name is valid, its migrations and channel carry that name, and its schemas are schemas. Does not check
// its behaviour.

import { AppError } from '../../contracts/errors.ts';
import { pluginNameSchema } from '../../contracts/features/plugins.ts';
import { opTable } from '../../contracts/ops.ts';
import type { Plugin, PluginParts } from '../../contracts/plugin.ts';

const LOCAL_NAME = /^[a-z][A-Za-z0-9_]{0,60}$/;
/** Families of the built-in operations. */
const taken: ReadonlySet<string> = new Set(Object.keys(opTable).map((name) => name.split('.')[0] ?? ''));

/** Fails with invalid_config. */
export function assertPlugin(given: unknown): asserts given is Plugin {
  if (typeof given !== 'object' || given === null || !('name' in given) || !('create' in given) || typeof given.create !== 'function') {
    throw refuse('A plugin exports a constant called feature, made with defineFeature.');
  }
  const name = pluginNameSchema.safeParse(given.name);
  if (!name.success) throw refuse('The name of a plugin has 2 to 31 small letters, digits or dashes and begins with a letter.');
  if (taken.has(name.data)) throw refuse(`The name ${name.data} belongs to operations of the program. Take another.`);
  assertContent(name.data, given as Plugin);
}

function assertContent(name: string, { settings, operations = {}, events = {}, migrations = [] }: Plugin): void {
  const odd = [...Object.keys(operations), ...Object.keys(events)].find((local) => !LOCAL_NAME.test(local));
  if (odd !== undefined) throw refuse(`${JSON.stringify(odd)} cannot be the name of an operation or event: letters, digits and _ alone.`);
  const stranger = migrations.find(({ id }) => !id.startsWith(`${name}-`));
  if (stranger !== undefined) throw refuse(`The migration ${stranger.id} does not begin with ${name}-.`);
  if (settings !== undefined) assertSchema(settings, 'The settings');
  for (const [local, schema] of Object.entries(events)) assertSchema(schema, `The event ${local}`);
  for (const [local, { params, result }] of Object.entries(operations)) {
    assertSchema(params, `The parameters of the operation ${local}`);
    assertSchema(result, `The result of the operation ${local}`);
  }
}

/** Checks the result of `create`. Fails with invalid_config. */
export function assertParts(made: unknown, plugin: string): asserts made is PluginParts {
  if (typeof made !== 'object' || made === null) throw refuse('The function create of a plugin returns an object with what it adds.');
  const { tools = [], strategies = [], channel, service } = made as PluginParts;
  if (strategies.some((one) => typeof one.name !== 'string' || typeof one.next !== 'function'))
    throw refuse('A strategy has a name and a function called next.');
  for (const { name, input } of tools) assertSchema(input, `The input of the tool ${name}`);
  for (const one of [channel, service]) {
    if (one !== undefined && one.name !== plugin)
      throw refuse(`The channel of the plugin ${plugin} calls itself ${one.name}; name it ${plugin}.`);
  }
}

/** Checks only the members in use, because a plugin may bundle its own copy of the schema library. */
function assertSchema(given: unknown, what: string): void {
  if (typeof given === 'object' && given !== null && 'safeParse' in given && 'def' in given) return;
  throw refuse(`${what} must be a schema of zod.`);
}

function refuse(message: string): AppError {
  return new AppError('invalid_config', message);
}
