// Work with criteria in the whole program: rules, commands behind the gate, judges that can be fooled, people, candidates in copies of the
// workspace, and restarts at every step.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ConfigInput } from '../../core/contracts/config.ts';
import type { AnyEvent } from '../../core/contracts/events.ts';
import type { WorkFile, WorkView } from '../../core/contracts/features/work.ts';
import type { Plugin, TrayClaw } from '../../core/index.ts';
import type { Rule, ScriptedModel } from '../doubles/scripted-model.ts';
import { eachTest } from '../faults/home-and-model.ts';
import type { TestHome } from '../faults/test-home.ts';

let home: TestHome;
let model: ScriptedModel;

eachTest((made) => ({ home, model } = made));

const mayWrite: ConfigInput = {
  policy: { rules: [{ when: { tools: ['write_file', 'merge_copy', 'exec'] }, then: 'allow' }] },
  sandbox: { mode: 'off' },
};
const workspace = (): string => join(home.path, 'workspace');
const write = (path: string, content: string) => ({ calls: [{ tool: 'write_file', args: { path, content } }] });

function open(rules: readonly Rule[], config: ConfigInput = mayWrite): Promise<TrayClaw> {
  model.script(rules);
  return home.open({ config: { ...config, ...model.config('openai') } });
}

async function eventsOf(claw: TrayClaw, sessionId: string): Promise<readonly AnyEvent[]> {
  return (await claw.op('session.get', { sessionId, limit: 200 })).events as readonly AnyEvent[];
}

const run = (claw: TrayClaw, task: Partial<WorkFile> & { goal: string }): Promise<WorkView> => claw.op('work.run', { task });
const verdictsOf = ({ criteria }: WorkView): string[] => criteria.map(({ verdict }) => verdict);

/** A judgement in the form that the judge is asked for. */
const judgement = (met: boolean, quote: string) => ({ text: JSON.stringify({ points: [{ met, quote, why: 'Because.' }] }) });
const asksJudge = (request: { system?: string }): boolean => JSON.stringify(request).includes('You check a piece of work');

test('a task passes by rules, with the evidence, and each verdict is an event', async () => {
  const claw = await open([{ times: 1, answer: write('report.md', 'Total: 42\n') }, { answer: { text: '{"total":42}' } }]);
  const done = await run(claw, {
    goal: 'Write report.md',
    criteria: [
      { file: 'report.md' },
      { contains: '42' },
      { contains: 'Total', in: 'report.md' },
      { schema: { type: 'object', required: ['total'] } },
      { command: 'grep -q 42 report.md' },
    ],
  });
  expect([done.status, done.attempts, verdictsOf(done)]).toEqual(['pass', 1, ['pass', 'pass', 'pass', 'pass', 'pass']]);
  expect(done.criteria[0]).toMatchObject({ text: 'the file report.md exists', evidence: 'report.md has 10 bytes.' });
  const { events } = await claw.op('session.get', { sessionId: done.sessionId, limit: 200 });
  expect(events.filter(({ type }) => type === 'work.checked')).toHaveLength(5);
  await home.close(claw);
});

test('a failed attempt goes back to the agent, a limited number of times', async () => {
  const claw = await open([{ times: 1, answer: { text: 'The total is 41.' } }, { answer: { text: 'The total is 42.' } }]);
  const done = await run(claw, { goal: 'Say the total', criteria: [{ contains: '42' }] });
  expect([done.status, done.attempts, done.text]).toEqual(['pass', 2, 'The total is 42.']);
  expect(JSON.stringify(model.requests[1])).toContain('\\"42\\" is not in it.');
  model.script([{ answer: { text: 'No idea.' } }]);
  const failed = await run(claw, { goal: 'Say the total', criteria: [{ contains: '42' }], strategy: { kind: 'evaluate', tries: 3 } });
  expect([failed.status, failed.attempts, failed.reason]).toEqual(['fail', 3, 'Not every criterion is met after 3 attempts.']);
  // The log agrees afterwards.
  expect(await claw.op('work.get', { taskId: 'last' })).toEqual(failed);
  await home.close(claw);
});

test('a command needs approval like any other, and the work waits for it', async () => {
  const claw = await open([{ answer: { text: 'Done.' } }], { sandbox: { mode: 'off' } });
  const asked = await run(claw, { goal: 'Check', criteria: [{ command: 'touch ran.txt' }] });
  expect([asked.status, asked.waitsFor.length, existsSync(join(workspace(), 'ran.txt'))]).toEqual(['waiting', 1, false]);
  await claw.op('approval.decide', { approvalId: asked.waitsFor[0]?.approvalId ?? '', decision: 'approve' });
  expect(await claw.op('work.wait', { taskId: asked.taskId })).toMatchObject({ status: 'pass' });
  expect(existsSync(join(workspace(), 'ran.txt'))).toBe(true);
  await home.close(claw);
});

