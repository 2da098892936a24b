// Which tools the model of a turn is offered. A tool that could only be refused is not shown; what is shown the gate still judges.

import type { ToolSchema } from '../../contracts/llm.ts';
import type { TurnBounds } from '../../contracts/turn-bounds.ts';
import type { ToolPort } from './ports.ts';

export function offeredWithin(tools: ToolPort, all: readonly ToolSchema[], bounds: TurnBounds | null): readonly ToolSchema[] {
  if (bounds === null || (bounds.tools === null && bounds.classes === null)) return all;
  return all.filter(({ name }) => {
    const toolClass = tools.get(name)?.class;
    const isOfClass = bounds.classes === null || (toolClass !== undefined && bounds.classes.includes(toolClass));
    return isOfClass && (bounds.tools === null || bounds.tools.includes(name));
  });
}
