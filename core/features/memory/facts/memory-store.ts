// The memory store that the memory code uses: reads come from the rows, changes go through the log.

import { systemSessionId } from '../../../contracts/events.ts';
import type { SessionLog } from '../../../store/session/session.ts';
import type { MemoryRows } from './memory-rows.ts';
import type { MemoryStore } from './ports.ts';

export function memoryStoreOf(
  memories: MemoryRows,
  log: Pick<SessionLog, 'append' | 'transact'>,
  findMeaning: MemoryStore['findMeaning'],
): MemoryStore {
  return {
    append: (drafts) => void log.append(systemSessionId, drafts),
    transact: (work) => log.transact(work),
    texts: memories.texts,
    find: (memoryId) => memories.find(memoryId),
    at: (rows) => memories.at(rows),
    findSame: (text, scope) => memories.findSame(text, scope),
    list: (filter, limit, offset) => memories.list(filter, limit, offset),
    pinned: (scopes, limit) => memories.pinned(scopes, limit),
    counts: () => memories.counts(),
    seenIn: (memoryId) => memories.seenIn(memoryId),
    contradictionsOf: (memoryId) => memories.contradictionsOf(memoryId),
    findMeaning,
  };
}
