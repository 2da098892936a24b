// Keeps a feature typed by its own settings and rows while the program holds features of every kind in one list.

import type { Plugin } from './plugin.ts';

/** Checks the types of `create` against the feature's own schema and rows, then erases them: the feature receives only matching values. */
export function defineFeature<Settings, Rows>(feature: Plugin<Settings, Rows>): Plugin {
  return feature;
}
