// The advice of a failure, for people at the window: where a command of the terminal is the advice, the place that does the same. Pure.

import type { ViewName } from '../../core/contracts/views.ts';

export type AdvisedPlace = readonly [view: ViewName, section?: string];

const models: AdvisedPlace = ['settings', 'models'];
const channels: AdvisedPlace = ['settings', 'channels'];
const unfinished: AdvisedPlace = ['health', 'unfinished'];
const agents: AdvisedPlace = ['agents'];
const memory: AdvisedPlace = ['memory'];
const approvals: AdvisedPlace = ['approvals'];

/** By the first word of a command. Other commands exist only in the terminal. */
export const advisedPlaces: Readonly<Record<string, AdvisedPlace>> = {
  setup: models,
  model: models,
  models,
  secret: ['settings', 'secrets'],
  config: ['settings'],
  budget: ['settings', 'budget'],
  mcp: ['settings', 'mcp'],
  doors: ['settings', 'doors'],
  a2a: ['settings', 'a2a'],
  channels,
  chats: channels,
  telegram: channels,
  skills: ['skills'],
  identity: agents,
  prompts: agents,
  rules: agents,
  memory,
  knowledge: memory,
  schedule: ['schedules'],
  heartbeat: ['schedules'],
  dlq: unfinished,
  outbox: unfinished,
  doctor: ['health'],
  audit: ['health'],
  backup: ['health'],
  sandbox: ['health'],
  approvals,
  outcomes: approvals,
  work: ['running', 'tasks'],
  pipeline: ['running', 'pipelines'],
  eval: ['running', 'evals'],
};

/** The place is null if there is none, or if a part of the advice can only be followed in the terminal. A command at the end is left out. */
export function adviceOf(hint: string): { readonly text: string; readonly place: AdvisedPlace | null } {
  const found = [...hint.matchAll(/\btrayclaw ([a-z0-9]+)/g)].map(([, verb = '']) =>
    Object.hasOwn(advisedPlaces, verb) ? advisedPlaces[verb] : undefined,
  );
  const place = found.at(-1) ?? null;
  if (place === null || found.includes(undefined)) return { text: hint, place: null };
  const [, head] = /^(.+?)(?: with)?: trayclaw (?!.*[.,;)] ).*$/.exec(hint) ?? [];
  if (head === undefined) return { text: hint, place };
  return { text: head.includes(' ') ? `${head}.` : '', place };
}
