// Keeps a tool's definition typed by its own arguments, while the host stores tools of every kind in one list.

import type { ToolDefinition } from '../../contracts/tools.ts';

/**
 * Ties the argument type of every method to the tool's own schema, then erases it: the host passes a tool only values that its schema
 * accepted.
 */
export function defineTool<A>(definition: ToolDefinition<A>): ToolDefinition {
  return definition;
}
