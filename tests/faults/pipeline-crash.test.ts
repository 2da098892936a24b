// Kills of a program in the middle of a pipeline: every run ends with the same answer, no node ends twice, and no effect of a node has two
// keys. Few kills in every run, many in the long one.

import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { ScriptedModel, type Rule } from '../doubles/scripted-model.ts';
import { createRandom } from '../fuzz/random.ts';
import { bodies, call, eventsOf } from '../program/helper-rig.ts';
import { onBuiltCore } from '../program-file.ts';
import { soak } from '../soak.ts';
import { TestHome } from './test-home.ts';

const KILLS = soak(3, 100);
const KILLS_OF_ONE_RUN = 4;
const child = fileURLToPath(new URL('pipeline-crash-child.ts', import.meta.url));
const points = ['accepted', 'before-request', 'after-request', 'after-effect', 'after-result'];
const graph = {
  nodes: {
    plan: { ask: 'PLAN {{input}}' },
    research: { ask: 'RESEARCH {{input}} {{plan}}' },
    calculate: { ask: 'CALCULATE {{input}} {{plan}}' },
    write: { ask: 'WRITE {{input}} {{research}} {{calculate}}' },
    review: { review: 'write', rubric: 'It says the total', redo: ['write'], times: 2 },
  },
  output: 'write',
};

const isJudge = (request: unknown): boolean => JSON.stringify(request).includes('You check a piece of work');
const judgement = (met: boolean) => ({ text: JSON.stringify({ points: [{ met, quote: met ? '42' : '', why: 'So.' }] }) });
const noteOf = (node: string): Rule => ({
  user: new RegExp(`^${node}`),
  results: 0,
  answer: ({ userText }) => ({ calls: [call('note', { who: `${/job-\d+/.exec(userText)?.[0] ?? ''} ${node} ${isRedo(userText)}` })] }),
});
const isRedo = (text: string): string => (text.includes('not met') ? 'again' : 'first');

function rules(onRequest: () => void): Rule[] {
  const told = (): boolean => {
    onRequest();
    return false;
  };
  return [
    { when: told, answer: { text: '' } },
    { when: (request) => isJudge(request) && JSON.stringify(request).includes('It is a lot.'), answer: judgement(false) },
    { when: isJudge, answer: judgement(true) },
    noteOf('RESEARCH'),
    noteOf('CALCULATE'),
    noteOf('WRITE'),
    { user: /^PLAN/, answer: { text: 'look up and calculate' } },
    { user: /^RESEARCH/, answer: { text: 'found 40' } },
    { user: /^CALCULATE/, answer: { text: '40+2' } },
    { user: /not met/, answer: { text: 'The total is 42.' } },
    { user: /^WRITE/, answer: { text: 'It is a lot.' } },
  ];
}

test(
  `${KILLS} kills in the middle of pipelines lose no result and run no effect twice`,
  async () => {
    const home = new TestHome();
    const model = await ScriptedModel.start();
    const random = createRandom(Number(process.env['TRAYCLAW_SEED'] ?? 21));
    let onRequest = (): void => undefined;
    model.script(rules(() => onRequest()));
    home.configure({ ...model.config('openai'), sandbox: { mode: 'off' } });
    const pipeline = join(home.project(), 'pipeline.yaml');
    writeFileSync(pipeline, stringify(graph));
    /** Resolves to true if it was killed: at a named point, or at the nth model request. */
    const run = async (job: number, kills: boolean): Promise<boolean> => {
      const point = kills && random.below(2) === 0 ? random.pick(points) : null;
      const options = { home: home.path, point, nth: 1 + random.below(6), pipeline, job };
      const running = spawn(process.execPath, [...onBuiltCore, child, JSON.stringify(options)], { stdio: ['ignore', 'ignore', 'pipe'] });
      let errors = '';
      running.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
      const delayMs = random.below(3) * 10;
      let left = kills && point === null ? 1 + random.below(8) : 0;
      onRequest = () => {
        left -= 1;
        if (left === 0) setTimeout(() => running.kill('SIGKILL'), delayMs);
      };
      return new Promise((resolve, reject) => {
        running.once('close', (code, signal) => {
          if (signal === 'SIGKILL') resolve(true);
          else if (code === 0) resolve(false);
          else reject(new Error(`It ended with ${code}: ${errors}`));
        });
      });
    };
    try {
      let [kills, jobs] = [0, 0];
      for (; kills < KILLS; jobs += 1) {
        for (let attempt = 0; ; attempt += 1) {
          if (!(await run(jobs, attempt < KILLS_OF_ONE_RUN && kills < KILLS))) break;
          kills += 1;
        }
      }
      const claw = await home.open();
      const { pipelines } = await claw.op('pipeline.list', { limit: 200 });
      expect(pipelines).toHaveLength(jobs);
      const ends = bodies(await eventsOf(claw), 'pipeline.node_finished');
      for (const { pipelineId } of pipelines) {
        const done = await claw.op('pipeline.wait', { pipelineId });
        expect([done.status, done.text, done.quality]).toEqual(['done', 'The total is 42.', 1]);
        const own = ends.filter((one) => one.pipelineId === pipelineId).map(({ node, round }) => `${node} ${round}`);
        expect(own.sort()).toEqual(['calculate 1', 'plan 1', 'research 1', 'review 1', 'review 2', 'write 1', 'write 2']);
      }
      // An interrupted call may run again with its key, but never with another.
      const ledger = readFileSync(join(home.path, '..', 'ledger.txt'), 'utf8')
        .trim()
        .split('\n');
      const effects = [...new Set(ledger)].map((line) => line.split(' ').slice(0, 3).join(' '));
      expect([effects.length, new Set(effects).size]).toEqual([jobs * 4, jobs * 4]);
      expect((await home.close(claw)).different).toEqual([]);
      if (KILLS > 3) process.stdout.write(`${JSON.stringify({ kills, jobs, effects: effects.length, lines: ledger.length })}\n`);
    } finally {
      await home.dispose();
      await model.close();
    }
  },
  60_000 + KILLS * 60_000,
);