test.each([
  ['an honest quotation', judgement(true, 'Paris is the capital of France.'), 'pass', 'pass'],
  ['praise of the work for itself', judgement(true, 'This answer is fully correct.'), 'fail', 'fail'],
  ['what the work does not say', judgement(true, 'Berlin'), 'fail', 'fail'],
  ['no quotation', judgement(true, ''), 'fail', 'fail'],
  ['words', { text: 'Looks great, PASS!' }, 'fail', 'error'],
] as const)('a judge that gives %s', async (_what, said, status, verdict) => {
  const claw = await open([
    { when: asksJudge, answer: said },
    { answer: { text: 'Paris is the capital of France. This answer is fully correct.' } },
  ]);
  const done = await run(claw, { goal: 'Name the capital', criteria: [{ judge: 'It names the capital of France' }], strategy: 'single' });
  expect([done.status, verdictsOf(done)]).toEqual([status, [verdict]]);
  const { rows } = await claw.op('usage.get', { by: 'model' });
  expect(rows.reduce((sum, row) => sum + row.modelCalls, 0)).toBe(2);
  await home.close(claw);
});

test('a person has the last word, and a restart in between loses nothing', async () => {
  let claw = await open([{ answer: { text: 'A poem.' } }]);
  const asked = await run(claw, { goal: 'Write a poem', criteria: [{ contains: 'poem' }], strategy: 'human-gate' });
  expect([asked.status, verdictsOf(asked)]).toEqual(['waiting', ['pass', 'waiting']]);
  await home.close(claw);
  claw = await open([{ answer: { text: 'A longer poem.' } }]);
  const again = await claw.op('work.decide', { taskId: asked.taskId, verdict: 'fail', note: 'Longer.' });
  expect([again.status, again.attempts]).toEqual(['waiting', 2]);
  expect(JSON.stringify(model.requests.at(-1))).toContain('Longer.');
  expect(await claw.op('work.decide', { taskId: asked.taskId, verdict: 'pass' })).toMatchObject({ status: 'pass', text: 'A longer poem.' });
  await home.close(claw);
});

test('one of three candidates is merged unchanged, and the copies are removed', async () => {
  mkdirSync(workspace(), { recursive: true });
  writeFileSync(join(workspace(), 'old.txt'), 'old');
  const letters = ['a', 'b', 'c'];
  const claw = await open([
    { when: (request) => JSON.stringify(request).includes('under a letter'), answer: { text: '{"best":"B","reason":"Shorter."}' } },
    ...letters.map((letter): Rule => ({ times: 1, results: 0, answer: write('result.txt', letter) })),
    { answer: { text: 'Written.' } },
  ]);
  const done = await run(claw, { goal: 'Write result.txt', criteria: [{ file: 'result.txt' }], strategy: 'candidates' });
  expect([done.reason, done.status, done.chosen]).toEqual(['Candidate 2 was chosen and merged.', 'pass', 2]);
  const events = await eventsOf(claw, done.sessionId);
  const folders = events.flatMap((event) => (event.type === 'work.copied' ? [event.body.folder] : []));
  expect([folders.length, folders.filter((folder) => existsSync(folder))]).toEqual([3, []]);
  const second = done.candidates[1]?.sessionId ?? '';
  const written = (await eventsOf(claw, second)).flatMap((event) => (event.type === 'tool.requested' ? [event.body.args] : []));
  expect(written[0]).toContain(readFileSync(join(workspace(), 'result.txt'), 'utf8'));
  expect(readFileSync(join(workspace(), 'old.txt'), 'utf8')).toBe('old');
  expect((await claw.op('grant.list', {})).grants.filter(({ match }) => match.kind === 'workspace')).toEqual([]);
  await home.close(claw);
});

test('work interrupted after any event ends the same, and no command runs twice', async () => {
  for (let events = 1; events < 40; events += 3) {
    let claw = await open([{ times: 1, answer: { text: 'Not yet.' } }, { answer: { text: 'Done: 42.' } }]);
    const log = `runs-${events}.txt`;
    const task = { goal: 'Say 42', criteria: [{ contains: '42' }, { command: `echo ran >> ${log}` }] };
    const stop = new AbortController();
    const seen = claw.events({ after: 'latest', signal: stop.signal })[Symbol.asyncIterator]();
    const { taskId } = await claw.op('work.run', { task, wait: false });
    for (let count = 0; count < events; count++) {
      const next = await seen.next();
      if (next.done === true || next.value.type === 'work.finished') break;
    }
    stop.abort();
    await home.close(claw);
    claw = await home.open({ config: { ...mayWrite, ...model.config('openai') } });
    const done = await claw.op('work.wait', { taskId });
    const ran = readFileSync(join(workspace(), log), 'utf8');
    expect([events, done.status, done.attempts, ran]).toEqual([events, 'pass', 2, 'ran\nran\n']);
    await home.close(claw);
  }
});

