// Kills of the NATS server of a group while two nodes assign each other work over it: every task has one turn on one node, every answer
// arrives once, no effect happens twice, and nothing stays in the queue. Few kills in every run, many in the long one.

import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '@nats-io/transport-node';
import { jetstreamManager } from '@nats-io/jetstream';
import { expect, test, vi } from 'vitest';
import * as z from 'zod';
import type { AnyEvent } from '../../core/contracts/events.ts';
import { defineTool } from '../../core/index.ts';
import { NatsServer } from '../doubles/nats/nats-server.ts';
import { ScriptedModel, type Answer, type Rule } from '../doubles/scripted-model.ts';
import { createRandom } from '../fuzz/random.ts';
import { needs } from '../needs.ts';
import { bodies, call, eventsOf, help } from '../program/helper-rig.ts';
import { soak } from '../soak.ts';
import { TestHome } from './test-home.ts';

const KILLS = soak(3, 200);
const JOBS_AT_ONCE = 2;
/** The states of a task: its caller submits it, its node begins it, works on it, ends it, and the caller has its answer. */
const places = ['asked', 'begun', 'worked', 'ended', 'heard'] as const;
type Place = (typeof places)[number];

/** Resolves when the tasks of one round have reached a state the given number of times. */
class Passing {
  readonly reached = Promise.withResolvers<void>();
  readonly #place: Place;
  #left: number;

  constructor(place: Place, nth: number) {
    this.#place = place;
    this.#left = nth;
  }

  at(place: Place): void {
    if (place === this.#place && --this.#left === 0) this.reached.resolve();
  }
}

/** The number of tasks that no node has taken, and of tasks taken but not acknowledged. */
async function waitingOn(server: NatsServer): Promise<readonly number[]> {
  const connection = await connect({ servers: `127.0.0.1:${server.port}` });
  try {
    const manager = await jetstreamManager(connection);
    const { num_pending, num_ack_pending } = await manager.consumers.info('TRAYCLAW_trayclaw_JOBS', 'agent-main');
    return [num_pending, num_ack_pending];
  } finally {
    await connection.close();
  }
}

/** The message id of a task that a node took from the group; empty for any other event. */
function tasksTaken(event: AnyEvent): string[] {
  return bodies([event], 'user.message').flatMap(({ dedupeKey }) => (dedupeKey?.startsWith('group:') === true ? [dedupeKey] : []));
}

test(
  `${KILLS} kills of the NATS server of two nodes lose no task and run none twice`,
  { ...needs('nats-server'), timeout: 60_000 + KILLS * 20_000 },
  async () => {
    const random = createRandom(Number(process.env['TRAYCLAW_SEED'] ?? 17));
    const [server, model, homes] = [await NatsServer.start(), await ScriptedModel.start(), [new TestHome(), new TestHome()]];
    let passing = new Passing('heard', 1);
    const effects: string[] = [];
    const note = defineTool({
      name: 'note',
      description: 'Adds a line to the ledger.',
      input: z.strictObject({ who: z.string() }),
      class: 'read',
      idempotency: () => 'idempotent',
      facts: () => ({ class: 'read', paths: [], command: null, hosts: [] }),
      summarize: ({ who }) => `note ${who}`,
      run: ({ who }) => {
        effects.push(who);
        passing.at('worked');
        return Promise.resolve({ forModel: 'noted' });
      },
    });
    const at =
      (place: Place, answer: Exclude<Rule['answer'], Answer>): Rule['answer'] =>
      (request) => {
        passing.at(place);
        return answer(request);
      };
    try {
      model.script([
        {
          user: /^Far/,
          results: 0,
          answer: at('begun', ({ userText }) => ({ calls: [call('note', { who: userText.split('\n')[0] ?? '' })] })),
        },
        { user: /^Far/, answer: at('ended', () => ({ text: 'far done' })) },
        { user: /^job/, results: 0, answer: at('asked', ({ userText }) => ({ calls: [help(`Far ${userText}`)] })) },
        { user: /^job/, answer: at('heard', ({ toolResults }) => ({ text: `heard ${toolResults.at(-1)?.text ?? ''}` })) },
      ]);
      const nats = { servers: `127.0.0.1:${server.port}`, ackSeconds: 1 };
      const config = { ...model.config('openai'), a2a: { transport: 'nats' as const, nats } };
      const nodes = await Promise.all(homes.map((home) => home.open({ config, tools: [note] })));
      const said: string[] = [];
      let kills = 0;
      while (kills < KILLS) {
        passing = new Passing(random.pick(places), 1 + random.below(JOBS_AT_ONCE * nodes.length));
        let open = 0;
        const round = Promise.all(
          nodes.flatMap((node) =>
            Array.from({ length: JOBS_AT_ONCE }, async () => {
              const job = said.push('') - 1;
              open += 1;
              const { status, text } = await node.ask(`job ${job}`, { sessionId: `jobs-${job}` });
              open -= 1;
              said[job] = `${status}: ${text}`;
            }),
          ),
        );
        await passing.reached.promise;
        // Up to three kills during the round: the server is away for a moment, and back before a caller gives up.
        for (let again = 0; again < 3 && open > 0 && kills < KILLS; again += 1) {
          await sleep(random.below(30));
          if (open === 0) break;
          await server.kill();
          kills += 1;
          await sleep(random.below(400));
          await server.run();
          await sleep(random.below(1500));
        }
        await round;
      }
      expect(said).toEqual(said.map(() => 'done: heard far done'));
      await vi.waitFor(async () => expect(await waitingOn(server)).toEqual([0, 0]), { timeout: 30_000, interval: 200 });
      const records = await Promise.all(nodes.map((node) => eventsOf(node)));
      const events = records.flat();
      expect(bodies(events, 'a2a.finished').map(({ status }) => status)).toEqual(said.map(() => 'done'));
      const tasks = events.flatMap(tasksTaken);
      expect([tasks.length, new Set(tasks).size]).toEqual([said.length, said.length]);
      expect([effects.length, new Set(effects).size]).toEqual([said.length, said.length]);
      expect(bodies(events, 'turn.finished').filter(({ status }) => status !== 'done')).toEqual([]);
      const replays = await Promise.all(homes.map((home, which) => home.close(nodes[which] as (typeof nodes)[number])));
      expect(replays.flatMap(({ different }) => different)).toEqual([]);
      const perNode = records.map((one) => one.flatMap(tasksTaken).length);
      if (KILLS > 3) process.stdout.write(`${JSON.stringify({ kills, jobs: said.length, perNode, effects: effects.length })}\n`);
    } finally {
      for (const home of homes) await home.dispose();
      await model.close();
      await server.dispose();
    }
  },
);
