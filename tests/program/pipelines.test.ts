// Pipelines in the whole program: routing, parallel branches, a review that sends text back, restarts at every event, and comparisons.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import * as z from 'zod';
import type { AnyEvent } from '../../core/contracts/events.ts';
import { defineTool, type TrayClaw } from '../../core/index.ts';
import type { Rule, ScriptedModel } from '../doubles/scripted-model.ts';
import { eachTest } from '../faults/home-and-model.ts';
import type { TestHome } from '../faults/test-home.ts';
import { isSoak } from '../soak.ts';
import { until } from '../until.ts';

let home: TestHome;
let model: ScriptedModel;

eachTest((made) => ({ home, model } = made));

const isJudge = (request: unknown): boolean => JSON.stringify(request).includes('You check a piece of work');
/** Matches a judge's request about the text that does not contain the total yet. */
const judgesFirst = (request: unknown): boolean => isJudge(request) && JSON.stringify(request).includes('It is a lot.');
const judgement = (met: boolean) => ({ text: JSON.stringify({ points: [{ met, quote: met ? '42' : '', why: 'So.' }] }) });

function open(rules: readonly Rule[]): Promise<TrayClaw> {
  model.script(rules);
  return home.open({ config: { ...model.config('openai'), sandbox: { mode: 'off' } } });
}

function file(graph: object): string {
  const folder = home.project('pipelines');
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'pipeline.yaml');
  writeFileSync(path, stringify(graph));
  return path;
}

const graph = {
  nodes: {
    plan: { ask: 'PLAN {{input}}' },
    research: { ask: 'RESEARCH {{plan}}', when: { node: 'plan', contains: 'look up' } },
    calculate: { ask: 'CALCULATE {{plan}}', when: { node: 'plan', contains: 'calculate' } },
    joke: { ask: 'JOKE', when: { node: 'plan', contains: 'funny' } },
    write: { ask: 'WRITE from {{research}} and {{calculate}} and {{joke}}', after: ['research', 'calculate', 'joke'] },
    review: { review: 'write', rubric: 'It says the total', redo: ['write'], times: 2 },
  },
  output: 'write',
};

const rules = (): Rule[] => [
  { when: judgesFirst, answer: judgement(false) },
  { when: isJudge, answer: judgement(true) },
  { user: /^PLAN/, answer: { text: 'look up and calculate' } },
  { user: /^RESEARCH/, answer: { text: 'found 40' } },
  { user: /^CALCULATE/, answer: { text: '40+2' } },
  { user: /not met/, answer: { text: 'The total is 42.' } },
  { user: /^WRITE/, answer: { text: 'It is a lot.' } },
];

async function eventsOf(claw: TrayClaw, sessionId: string): Promise<readonly AnyEvent[]> {
  return (await claw.op('session.get', { sessionId, limit: 500 })).events as readonly AnyEvent[];
}

test('branches run as planned, and a review sends the text back once', async () => {
  const claw = await open(rules());
  const done = await claw.op('pipeline.run', { pipeline: file(graph), text: 'How much?' });
  expect([done.status, done.text, done.quality]).toEqual(['done', 'The total is 42.', 1]);
  expect(Object.fromEntries(done.nodes.map(({ node, status, rounds }) => [node, `${status} ${rounds}`]))).toEqual({
    plan: 'done 1',
    research: 'done 1',
    calculate: 'done 1',
    joke: 'skipped 1',
    write: 'done 2',
    review: 'done 2',
  });
  expect(JSON.stringify(model.requests)).toContain('WRITE from found 40 and 40+2 and (none)');
  const { rows } = await claw.op('usage.get', { by: 'model' });
  expect([done.modelCalls, rows.reduce((sum, row) => sum + row.modelCalls, 0), model.requests.length]).toEqual([7, 7, 7]);
  await home.close(claw);
});

