// Keeps a feature typed by its own settings and rows while the program holds features of every kind in one list.

import type { Plugin } from './plugin.ts';

/** Ties the types of `create` to the feature's own schema and rows, then forgets them: it is handed only what fits. */
export function defineFeature<Settings, Rows>(feature: Plugin<Settings, Rows>): Plugin {
  return feature;
}
