// Selects the tools offered to the model of a turn. Leaves out tools that would always be refused; the gate still decides about the others.

import type { ToolSchema } from '../../contracts/llm.ts';
import type { TurnBounds } from '../../contracts/turn-bounds.ts';
import type { CallOrigin, PolicyGate } from '../../guard/policy/policy.ts';
import type { ToolPort } from './ports.ts';

export interface OfferedTo {
  readonly bounds: TurnBounds | null;
  readonly origin: CallOrigin;
}

/** Returns the identical list if neither bounds nor config.yaml exclude a tool. */
export function offeredWithin(
  { tools, gate }: { readonly tools: Pick<ToolPort, 'get' | 'planSchemas'>; readonly gate: Pick<PolicyGate, 'toolRefusal'> },
  usual: readonly ToolSchema[],
  { bounds, origin }: OfferedTo,
): readonly ToolSchema[] {
  const all = bounds?.planFirst === undefined ? usual : [...usual, ...tools.planSchemas()];
  const refuses = gate.toolRefusal(origin);
  const isBounded = bounds !== null && (bounds.tools !== null || bounds.classes !== null);
  if (refuses === null && !isBounded) return all;
  return all.filter(({ name }) => {
    const toolClass = tools.get(name)?.class;
    if (toolClass === undefined) return false;
    const isLeftIn = bounds === null || ((bounds.classes?.includes(toolClass) ?? true) && (bounds.tools?.includes(name) ?? true));
    return isLeftIn && refuses?.({ name, class: toolClass }) !== true;
  });
}
