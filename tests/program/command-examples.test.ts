// The example in the help of every command works: it is run as printed, with a used data folder.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { opForms } from '../../core/contracts/op-forms.ts';
import { opTable, type OpName, type OpResult } from '../../core/contracts/ops.ts';
import type { GrantScope } from '../../core/contracts/policy.ts';
import { runCli, type CliParts } from '../../core/doors/cli/cli.ts';
import { defineFeature, type TrayClaw } from '../../core/index.ts';
import { commandExamples } from '../../build/reference/command-page.ts';
import { FakeClaw } from '../doubles/fake-claw.ts';
import { fakeParts, FakeTerminal, foundInstance } from '../doubles/fake-terminal.ts';
import { TestHome } from '../faults/test-home.ts';

/** Examples that cannot succeed in a folder without a bot, a failed turn or a crash: they are parsed and report what is missing. */
const elsewhere: Readonly<Record<string, string>> = {
  'artifacts get': 'there is no such artifact',
  'turns continue': 'no limit ended the turn',
  'outcomes settle': 'no call was cut off',
  'memory settle': 'the two do not contradict each other',
  'subagents cancel': 'no subagent was started',
  'prompts accept': 'nothing came from a remote source',
  'telegram pair': 'there is no bot',
  'telegram confirm': 'there is no bot',
  'telegram refuse': 'there is no bot',
  'telegram revoke': 'nobody is paired',
  'channels pair': 'there is no such channel',
  'channels confirm': 'there is no such channel',
  'channels refuse': 'there is no such channel',
  'channels revoke': 'there is no such channel',
  'channels pause': 'there is no such channel',
  'channels resume': 'there is no such channel',
  'chats bind': 'no chat is known',
  'outbox settle': 'nothing was sent',
  'dlq retry': 'no turn failed',
  'running stop': 'no command runs in the background',
  'telemetry flush': 'no receiver is set up',
  'mcp remove': 'there is no such server',
  'mcp test': 'there is no such server',
  'mcp stop': 'there is no such server',
  'mcp approve': 'there is no such server',
  'mcp import': 'there is no such file',
  'mcp resources': 'there is no such server',
  'mcp read': 'there is no such server',
  'mcp prompts': 'there is no such server',
  'mcp prompt': 'there is no such server',
  'mcp answer': 'nothing was asked',
  'mcp login': 'there is no such server',
  'mcp logout': 'there is no such server',
  'plugins approve': 'there is no such file',
  'plugins revoke': 'there is no such file',
  'folders accept': 'there are no instructions',
  'folders withdraw': 'there are no instructions',
  'worktrees list': 'no folder is trusted',
  'worktrees add': 'no folder is trusted',
  'worktrees remove': 'there is no such worktree',
  'model opinion': 'there is no such panel',
  'work choose': 'the work has no candidates',
  'eval suite': 'the offline demo does not meet the cases',
  'pipeline run': 'the offline demo is not a judge',
  research: 'the offline demo is not a judge',
};

/** The operation in the example of `plugins call`. */
const weather = defineFeature({
  name: 'weather',
  operations: { report: { about: 'Reports.', params: z.strictObject({ city: z.string() }), result: z.object({ degrees: z.number() }) } },
  create: () => ({ handlers: { report: () => ({ degrees: 21 }) } }),
});

const priceServer = createServer((_request, response) => response.end('{"openai":{"models":{"gpt-5":{"cost":{"input":1,"output":9}}}}}'));

const examples = commandExamples();
let home: TestHome;
let claw: TrayClaw;
let folder: string;

