// Rejects unknown options of the library's methods, so that a typo is not silently ignored. The compiler checks each list against the type
// of its options.

import { AppError } from '../../contracts/errors.ts';
import type { EventsQuery } from '../../contracts/claw.ts';
import type {
  AgentOptions,
  AgentSessionOptions,
  AskOptions,
  ReceiveOptions,
  RunOptions,
  TrayClawOptions,
} from '../../contracts/library.ts';

type Names<T> = Readonly<Record<keyof T, true>>;

const run: Names<RunOptions> = { signal: true };
const ask: Names<AskOptions> = { ...run, sessionId: true, agentId: true, onText: true };
const agent: Names<AgentOptions> = { agentId: true, model: true, onApproval: true };
const session: Names<AgentSessionOptions> = { sessionId: true };
const receive: Names<ReceiveOptions> = { after: true, signal: true };
const events: Names<EventsQuery> = { after: true, sessionId: true, signal: true };
const createTrayClaw: Names<TrayClawOptions> = {
  home: true,
  config: true,
  tools: true,
  features: true,
  channels: true,
  hooks: true,
  memoryExtractor: true,
  memoryResolver: true,
  memorySources: true,
  knowledgeResolvers: true,
  prompts: true,
  resume: true,
  clock: true,
  logger: true,
  environment: true,
};
const known = { createTrayClaw, events, ask, agent, run, stream: run, session, receive };

/** A program without types may leave it out. Fails with invalid_params. */
export function assertHome(options: Partial<TrayClawOptions> | undefined): void {
  if (typeof options?.home === 'string' && options.home !== '') return;
  const hint = "Name the data folder: createTrayClaw({ home: 'claw-data' }).";
  throw new AppError('invalid_params', 'createTrayClaw needs home, the path of a folder.', { hint });
}

/** `more` contains options that only this project's own programs pass. Fails with invalid_params. */
export function assertKnownOptions(method: keyof typeof known, options: object | undefined, more: object = {}): void {
  const unknown = Object.keys(options ?? {}).find((name) => !Object.hasOwn(known[method], name) && !Object.hasOwn(more, name));
  if (unknown === undefined) return;
  const hint = `It takes ${Object.keys(known[method]).join(', ')}.`;
  throw new AppError('invalid_params', `${method} has no option ${unknown}.`, { hint });
}
