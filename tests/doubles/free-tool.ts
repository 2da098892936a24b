// A tool that needs no approval, because it only reads inside the workspace. The test decides what it does and how it may be repeated.

import * as z from 'zod';
import { defineTool, type ToolDefinition } from '../../core/index.ts';

export function freeTool(name: string, { idempotency, run }: Pick<ToolDefinition<object>, 'idempotency' | 'run'>) {
  return defineTool({
    name,
    description: `Does ${name}.`,
    class: 'read',
    input: z.strictObject({}),
    facts: (_args, { workspace }) => ({
      class: 'read',
      paths: [{ given: 'x', real: `${workspace}/x`, access: 'read', insideWorkspace: true, protectedBy: null }],
      command: null,
      hosts: [],
    }),
    summarize: () => name,
    idempotency,
    run,
  });
}