function put(name: string, text: string): void {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'trayclaw-examples-'));
  home = new TestHome();
  home.env['TRAYCLAW_VAULT_PASSPHRASE'] = 'a passphrase';
  home.configure({ models: { default: 'demo/offline' }, budget: { perDayUsd: 5 } });
  await new Promise<void>((resolve) => priceServer.listen(0, '127.0.0.1', resolve));
  const priceListUrl = `http://127.0.0.1:${(priceServer.address() as AddressInfo).port}/`;
  home.configure({ skills: { markets: [{ name: 'team', url: join(folder, 'market') }] }, budget: { perDayUsd: 5 } });
  claw = await home.open({ features: [weather], priceListUrl });
  put('notes.txt', 'Plain notes.');
  put('task.yaml', "goal: Calculate 6 * 7\ncriteria: [{ contains: '42' }]\n");
  put('cases.yaml', "tests: [{ input: 'Calculate 6 * 7', assert: [{ type: contains, value: '42' }] }]\n");
  put('pipeline.yaml', "nodes: { only: { ask: 'Calculate 6 * 7' } }\noutput: only\n");
  put('style.md', 'Be brief.');
  put('key.txt', 'sk-a-long-value-of-a-key');
  put('passphrase.txt', 'a passphrase');
  put('notes/one.md', '# One\n\nA ticket costs two euros.\n');
  put(
    'my-skill/SKILL.md',
    '---\nname: my-skill\ndescription: Says hello when asked for a greeting.\nmetadata:\n  version: "1.0.0"\n---\n\n# Greeting\n\nSay hello.\n',
  );
  await seed();
}, 60_000);

