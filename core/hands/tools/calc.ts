// The calc tool: arithmetic that a model should not do itself.

import * as z from 'zod';
import { defineTool } from './define-tool.ts';
import type { ToolDefinition } from '../../contracts/tools.ts';
import { formatNumber } from './calc-number.ts';
import { evaluate } from './calc-parser.ts';
import { shownPath } from './path-argument.ts';

const input = z.strictObject({
  expression: z.string().min(1).max(4000).describe('For example (1_250 * 1.19 - 3^2) / sqrt(16).'),
});

export function createCalc(): ToolDefinition {
  return defineTool({
    name: 'calc',
    description:
      'Evaluate an arithmetic expression: + - * / % ^ ( ), sqrt, sin, cos, tan (radians), log (base 10, or log(x, base)), ln, exp, abs, round, floor, ceil, min, max, pi, e. Whole numbers are exact.',
    input,
    class: 'read',
    shows: { verb: 'calculate', target: ['expression'] },
    idempotency: () => 'pure',
    timeoutMs: 5000,
    facts: () => ({ class: 'read', paths: [], command: null, hosts: [] }),
    summarize: (args) => `work out ${shownPath(args.expression)}`,
    run(args) {
      const value = evaluate(args.expression);
      if (value.ok) return Promise.resolve({ forModel: formatNumber(value.value) });
      const { message, position } = value.error;
      return Promise.resolve({ forModel: `Cannot evaluate this: ${message} (position ${position}).`, isError: true });
    },
  });
}
