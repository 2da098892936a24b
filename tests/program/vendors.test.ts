// The whole program against each vendor's published refusals: twenty turns and more, in which every offered tool is called, with the null
// placeholders that models send, several calls at once, thinking before calls and a lost answer.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import type { ConfigInput } from '../../core/contracts/config.ts';
import type { TrayClaw } from '../../core/index.ts';
import { ScriptedModel, type Rule, type ScriptedCall } from '../doubles/scripted-model.ts';
import { vendors, type Vendor } from '../doubles/vendors/vendors.ts';
import { TestHome } from '../faults/test-home.ts';
import { bodies, call, eventsOf } from './helper-rig.ts';

const page = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"results":[]}');
});
let web: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
  web = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => page.close(resolve)));

/** The calls of each turn. Keys of other branches are null, as models in strict modes send them. */
const turns = (): readonly ScriptedCall[][] => [
  [call('write_file', { path: 'a.txt', content: 'one\ntwo\n' }), call('list_dir', {})],
  [call('append_file', { path: 'a.txt', content: 'three\n' })],
  [call('read_file', { path: 'a.txt', offset: null, limit: null })],
  [call('edit_file', { path: 'a.txt', old: 'two', new: 'zwei', replaceAll: null })],
  [call('grep', { pattern: 'zwei', path: null }), call('glob', { pattern: '*.txt' })],
  [call('exec', { action: 'run', command: 'echo hello', cwd: null, sessionId: null })],
  [call('exec', { action: 'run', command: 'seq 1 40000' })],
  [call('artifact_read', { artifact: 'gone' })],
  [call('calc', { expression: '6 * 7' })],
  [call('web_fetch', { url: `${web}/page` })],
  [call('web_search', { query: 'mills' })],
  // Closing does not start a browser.
  [call('browser', { action: 'close', url: null, ref: null })],
  // Only with a display.
  [call('screenshot', { of: null })],
  [call('http_request', { method: 'GET', url: `${web}/api`, headers: [{ key: 'accept', value: 'application/json' }] })],
  [call('session_search', { query: 'hello' })],
  [call('remember', { text: 'The person likes tea.', kind: null })],
  [call('recall', { query: 'tea', limit: null })],
  [call('tasks', { action: 'add', text: 'water the plants', taskId: null }), call('tasks', { action: 'list', text: null, taskId: '' })],
  [call('schedule', { action: 'follow_up', prompt: 'look again', inMinutes: 30, at: null, zone: null, scheduleId: null })],
  [call('skill', { action: 'list', query: null, name: null, file: null, offset: 0 })],
  [call('spawn', { task: 'PART one', label: null, agent_id: null })],
  [call('spawn_status', {})],
  [call('spawn_cancel', { job_id: 'job_none' })],
  [call('subagent', { task: 'PART two' })],
  [call('message', { text: 'half done' })],
];

/** Valid calls that fail because of their subject, or may fail. */
const fruitless = new Set(['artifact_read', 'spawn_cancel', 'message', 'screenshot']);

const models: Readonly<Record<Vendor, string>> = {
  openai: 'gpt-5.6',
  responses: 'gpt-5.6',
  anthropic: 'claude-fable-5-2',
  ollama: 'qwen3',
  gemini: 'gemini-3-pro',
  mistral: 'mistral-large',
  groq: 'llama-4',
  deepseek: 'deepseek-v4',
  xai: 'grok-4',
  openrouter: 'openai/gpt-5',
  llamacpp: 'local',
  lmstudio: 'local',
};

function providerOf(vendor: Vendor, origin: string): NonNullable<ConfigInput['providers']>[string] {
  const more = { contextTokens: 128_000 };
  if (vendor === 'ollama') return { kind: 'ollama', baseUrl: origin, ...more };
  if (vendor === 'anthropic') return { kind: 'anthropic', baseUrl: origin, apiKey: 'env:MODEL_KEY', ...more };
  if (vendor === 'openai') return { kind: 'openai', baseUrl: `${origin}/v1`, apiKey: 'env:MODEL_KEY', ...more };
  if (vendor === 'responses') return { kind: 'openai', format: 'responses', baseUrl: `${origin}/v1`, apiKey: 'env:MODEL_KEY', ...more };
  return { kind: 'openai-compatible', baseUrl: `${origin}/v1`, preset: vendor, ...more };
}

