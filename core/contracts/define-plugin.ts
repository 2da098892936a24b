// Types a plugin by its own settings and rows, while the program keeps plugins of every type in one list.

import type { Plugin } from './plugin.ts';

/** Checks the types of `create` against the plugin's own schema and rows, then erases them. The plugin receives only matching values. */
export function defineFeature<Settings, Rows>(feature: Plugin<Settings, Rows>): Plugin {
  return feature;
}
