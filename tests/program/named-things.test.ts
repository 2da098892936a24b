// Every parameter of an operation that names a session, a turn, an agent, a tool, a model, a channel or a chat is refused where there is
// none of that name. The parameters are found in the table of operations, so that a new one is covered as well.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { createTrayClaw, type TrayClaw } from '../../core/index.ts';
import { opTable, type OpName } from '../../core/contracts/ops.ts';

let home: string;
let claw: TrayClaw;
/** Values for the other parameters, by the name of the parameter. */
let there: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'trayclaw-names-'));
  claw = await createTrayClaw({ home, config: { models: { default: 'demo/offline' } }, environment: {} });
  const { sessionId, turnId } = await claw.ask('Hello');
  const { scheduleId } = await claw.op('schedule.create', { name: 'x', prompt: 'x', spec: { kind: 'every', everyMs: 60_000 } });
  there = { sessionId, turnId, scheduleId, chat: { channel: 'telegram', chatId: '1' }, with: ['research', 'research'] };
});

afterAll(async () => {
  await claw.close();
  rmSync(home, { recursive: true, force: true });
});

/** By the name of a parameter: one that nothing has. */
const unknownNames: Readonly<Record<string, unknown>> = {
  sessionId: 'ses_unknown',
  turnId: 'trn_unknown',
  agentId: 'unknown',
  tool: 'reed_file',
  model: 'unknown/model',
  scope: 'agent:unknown',
  deliver: 'telegram:1',
  bounds: { tools: ['reed_file'] },
  agent: 'unknown',
  channel: 'unknown',
  judge: 'unknown/model',
  provider: 'unknown',
};

/** Parameters of that name which may name what is not there, and why. */
const exceptions: Readonly<Record<string, string>> = {
  'message.send sessionId': 'the first message of a conversation begins it',
  'command.run sessionId': 'the first message of a conversation begins it',
  'tool.run sessionId': 'the first call of a conversation begins it',
  'signal.send sessionId': 'the first signal of a conversation begins it',
  'activity.search tool': 'calls of a tool that was removed are still in the log',
  'memory.list scope': 'what an agent that was removed remembers is still there',
  'model.test model': 'its result says what is wrong with it',
  'model.test provider': 'the provider itself, before it is saved',
  'provider.try provider': 'the provider itself, before it is saved',
  'provider.add provider': 'the provider itself, before it is saved',
  'budget.allow scope': 'one of three words',
  'approval.decide scope': 'how far the approval reaches',
  'door.create_token scope': 'what other programs may name, now or later',
};

/** Values for the other parameters of one operation. */
const samples: Partial<Record<OpName, Readonly<Record<string, unknown>>>> = {
  'turn.value': { schema: { type: 'object', properties: { answer: { type: 'string' } } } },
  'budget.allow': { usd: 1, scope: 'turn' },
  'schedule.create': { spec: { kind: 'every', everyMs: 60_000 }, prompt: 'x' },
  'eval.run': { suite: 'tools' },
};

const named = Object.entries(opTable).flatMap(([op, { params }]) => {
  const { properties = {}, required = [] } = z.toJSONSchema(params, { io: 'input', unrepresentable: 'any' });
  const needed = (): Record<string, unknown> => Object.fromEntries(required.map((one) => [one, there[one] ?? sampleOf(properties[one])]));
  return Object.keys(properties)
    .filter((key) => Object.hasOwn(unknownNames, key) && !Object.hasOwn(exceptions, `${op} ${key}`))
    .map((key) => ({ op: op as OpName, key, given: () => ({ ...needed(), ...samples[op as OpName], [key]: unknownNames[key] }) }));
});

function sampleOf(schema: z.core.JSONSchema._JSONSchema | undefined): unknown {
  if (typeof schema !== 'object') return 'x';
  if (schema.enum !== undefined) return schema.enum[0];
  const samplesOfTypes: Readonly<Record<string, unknown>> = { boolean: true, number: 1, integer: 1, array: ['x'], object: {} };
  return samplesOfTypes[String(schema.type)] ?? 'x';
}

test.each(named)('$op refuses an unknown $key', async ({ op, key, given }) => {
  const scoped = op === 'budget.allow' && key === 'sessionId' ? { ...given(), scope: 'session' } : given();
  await expect(claw.op(op, scoped as never)).rejects.toMatchObject({
    code: expect.stringMatching(/^(?:not_found|unknown_tool|model_unknown)$/) as string,
    message: expect.stringMatching(/unknown|reed_file|telegram/) as string,
  });
});

test('a call of a tool is checked in the same way, and near names are said', async () => {
  const call = (args: object) => claw.op('tool.run', { tool: 'schedule', args, wait: false });
  const job = { action: 'repeat', prompt: 'x', everyMinutes: 60 };
  await expect(call({ ...job, tools: ['reed_file'] })).rejects.toMatchObject({
    code: 'invalid_arguments',
    message: expect.stringMatching(/There is no tool called "reed_file"\. Did you mean read_file/) as string,
  });
  await expect(call({ ...job, everyMinutes: undefined, cron: '0 7 * * *', zone: 'Europe/Berlim' })).rejects.toMatchObject({
    code: 'invalid_arguments',
    message: expect.stringMatching(/zone is not a time zone that this machine knows \(did you mean Europe\/Berlin.*\?\)\.$/) as string,
  });
  const cron = { kind: 'cron', expr: '0 7 * * *', zone: 'Mars/Olympus' } as const;
  await expect(claw.op('schedule.create', { name: 'x', prompt: 'x', spec: cron })).rejects.toMatchObject({
    code: 'invalid_params',
    message: expect.stringMatching(/not a time zone that this machine knows/) as string,
  });
});

test('a name that has the form of one, and need not be there, is let through', async () => {
  const given = { name: 'x', prompt: 'x', spec: { kind: 'every', everyMs: 60_000 } } as const;
  await expect(claw.op('schedule.create', { ...given, deliver: 'last', bounds: { tools: ['read_file'] } })).resolves.toBeDefined();
  await expect(claw.op('memory.add', { text: 'The shelf is blue.', scope: 'shared' })).resolves.toBeDefined();
  await expect(claw.op('memory.add', { text: 'The door is green.', scope: 'agent:main' })).resolves.toBeDefined();
  await expect(claw.op('memory.list', { scope: 'agent:removed' })).resolves.toMatchObject({ memories: [] });
});
