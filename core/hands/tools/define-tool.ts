// Keeps a tool's definition typed by its own arguments while the host holds tools of every kind in one list.

import type { ToolDefinition } from '../../contracts/tools.ts';

/**
 * Ties the argument type of every method to the tool's own schema, then forgets it: the host hands a tool only what
 * that schema accepted.
 */
export function defineTool<A>(definition: ToolDefinition<A>): ToolDefinition {
  return definition;
}
