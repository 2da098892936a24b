// Checks that a named thing exists, for every kind that a schema can name. Used where a name enters: in an operation, or in a call of a tool.

import { configSchema, type Config } from './contracts/config.ts';
import { noSession, noSuch, noTurn } from './contracts/errors.ts';
import { systemSessionId } from './contracts/events.ts';
import type { NameChecks } from './contracts/named-things.ts';
import { assertKnownAgent } from './agent/registry/registry.ts';
import type { ModelRouter } from './mind/llm/llm.ts';
import type { ChatRows, Outbox } from './runtime/outbox/outbox.ts';
import type { SessionLog } from './store/session/session.ts';

interface Checked {
  readonly log: SessionLog;
  readonly config: Config;
  readonly models: Pick<ModelRouter, 'assertKnown' | 'list'>;
  readonly chats: Pick<ChatRows, 'chat' | 'chats'>;
  readonly outbox: Pick<Outbox, 'channels'>;
}

const CHATS_MAX = 200;
const builtInChannels = Object.keys(configSchema.shape.channels.unwrap().shape);

/** Takes the check of a tool's name last: the host of tools has it, and is itself made with these checks. */
export function createNameChecks({ log, config, models, chats, outbox }: Checked): (assertTool: (name: string) => void) => NameChecks {
  return (assertTool) => ({
    session: (sessionId) => {
      if (sessionId !== systemSessionId && log.index.session(sessionId) === null) throw noSession(sessionId);
    },
    turn: (turnId) => {
      if (log.index.turn(turnId) === null) throw noTurn(turnId);
    },
    agent: (agentId) => assertKnownAgent(config.agents, agentId),
    model: (ref) => models.assertKnown(ref),
    provider: (name) => {
      const known = [...new Set([...Object.keys(config.providers), ...models.list().models.map(({ provider }) => provider)])];
      if (!known.includes(name)) throw noSuch('provider', name, known, 'See: trayclaw models');
    },
    tool: (name) => {
      // The tools of a server come and go with it.
      const [server = '', ofServer] = name.split('__');
      if (ofServer === undefined || !Object.hasOwn(config.mcp.servers, server)) assertTool(name);
    },
    channel: (name) => {
      // The chats of a channel that was removed are still listed.
      if (chats.chats({ channel: name, limit: 1 }).length > 0) return;
      const known = [...new Set([...builtInChannels, ...outbox.channels])];
      if (!known.includes(name)) throw noSuch('channel', name, known, `There are: ${known.join(', ')}.`);
    },
    chat: (to) => {
      const [channel = '', chatId = '', threadId] = to.split(':');
      if (chats.chat({ channel, chatId, ...(threadId === undefined ? {} : { threadId }) }) !== null) return;
      const known = chats.chats({ limit: CHATS_MAX }).map((chat) => `${chat.channel}:${chat.chatId}`);
      const hint = 'Name one as channel:chat, such as telegram:42, or last for the one used last. See: trayclaw chats list';
      throw noSuch('chat', to, known, hint);
    },
  });
}
