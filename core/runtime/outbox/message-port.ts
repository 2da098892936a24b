// The chats and the outbox as the message tool uses them.

import type { ChatAddress } from '../../contracts/channels.ts';
import type { MessagePort } from '../../hands/tools/tools.ts';
import type { ChatRows } from './chat-rows.ts';

export function createMessagePort(
  outbox: Pick<MessagePort, 'queue'>,
  chats: ChatRows,
  describeArtifact: MessagePort['describeArtifact'],
): MessagePort {
  return {
    titleOf: (chat) => chats.chat(chat)?.title ?? null,
    ofTurn: (turnId) => chats.ofTurn(turnId)?.chat ?? null,
    ofSession: (sessionId) => chats.ofSession(sessionId),
    lastUsed: (channel) => {
      const [last] = chats.chats({ channel, limit: 1 });
      return last === undefined ? null : addressOf(last);
    },
    describeArtifact,
    queue: (item) => outbox.queue(item),
  };
}

function addressOf({ channel, chatId, threadId }: ChatAddress): ChatAddress {
  return { channel, chatId, ...(threadId === undefined ? {} : { threadId }) };
}
