// The caller of an operation that a person requests over a chat.

import { doors, type DoorName } from '../../contracts/doors.ts';
import type { Caller } from '../../contracts/ops.ts';

/** A service that is not a door itself uses the common door of all chats. */
export function callerOf(channel: string, userId: string): Caller {
  const isDoor = Object.hasOwn(doors, channel) && !doors[channel as DoorName].isHere;
  return { channel: isDoor ? (channel as DoorName) : 'chat', actor: `${channel}:${userId}` };
}
