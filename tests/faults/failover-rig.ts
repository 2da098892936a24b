// A whole runtime with routes over scripted model servers. Each case has separate models, so that one that rests after a failure does not
// affect another case. For tests only.

import type { AnyEvent, EventOf } from '../../core/contracts/events.ts';
import type { ConfigInput } from '../../core/contracts/config.ts';
import type { AskResult } from '../../core/contracts/op-results.ts';
import { defineTool, type TrayClaw } from '../../core/index.ts';
import * as z from 'zod';
import { ScriptedModel, type Answer, type ModelRequestSeen } from '../doubles/scripted-model.ts';
import { freePort } from '../free-port.ts';
import { eventsOf } from './replay-check.ts';
import { TestHome } from './test-home.ts';

export type Place = 'a' | 'b' | 'c';

/** A server's answer to a request of a case; `at` counts the requests to that model, from 0. */
export type Script = (request: ModelRequestSeen, at: number) => Answer;

export interface FailoverCase {
  readonly name: string;
  /** In the order of the route. A place without a server refuses connections. */
  readonly candidates: Readonly<Partial<Record<Place, Script | 'refused'>>>;
}

interface Servers {
  readonly byPlace: Readonly<Record<Place, ScriptedModel>>;
  script(cases: readonly FailoverCase[]): void;
  /** The number of requests that a model received. */
  asked(place: Place, caseName: string): number;
  close(): Promise<void>;
}

const places = ['a', 'b', 'c'] as const;

async function startServers(): Promise<Servers> {
  const [a, b, c] = await Promise.all(places.map(() => ScriptedModel.start()));
  if (a === undefined || b === undefined || c === undefined) throw new Error('a server did not start');
  const byPlace = { a, b, c };
  return {
    byPlace,
    script: (cases) => {
      for (const place of places) byPlace[place].script(cases.flatMap((one) => ruleOf(one, place)));
    },
    asked: (place, caseName) => byPlace[place].requests.filter(({ model }) => model === caseName).length,
    close: async () => {
      await Promise.all(places.map((place) => byPlace[place].close()));
    },
  };
}

function ruleOf({ name, candidates }: FailoverCase, place: Place) {
  const script = candidates[place];
  if (script === undefined || script === 'refused') return [];
  let at = 0;
  return [{ when: (request: ModelRequestSeen) => request.model === name, answer: (request: ModelRequestSeen) => script(request, at++) }];
}

/**
 * Each case is an agent whose model is a route of the same name. `closedPort` refuses connections; `silentMs` is how long a server may be
 * silent.
 */
export function configOf(
  servers: Servers,
  cases: readonly FailoverCase[],
  { closedPort, silentMs }: { readonly closedPort: number; readonly silentMs: number },
): ConfigInput {
  const providers: NonNullable<ConfigInput['providers']> = {};
  const routes: NonNullable<NonNullable<ConfigInput['models']>['routes']> = {};
  const agents: NonNullable<ConfigInput['agents']> = {};
  for (const { name, candidates } of cases) {
    const used = places.filter((place) => candidates[place] !== undefined);
    for (const place of used) {
      const origin = candidates[place] === 'refused' ? `http://127.0.0.1:${closedPort}` : servers.byPlace[place].origin;
      providers[`${place}-${name}`] = { kind: 'openai-compatible', baseUrl: `${origin}/v1`, preset: 'openai' };
    }
    routes[name] = { candidates: used.map((place) => `${place}-${name}/${name}`) };
    agents[name] = { model: `route/${name}` };
  }
  return {
    providers,
    agents,
    models: { default: `route/${cases[0]?.name ?? ''}`, routes, retries: 2, timeouts: { firstTokenMs: silentMs, idleMs: silentMs } },
    limits: { parallelTurns: 16 },
    context: { summaries: { mode: 'off' } },
  };
}

export interface FailoverRig {
  readonly servers: Servers;
  readonly claw: TrayClaw;
  readonly effects: Map<string, number>;
  close(): Promise<void>;
}

/** `others` are scripted but not run; they are for a second program. */
export async function openFailover(
  cases: readonly FailoverCase[],
  silentMs: number,
  others: readonly FailoverCase[] = [],
): Promise<FailoverRig> {
  const servers = await startServers();
  servers.script([...cases, ...others]);
  const home = new TestHome();
  const effects = new Map<string, number>();
  const config = configOf(servers, cases, { closedPort: await freePort(), silentMs });
  const claw = await home.open({ config, tools: [effectTool(effects)] });
  return {
    servers,
    claw,
    effects,
    // Replays every turn and compares the decisions.
    close: async () => {
      await home.dispose();
      await servers.close();
    },
  };
}

/** Counts its effects by their argument, so that an effect that ran twice is detected. */
function effectTool(effects: Map<string, number>) {
  return defineTool({
    name: 'mark',
    description: 'Marks a number.',
    class: 'read',
    input: z.strictObject({ n: z.string() }),
    facts: (_args, { workspace }) => ({
      class: 'read',
      paths: [{ given: 'x', real: `${workspace}/x`, access: 'read', insideWorkspace: true, protectedBy: null }],
      command: null,
      hosts: [],
    }),
    summarize: ({ n }) => `mark ${n}`,
    idempotency: () => 'unsafe',
    run: ({ n }) => {
      effects.set(n, (effects.get(n) ?? 0) + 1);
      return Promise.resolve({ outcome: 'ok' as const, forUser: n, forModel: `marked ${n}` });
    },
  });
}

export interface Ended extends AskResult {
  readonly events: readonly AnyEvent[];
}

export async function runCase(claw: TrayClaw, name: string, text: string): Promise<Ended> {
  const result = await claw.ask(text, { agentId: name });
  const events: AnyEvent[] = [];
  for await (const event of eventsOf(claw, result.sessionId)) events.push(event as AnyEvent);
  return { ...result, events };
}

export function bodiesOf<T extends AnyEvent['type']>({ events }: Pick<Ended, 'events'>, type: T): EventOf<T>['body'][] {
  return events.flatMap((event) => (event.type === type ? [event.body as EventOf<T>['body']] : []));
}
