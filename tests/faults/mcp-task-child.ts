// The program that is killed while an MCP server runs a call as a task: it approves the server and the call if told to, and otherwise
// continues what an earlier run began. Exits once nothing runs any more.

import * as z from 'zod';
import { createTrayClaw } from '../../core/index.ts';

const optionsSchema = z.strictObject({ home: z.string(), config: z.looseObject({}), begins: z.boolean() });
const { home, config, begins } = optionsSchema.parse(JSON.parse(process.argv[2] ?? ''));
const claw = await createTrayClaw({ home, config });
if (begins) {
  const { server } = await claw.op('mcp.test', { name: 's' });
  await claw.op('mcp.approve', { name: 's', sha256: server.sha256 ?? '' });
  const { pending = [] } = await claw.op('tool.run', { tool: 's__build', args: {}, wait: false });
  for (const { approvalId } of pending) await claw.op('approval.decide', { approvalId, decision: 'approve' });
}
await claw.whenIdle();
await claw.close();
