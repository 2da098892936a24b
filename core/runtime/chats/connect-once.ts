// Connects a chat service once, without the rest of the program, to test its settings. Reads no messages, accepts none, and answers none.

import type * as z from 'zod';
import type { ChannelTrial, ChatDesk, ChatLine, ChatService, ResolveSecret } from '../../contracts/channels.ts';
import { AppError } from '../../contracts/errors.ts';

/** Tests the settings of a chat service by connecting with them once. */
export function trialOf<Settings>(
  channel: string,
  schema: z.ZodType<Settings>,
  serviceOf: (settings: Settings, resolve: ResolveSecret) => ChatService,
): ChannelTrial {
  return {
    channel,
    settings: schema,
    connect: (given, resolve, signal) => connectOnce(serviceOf(schema.parse(given), resolve), signal),
  };
}

/** Resolves to the agent's name at the service, after it has disconnected. Rejects with the reason if it could not connect. */
async function connectOnce(service: Pick<ChatService, 'run' | 'title'>, signal: AbortSignal): Promise<string> {
  const { promise: connected, resolve, reject } = Promise.withResolvers<ChatLine>();
  const ending = new AbortController();
  const refuse = (): Promise<never> => Promise.reject(new AppError('shutting_down', 'This connection is a test.'));
  const desk: ChatDesk = {
    online: resolve,
    offline: (problem) => reject(new AppError('fetch_failed', problem, { hint: '' })),
    knows: () => false,
    take: refuse,
    stopFirst: () => false,
    press: refuse,
    note: () => null,
    setNote: () => undefined,
    readFile: () => null,
  };
  const ended = service
    .run(desk, AbortSignal.any([signal, ending.signal]))
    .then(() => reject(new AppError('fetch_failed', `${service.title} did not answer in time.`, { hint: '' })), reject);
  try {
    const line = await connected;
    await line.verify?.();
    return line.me;
  } finally {
    ending.abort();
    await ended;
  }
}
