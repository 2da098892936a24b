// A person who asks for something over a chat, as the operations see them.

import { doors, type DoorName } from '../../contracts/doors.ts';
import type { Caller } from '../../contracts/ops.ts';

/** A service without a separate door uses the one of all chats. */
export function callerOf(channel: string, userId: string): Caller {
  const isDoor = Object.hasOwn(doors, channel) && !doors[channel as DoorName].isHere;
  return { channel: isDoor ? (channel as DoorName) : 'chat', actor: `${channel}:${userId}` };
}
