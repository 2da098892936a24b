// The public view of a memory.

import type { MemoryView } from '../../../contracts/features/memory.ts';
import type { KeptMemory } from '../../../contracts/memory-ports.ts';
import { textAtTier, tierOf } from './decay.ts';
import type { MemoryStore } from './ports.ts';

export function viewOf(memory: KeptMemory, store: Pick<MemoryStore, 'find' | 'seenIn' | 'contradictionsOf'>, nowMs: number): MemoryView {
  const { row: _row, ...rest } = memory;
  const tier = tierOf(memory, nowMs);
  const contradictions = store.contradictionsOf(memory.memoryId).flatMap(({ memoryId, otherId, reason }) => {
    const other = memoryId === memory.memoryId ? otherId : memoryId;
    const otherText = store.find(other)?.text;
    return otherText === undefined ? [] : [{ otherId: other, otherText, reason }];
  });
  return { ...rest, tier, shown: textAtTier(memory, tier), seenIn: store.seenIn(memory.memoryId), contradictions };
}