test('a run interrupted after any event runs no node twice and ends the same', { timeout: 600_000 }, async () => {
  const path = file(graph);
  for (let events = 1; events < 100; events += isSoak ? 1 : 13) {
    let claw = await open(rules());
    const stop = new AbortController();
    const seen = claw.events({ after: 'latest', signal: stop.signal })[Symbol.asyncIterator]();
    const { pipelineId, sessionId } = await claw.op('pipeline.run', { pipeline: path, text: 'How much?', wait: false });
    for (let count = 0; count < events; count++) {
      const next = await seen.next();
      if (next.done === true || next.value.type === 'pipeline.finished') break;
    }
    stop.abort();
    await home.close(claw);
    claw = await home.open({ config: { ...model.config('openai'), sandbox: { mode: 'off' } } });
    const done = await claw.op('pipeline.wait', { pipelineId });
    const ends = (await eventsOf(claw, sessionId)).flatMap((event) =>
      event.type === 'pipeline.node_finished' ? [`${event.body.node} ${event.body.round}`] : [],
    );
    const turns = new Set(
      (await eventsOf(claw, sessionId)).flatMap((event) => (event.type === 'pipeline.node_started' ? [event.body.turnId] : [])),
    );
    expect([events, done.status, done.nodes.map(({ status }) => status), ends.length, new Set(ends).size, turns.size]).toEqual([
      events,
      'done',
      ['done', 'done', 'done', 'skipped', 'done', 'done'],
      done.nodes.reduce((sum, { rounds }) => sum + rounds, 0),
      ends.length,
      5,
    ]);
    expect([done.text, done.quality]).toEqual(['The total is 42.', 1]);
    await home.close(claw);
  }
});

test('a node whose turns keep failing ends the run, and finished work is kept', async () => {
  const claw = await open([{ answer: { status: 401, raw: '{"error":{"message":"no"}}' } }]);
  const done = await claw.op('pipeline.run', {
    pipeline: file({ nodes: { only: { ask: '{{input}}', retries: 1 } }, output: 'only' }),
    text: 'x',
  });
  expect([done.status, done.nodes[0]?.status]).toEqual(['failed', 'failed']);
  expect(done.reason).toContain('The node only failed');
  await home.close(claw);
});

test("a node that uses another's untrusted result is marked with its source", async () => {
  model.script([{ user: /^READ/, results: 0, answer: { calls: [{ tool: 'look', args: {} }] } }, { answer: { text: 'Read.' } }]);
  const look = defineTool({
    name: 'look',
    description: 'Reads a page.',
    input: z.strictObject({}),
    class: 'read',
    idempotency: () => 'pure',
    facts: () => ({ class: 'read', paths: [], command: null, hosts: [] }),
    summarize: () => 'look',
    run: () => Promise.resolve({ forModel: 'words', untrusted: [{ kind: 'web', where: 'https://example.org/' }] }),
  });
  const claw = await home.open({
    config: { ...model.config('openai'), policy: { rules: [{ when: { tools: ['look'] }, then: 'allow' }] } },
    tools: [look],
  });
  const path = file({ nodes: { read: { ask: 'READ' }, write: { ask: 'WRITE {{read}}' } }, output: 'write' });
  const done = await claw.op('pipeline.run', { pipeline: path, text: 'x' });
  const sessionId = done.nodes.find(({ node }) => node === 'write')?.sessionId ?? '';
  const marks = (await eventsOf(claw, sessionId)).flatMap((event) => (event.type === 'taint.marked' ? event.body.sources : []));
  expect(marks).toEqual([{ kind: 'web', where: 'https://example.org/' }]);
  await home.close(claw);
});

test('a comparison measures a pipeline and a single turn by the same criteria', async () => {
  const claw = await open([{ when: isJudge, answer: judgement(true) }, { answer: { text: 'It is 42.' } }]);
  const path = file({ nodes: { first: { ask: 'A {{input}}' }, second: { ask: 'B {{first}}' } }, output: 'second' });
  const { rows } = await claw.op('pipeline.compare', { text: 'How much?', with: [path, 'agent:main'], rubric: 'It says the total' });
  expect(rows.map(({ status, steps, calls, quality }) => [status, steps, calls, quality])).toEqual([
    ['done', 2, 2, 1],
    ['done', 1, 1, 1],
  ]);
  await home.close(claw);
});