afterAll(async () => {
  await home.dispose();
  await new Promise((resolve) => priceServer.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

/** The actual ids for those in the examples. Each is created when an example needs it, so that examples are independent. */
const ids: Readonly<Record<string, () => Promise<string>>> = {
  'trn_01JD7Q-p1': async () => (await claw.op('pack.list', {})).packs[0]?.packId ?? '',
  apr_01JD7Q: async () => (await propose('exec', { command: `touch ${(count += 1)}.made` })).pending?.[0]?.approvalId ?? '',
  trn_01JD7Q: async () => (await propose('exec', { command: `touch ${(count += 1)}.made` })).turnId,
  call_01JD7Q: async () => (await write()).callId,
  grt_01JD7Q: async () => {
    await write({ kind: 'always' });
    return (await claw.op('grant.list', {})).grants[0]?.grantId ?? '';
  },
  mem_01JD7Q: async () => {
    const [candidate] = (await claw.op('memory.list', { state: 'candidate' })).memories;
    return candidate?.memoryId ?? (await claw.op('memory.add', { text: `I like the number ${(count += 1)}.` })).memoryId;
  },
  mem_01JD8R: async () => (await claw.op('memory.add', { text: `I dislike the number ${(count += 1)}.` })).memoryId,
  rul_01JD7Q: async () => (await claw.op('rule.pin', { text: `Rule ${(count += 1)}.`, agentId: 'main' })).ruleId,
  sch_01JD7Q: async () =>
    (await claw.op('schedule.create', { name: 'n', prompt: 'Calculate 1 + 1', spec: { kind: 'every', everyMs: 3_600_000 } })).scheduleId,
  ses_01JD7Q: async () => (await claw.op('session.create', { title: 'Old' })).sessionId,
  wrk_01JD7Q: async () => (await claw.op('work.run', { task: { goal: 'Calculate 6 * 7' }, strategy: 'human-gate' })).taskId,
  wrk_01JD8R: async () => (await claw.op('work.run', { file: join(folder, 'task.yaml') })).taskId,
  pip_01JD7Q: async () => (await claw.op('pipeline.run', { pipeline: join(folder, 'pipeline.yaml'), text: 'x' })).pipelineId,
  evl_01JD7Q: runCases,
  evl_01JD8R: runCases,
  tsk_01JD7Q: async () => (await claw.op('task.add', { text: 'Book the train' })).taskId,
};
let count = 0;

async function runCases(): Promise<string> {
  return (await claw.op('eval.run', { path: join(folder, 'cases.yaml') })).runId;
}

function propose(tool: string, args: unknown): Promise<OpResult<'tool.run'>> {
  return claw.op('tool.run', { tool, args, wait: false });
}

/** Writes a file with an approval. */
async function write(scope: GrantScope = { kind: 'once' }): Promise<OpResult<'tool.run'>> {
  const proposed = await propose('write_file', { path: `${(count += 1)}.md`, content: 'x' });
  const approvalId = proposed.pending?.[0]?.approvalId;
  if (approvalId !== undefined) await claw.op('approval.decide', { approvalId, decision: 'approve', scope });
  await claw.op('turn.wait', { turnId: proposed.turnId });
  return proposed;
}

/** The set-up of some examples. */
const before: Readonly<Record<string, () => Promise<unknown>>> = {
  'memory import': () => runExample('trayclaw memory export --out memories.jsonl'),
  'knowledge reindex': addNotes,
  'memory promote': addCandidate,
  'memory reject': addCandidate,
  'turns retry': () => claw.ask('Calculate 2 + 2'),
  'turns branch': () => claw.ask('Calculate 2 + 2'),
  // Nothing is downloaded: the engine counts as installed if its folder exists.
  'model install-engine': placeEngine,
  'model remove-engine': placeEngine,
  'skills remove': importSkill,
  'skills search': publishSkill,
  'skills install': () => Promise.resolve(rmSync(join(home.workspace, 'skills', 'my-skill'), { recursive: true, force: true })),
  'skills info': importSkill,
  'skills pin': installSkill,
  'skills unpin': installSkill,
  'skills trust': importSkill,
};

async function placeEngine(): Promise<void> {
  const { folder: engine } = await claw.op('engine.get', {});
  mkdirSync(join(engine, 'node_modules'), { recursive: true });
}

function addNotes(): Promise<unknown> {
  return claw.op('knowledge.add', { name: 'notes', text: 'One ticket costs two euros.' });
}

function importSkill(): Promise<unknown> {
  return claw.op('skill.import', { path: join(folder, 'my-skill'), replace: true });
}

function publishSkill(): Promise<unknown> {
  return claw.op('skill.publish', { path: join(folder, 'my-skill'), to: join(folder, 'market') });
}

async function installSkill(): Promise<void> {
  const { planId } = await claw.op('skill.plan', { wants: [join(folder, 'my-skill')] });
  if (planId !== null) await claw.op('skill.install', { planId, despiteDangers: true });
}

/** Adds a memory candidate as if it came from a conversation. */
async function addCandidate(): Promise<void> {
  const { text } = await claw.op('memory.export', {});
  const one = JSON.parse(text.split('\n')[0] ?? '{}') as Record<string, unknown>;
  await claw.op('memory.import', { text: JSON.stringify({ ...one, text: `I have ${(count += 1)} cats.` }), state: 'candidate' });
}

/** Creates everything whose ids the examples use; the last turn was a question. */
async function seed(): Promise<void> {
  await claw.op('identity.set', { style: 'Brief.' });
  await claw.op('prompt.set', { name: 'style', text: 'Be brief.' });
  await addNotes();
  await claw.ask('Calculate 1 + 1');
}

/** Splits a line as a shell does and returns the file of `< file`; ignores `> file`. */
function shellWords(line: string): { readonly words: string[]; readonly input: string } {
  const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, single, double, plain]) => single ?? double ?? plain ?? '');
  const at = words.findIndex((word) => word === '<' || word === '>');
  if (at === -1) return { words, input: '' };
  return { words: words.slice(0, at), input: words[at] === '<' ? (words[at + 1] ?? '') : '' };
}

