// Decides which of two contradictory memories a model sees until a person resolves the contradiction. The model never sees both.

import type { KeptMemory } from '../../../contracts/memory-ports.ts';
import type { MemoryStore } from './ports.ts';

/**
 * Whether a used memory that contradicts this one takes precedence. A pinned memory precedes an unpinned one; otherwise the newer one wins.
 */
export function isOverruled(
  memory: KeptMemory,
  store: Pick<MemoryStore, 'find' | 'contradictionsOf'>,
  isUsed: (other: KeptMemory) => boolean,
): boolean {
  return store.contradictionsOf(memory.memoryId).some(({ memoryId, otherId }) => {
    const other = store.find(memoryId === memory.memoryId ? otherId : memoryId);
    return other !== null && isUsed(other) && comesBefore(other, memory);
  });
}

function comesBefore(a: KeptMemory, b: KeptMemory): boolean {
  if (a.pinned !== b.pinned) return a.pinned;
  return a.createdAtMs === b.createdAtMs ? a.row > b.row : a.createdAtMs > b.createdAtMs;
}
