// Performs one action of each kind that promises durability, and puts a mark into the stream of system calls before and after each.

import { openSync, writeSync } from 'node:fs';
import * as z from 'zod';
import { createTrayClaw, defineTool } from '../../core/index.ts';
import { ScriptedModel } from '../doubles/scripted-model.ts';

const [home = '', marksFile = ''] = process.argv.slice(2);
const marks = openSync(marksFile, 'w');
const mark = (name: string): void => void writeSync(marks, `MARK ${name}\n`);

const effect = (name: string, idempotency: 'pure' | 'unsafe') =>
  defineTool({
    name,
    description: 'Leaves a mark.',
    input: z.strictObject({}),
    class: idempotency === 'pure' ? 'read' : 'exec',
    idempotency: () => idempotency,
    facts: (_args, context) => ({
      class: idempotency === 'pure' ? 'read' : 'exec',
      paths: [],
      command: idempotency === 'pure' ? null : { line: name, cwd: context.workspace },
      hosts: [],
    }),
    summarize: () => name,
    run: () => {
      mark(`effect-${idempotency}`);
      return Promise.resolve({ forModel: 'done' });
    },
  });

await using model = await ScriptedModel.start([
  { results: 0, answer: { calls: [{ tool: 'look', args: {} }] } },
  { results: 1, answer: { calls: [{ tool: 'touch', args: {} }] } },
  { results: 2, answer: { text: 'done' } },
]);
// Maintenance also waits for the disk and starts in an idle moment. With a clock that stands still, there is no idle moment.
const clock = { nowMs: () => Date.now(), monotonicMs: () => 0 };
const tools = [effect('look', 'pure'), effect('touch', 'unsafe')];
const claw = await createTrayClaw({ home, config: model.config('openai'), tools, clock });
mark('begin');
const { turnId } = await claw.op('message.send', { text: 'look and touch' });
mark('accepted');
await claw.op('turn.wait', { turnId });
mark('waiting');
const { approvals } = await claw.op('approval.list', {});
await claw.op('approval.decide', { approvalId: approvals[0]?.approvalId ?? '', decision: 'approve', scope: { kind: 'once' } });
await claw.op('turn.wait', { turnId });
mark('done');
await claw.op('panic.engage', {});
mark('stopped');
await claw.op('panic.release', {});
mark('released');
await claw.close();