async function open(vendor: Vendor): Promise<{ model: ScriptedModel; claw: TrayClaw }> {
  const model = await ScriptedModel.start([], vendor === 'anthropic' || vendor === 'ollama' || vendor === 'responses' ? {} : { vendor });
  const home = new TestHome();
  onTestFinished(async () => {
    await home.dispose();
    await model.close();
  });
  home.env['MODEL_KEY'] = 'key-of-the-tests';
  const config: ConfigInput = {
    providers: { lab: providerOf(vendor, model.origin) },
    models: { default: `lab/${models[vendor]}` },
    policy: { mode: 'workspace-free', allowDomains: [new URL(web).host] },
    web: { search: { provider: 'searxng', baseUrl: web } },
  };
  return { model, claw: await home.open({ config }) };
}

const learned = /bound to a different conversation/;

/** Runs a turn and approves every call until it has ended. */
async function turn(claw: TrayClaw, text: string, sessionId: string | undefined) {
  const sent = await claw.op('message.send', { text, ...(sessionId === undefined ? {} : { sessionId }) });
  for (;;) {
    const ended = await claw.op('turn.wait', { turnId: sent.turnId, timeoutMs: 20_000 });
    if (ended.status !== 'waiting') return { ...ended, sessionId: sent.sessionId };
    const { approvals } = await claw.op('approval.list', {});
    for (const { approvalId } of approvals) await claw.op('approval.decide', { approvalId, decision: 'approve', scope: { kind: 'once' } });
  }
}

test.each(vendors)('%s answers a session in which every tool is called', { timeout: 120_000 }, async (vendor) => {
  const { model, claw } = await open(vendor);
  const offered = (await claw.op('tool.list', {})).tools.map(({ name }) => name);
  const asked = turns().filter((calls) => calls.every(({ tool }) => offered.includes(tool)));
  const reasoning = 'I think about it first.';
  const rules: Rule[] = [
    { user: /PART \w+/, answer: { text: 'part done' } },
    ...asked.map((calls, at): Rule => ({ user: `turn ${at}.`, results: 0, answer: { calls, reasoning } })),
    { answer: { text: 'Done.', reasoning } },
  ];
  model.script(rules);
  let sessionId: string | undefined;
  for (const [at] of asked.entries()) {
    const ended = await turn(claw, `turn ${at}.`, sessionId);
    expect([at, ended.status, model.violations.filter((said) => !learned.test(said))]).toEqual([at, 'done', []]);
    ({ sessionId } = ended);
  }
  // Only by a refusal can it learn that a vendor checks what precedes a thought.
  expect(model.violations).toHaveLength(vendor === 'anthropic' ? 1 : 0);
  expect(asked.length).toBeGreaterThanOrEqual(20);
  expect(model.requests[0]?.toolNames).toEqual(offered);
  // OpenAI's newer models want the label of each of their answers back.
  const input = z.array(z.object({ type: z.string(), role: z.string().optional(), phase: z.string().optional() }));
  const sent = vendor === 'responses' ? input.parse(model.requests.at(-1)?.body['input']) : [];
  const labels = new Set(sent.filter(({ role }) => role === 'assistant').map(({ phase }) => phase));
  expect([...labels]).toEqual(vendor === 'responses' ? ['final_answer'] : []);

  const events = await eventsOf(claw);
  const finished = bodies(events, 'tool.finished');
  const outcomes = new Map(
    bodies(events, 'tool.requested').map(({ callId, tool }) => [tool, finished.find((one) => one.callId === callId)]),
  );
  expect([...outcomes.keys()].sort()).toEqual([...offered].sort());
  const failed = [...outcomes].filter(([tool, end]) => end?.outcome !== 'ok' && !fruitless.has(tool));
  expect(failed).toEqual([]);
});