async function runExample(line: string): Promise<{ readonly code: number; readonly said: string }> {
  const { words, input } = shellWords(line);
  const argv: string[] = [];
  for (const word of words.slice(1)) argv.push((await ids[word]?.()) ?? word);
  const text = input === '' ? '' : readFileSync(join(folder, input), 'utf8');
  const terminal = new FakeTerminal({ stdin: text });
  const borrowed = Object.assign(new FakeClaw(), {
    op: claw.op.bind(claw),
    events: claw.events.bind(claw),
    onDelta: claw.onDelta.bind(claw),
  });
  const service = {
    file: '/s',
    afterInstall: '',
    text: () => '[Unit]',
    install: () => Promise.resolve(),
    uninstall: () => Promise.resolve(true),
  };
  const state = { isInstalled: true, isRunning: true, state: 'active', startsAtLogin: true, pid: 1 };
  const instance = foundInstance(borrowed, { url: 'http://127.0.0.1:9' });
  const restores = argv[0] === 'backup' && argv[1] === 'restore';
  const parts: CliParts = fakeParts(new FakeClaw(), {
    findInstance: () => Promise.resolve(restores ? null : instance),
    findService: () => Promise.resolve({ ...service, status: () => Promise.resolve(state) }),
  });
  const code = await runCli(argv, { ...terminal.io, cwd: folder }, parts);
  return { code, said: terminal.err };
}

test('every command has an example', () => {
  expect(examples.filter(({ line }) => line === null)).toEqual([]);
  expect(examples.length).toBeGreaterThan(140);
});

test.each(examples.map(({ path, line }) => [path, line ?? ''] as const))(
  'the example of %s works: %s',
  { timeout: 60_000 },
  async (path, line) => {
    await before[path]?.();
    const { code, said } = await runExample(line);
    const known = elsewhere[path];
    expect({ code: known === undefined ? code : code === 2 ? 2 : 0, said: code === 0 || known !== undefined ? '' : said }).toEqual({
      code: 0,
      said: '',
    });
  },
);

/** Arguments and options that the command line handles itself, so that they are not parameters. */
const made: readonly string[] = [
  ...['tool', 'args', 'cwd', 'folder'].map((name) => `policy.explain ${name}`),
  'sandbox.explain folder',
  'checkpoint.review turnId',
  'checkpoint.review sessionId',
  'budget.allow scope',
  'budget.allow usd',
  'memory.import text',
  'skill.lint name',
  'skill.lint path',
  'prompt.set text',
  'schedule.create spec',
  'schedule.create bounds',
  'schedule.create approvalMs',
  'schedule.preview spec',
  'schedule.update spec',
  'schedule.update approvalMs',
  'chat.bind chat',
  'secret.set value',
  'secret.unlock passphrase',
];

/**
 * Parameters for programs: pages of events, what only the window requests, and schedule changes that a person makes by adding another
 * schedule.
 */
const forPrograms: readonly string[] = [
  'session.get after',
  'session.get fromMs',
  'session.get turns',
  'session.get types',
  'session.seen seq',
  'grant.preview exceptCallId',
  'policy.explain sessionId',
  'checkpoint.review fromSeq',
  'artifact.get length',
  'schedule.create task',
  'schedule.create enabled',
  ...['task', 'file', 'bounds'].map((name) => `schedule.update ${name}`),
  'mcp.add enabled',
  'mcp.add timeoutMs',
  'mcp.add startMs',
  'mcp.login wait',
  'model.list look',
  'model.test provider',
  'activity.search fromMs',
  'activity.search toMs',
  'work.run task',
  'eval.run cases',
  'eval.run wait',
];

test('every parameter of an operation can be typed, except those for programs', () => {
  const untyped = Object.entries(opForms).flatMap(([name, { commands }]) => {
    if (commands === undefined) return [];
    const schema = z.toJSONSchema(opTable[name as OpName].params, { io: 'input', unrepresentable: 'any' });
    const typed = Object.values(commands).flatMap(({ takes = [], options = {}, sets = {}, stdin = '' }) => [
      ...takes.map((word) => word.replace(/^:|\W+$/g, '')),
      ...Object.keys(options).map((option) => option.replace(/^--(?:no-)?([\w-]+).*$/, '$1')),
      ...Object.values(options).flatMap((option) => (typeof option === 'object' ? Object.keys(option.sets ?? {}) : [])),
      ...Object.keys(sets),
      stdin,
    ]);
    return Object.keys(schema.properties ?? {}).flatMap((parameter) => (typed.includes(parameter) ? [] : [`${name} ${parameter}`]));
  });
  expect(untyped.filter((one) => !made.includes(one))).toEqual(forPrograms);
});