test('a comparison reports a failure with its reason, and the others still run', async () => {
  const judges: Rule = { when: isJudge, answer: judgement(true) };
  const claw = await open([judges, { times: 1, answer: { refuse: 'rejected', message: 'too small' } }, { answer: { text: 'It is 42.' } }]);
  const compare = (names: string[]) => claw.op('pipeline.compare', { text: 'How much?', with: names });
  const { rows } = await compare(['agent:main', 'agent:main']);
  expect(rows.map(({ status, reason, error }) => [status, reason, error?.code])).toEqual([
    ['failed', expect.stringContaining('too small'), 'model_rejected'],
    ['done', '', undefined],
  ]);
  const asked = model.requests.length;
  await expect(compare(['agent:main', 'nowhere/small'])).rejects.toMatchObject({ code: 'model_unknown' });
  expect(model.requests.length).toBe(asked);
  await home.close(claw);
});

test.each<[string, object, string]>([
  ['a circle', { nodes: { a: { ask: 'x', after: ['b'] }, b: { ask: 'y', after: ['a'] } }, output: 'a' }, 'a waits for itself'],
  ['an unknown node', { nodes: { a: { ask: 'x', after: ['c'] } }, output: 'a' }, 'a names c, which is not a node'],
  ['a slot that nothing fills', { nodes: { a: { ask: '{{c}}' } }, output: 'a' }, 'a names c, which is not a node'],
  ['no such output', { nodes: { a: { ask: 'x' } }, output: 'z' }, 'output names z'],
  ['an unknown key', { nodes: { a: { aks: 'x' } }, output: 'a' }, 'nodes'],
])('a file with %s is rejected before anything runs', async (_what, wrong, why) => {
  const claw = await open([]);
  await expect(claw.op('pipeline.run', { pipeline: file(wrong), text: 'x' })).rejects.toMatchObject({
    code: 'invalid_params',
    message: expect.stringContaining(why) as unknown,
  });
  expect((await claw.op('pipeline.list', {})).pipelines).toEqual([]);
  await home.close(claw);
});

test('a run whose turn the panic stop ended says so at once', async () => {
  const claw = await open([{ answer: { silent: true } }]);
  const begun = await claw.op('pipeline.run', { pipeline: file(graph), text: 'How much?', wait: false });
  await until(() => model.requests.length === 1, 'the model is asked');
  await claw.op('panic.engage', {});
  const get = () => claw.op('pipeline.get', { pipelineId: begun.pipelineId });
  await until(async () => (await get()).status !== 'running', 'the run has ended');
  const reason = 'The node plan failed: The turn ended: stopped by the panic stop.';
  expect(await get()).toMatchObject({ status: 'failed', reason, error: { code: 'panic_engaged' } });
  await home.close(claw);
});

test('a run says which budget ended its turn, and how to allow more', async () => {
  const claw = await home.open({ config: { ...model.config('openai'), budget: { perDayTokens: 1 } } });
  const poor = await claw.op('pipeline.run', { pipeline: file(graph), text: 'How much?' });
  expect(poor).toMatchObject({ status: 'failed', error: { code: 'over_budget', hint: expect.stringContaining('budget allow') } });
  const work = await claw.op('work.run', { task: { goal: 'Say hello', criteria: [{ contains: 'hello' }] } });
  expect(work).toMatchObject({ status: 'fail', reason: 'The turn ended: over its budget.', error: { code: 'over_budget' } });
  await home.close(claw);
});

test('a run that waits for an approval continues after a panic stop', async () => {
  const claw = await open([
    { user: /^WRITE/, results: 0, answer: { calls: [{ tool: 'write_file', args: { path: 'total.txt', content: '42' } }] } },
    { answer: { text: 'Done.' } },
  ]);
  const waiting = await claw.op('pipeline.run', { pipeline: file({ nodes: { write: { ask: 'WRITE' } }, output: 'write' }), text: 'Go' });
  expect(waiting.status).toBe('waiting');
  const { pipelineId } = waiting;
  await claw.op('panic.engage', {});
  await expect(claw.op('pipeline.wait', { pipelineId })).rejects.toMatchObject({ code: 'panic_engaged' });
  await claw.op('panic.release', {});
  const status = async () => (await claw.op('pipeline.get', { pipelineId })).status;
  await until(async () => (await status()) === 'waiting', 'the run waits again');
  await claw.op('approval.decide', { approvalId: waiting.waitsFor[0]?.approvalId ?? '', decision: 'approve', scope: { kind: 'once' } });
  await until(async () => (await status()) === 'done', 'the run is done');
  await home.close(claw);
});