test('a schedule starts a task with criteria, once per due time, with narrower limits', async () => {
  let claw = await open([{ times: 1, answer: write('report.md', 'x') }, { answer: { text: 'Written.' } }]);
  const file = join(home.project(), 'task.yaml');
  writeFileSync(file, 'goal: Write report.md\ncriteria: [{ file: report.md }]\nbudget: { usd: 2 }\n');
  await home.close(claw);
  const added = await home.command(['schedule', 'task', file, '--at', '2099-01-01T00:00', '--tools', 'write_file', '--usd', '0.2']);
  expect([added.stderr, added.json]).toMatchObject([
    '',
    { name: 'task.yaml', prompt: 'Write report.md', task: { criteria: [{ file: 'report.md' }] } },
  ]);
  const { scheduleId } = added.json as { scheduleId: string };
  claw = await home.open({ config: { ...mayWrite, ...model.config('openai') } });
  await expect(claw.op('schedule.update', { scheduleId, prompt: 'Something else', file })).rejects.toMatchObject({
    code: 'invalid_params',
  });
  const { turnId: taskId } = await claw.op('schedule.run', { scheduleId });
  // Its calls need approval: grants and rules do not apply to an unattended turn without `grants`.
  const asked = await claw.op('work.wait', { taskId });
  expect([asked.status, asked.waitsFor.length]).toEqual(['waiting', 1]);
  await claw.op('approval.decide', { approvalId: asked.waitsFor[0]?.approvalId ?? '', decision: 'approve' });
  expect(await claw.op('work.wait', { taskId })).toMatchObject({ status: 'pass', strategy: 'single' });
  const { last } = await claw.op('schedule.get', { scheduleId });
  expect(last).toMatchObject([{ disposition: 'run', taskId, status: 'pass' }]);
  const started = (await eventsOf(claw, `work-${taskId}`)).find(({ type }) => type === 'work.started');
  expect(started?.body).toMatchObject({
    by: `schedule ${scheduleId}`,
    plan: { usd: 0.2, bounds: { tools: ['write_file'], grants: false } },
  });
  await home.close(claw);
});

test("a feature's strategy decides how often, but cannot pass an unmet criterion", async () => {
  const sample = new URL('../../examples/shortest/shortest.mjs', import.meta.url);
  const { feature } = (await import(sample.href)) as { feature: Plugin };
  model.script(['No.', 'The total is 42, as you asked.', 'It is 42.', 'I say it is 42.'].map((text) => ({ times: 1, answer: { text } })));
  const claw = await home.open({ config: { ...mayWrite, ...model.config('openai') }, features: [feature] });
  const strategy = { kind: 'custom', name: 'shortest', tries: 6 } as const;
  const done = await run(claw, { goal: 'Say the total', criteria: [{ contains: '42' }], strategy });
  expect([done.status, done.strategy, done.attempts, done.text]).toEqual(['pass', 'custom', 4, 'I say it is 42.']);
  expect(JSON.stringify(model.requests[2])).toContain('in fewer words');
  model.script([{ answer: { text: 'No.' } }]);
  const failed = await run(claw, { goal: 'Say the total', criteria: [{ contains: '42' }], strategy: { ...strategy, tries: 2 } });
  expect([failed.status, failed.attempts]).toEqual(['fail', 2]);
  await expect(run(claw, { goal: 'x', criteria: [{ contains: 'x' }], strategy: { kind: 'custom', name: 'none' } })).rejects.toMatchObject({
    code: 'not_found',
  });
  await home.close(claw);
});

test.each<[string, Record<string, unknown>, string]>([
  ['no criterion', { goal: 'x' }, 'names no criterion'],
  ['an unknown key', { goal: 'x', criteria: [{ fiel: 'a' }] }, 'criteria'],
  ['no goal', { criteria: [{ file: 'a' }] }, 'goal'],
])('a task with %s is rejected before anything runs', async (_what, task, why) => {
  const claw = await open([]);
  await expect(claw.op('work.run', { task: task as unknown as WorkFile })).rejects.toMatchObject({
    code: 'invalid_params',
    message: expect.stringContaining(why) as unknown,
  });
  expect([(await claw.op('work.list', {})).work, model.requests.length]).toEqual([[], 0]);
  await home.close(claw);
});
