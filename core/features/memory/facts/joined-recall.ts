// Searches the built-in memory and the memory stores of the embedding program together, and merges the results, best first. The content of
// those stores is not copied, and a memory that was passed on to such a store is not shown twice.

import { AppError } from '../../../contracts/errors.ts';
import { memoryTextMax, sharedScope, type MemoryHit } from '../../../contracts/features/memory.ts';
import type { MemorySource, RecalledText } from '../../../contracts/memory-ports.ts';
import { askWithin, scoreAt } from '../recall/recall-path.ts';
import type { Recall, RecallRequest } from './ports.ts';

export interface JoinedRecallDeps {
  readonly own: Recall;
  readonly sources: readonly MemorySource[];
  readonly nowMs: () => number;
}

/** A turn waits for the search. */
const WITHIN_MS = 1_500;

export class JoinedRecall implements Recall {
  readonly #deps: JoinedRecallDeps;

  /** Fails with invalid_config if the name of a source is invalid or used twice. */
  constructor(deps: JoinedRecallDeps) {
    this.#deps = deps;
    const names = deps.sources.map(({ name }) => name);
    const wrong = names.find((name, index) => !/^[a-z][a-z0-9_-]{0,39}$/i.test(name) || names.indexOf(name) !== index);
    if (wrong !== undefined)
      throw new AppError('invalid_config', `A source of memories cannot be called "${wrong}", or two have that name.`);
  }

  async recall(request: RecallRequest): Promise<MemoryHit[]> {
    const { own: ownRecall, sources, nowMs } = this.#deps;
    const { query, agentId, limit, signal } = request;
    const [own, others] = await Promise.all([
      ownRecall.recall(request),
      askWithin(sources, { ms: WITHIN_MS, signal }, async (source, limited) => {
        const found = await source.recall({ text: query, agentId, limit }, limited);
        return found.slice(0, limit).map((one, index) => hitOf(source.name, one, { nowMs: nowMs(), index }));
      }),
    ]);
    const ownTexts = new Set(own.map(({ text }) => text));
    const ownIds = new Set(own.map(({ memoryId }) => memoryId));
    const foreign = others
      .flat()
      .filter(({ memoryId, text }) => !ownTexts.has(text) && !ownIds.has(memoryId.slice(memoryId.indexOf(':') + 1)));
    return [...own, ...foreign].sort((a, b) => b.score - a.score).slice(0, limit);
  }
}

function hitOf(
  source: string,
  { id, text, kind = 'fact', score, atMs }: RecalledText,
  { nowMs, index }: { nowMs: number; index: number },
): MemoryHit {
  const shown = text.slice(0, memoryTextMax);
  return {
    memoryId: `${source}:${id}`,
    kind,
    text: shown,
    scope: sharedScope,
    importance: 0.5,
    origin: { by: 'import', actor: `source ${source}`, sessionId: null, turnId: null },
    untrusted: [{ kind: 'mcp', where: source }],
    state: 'kept',
    rule: null,
    pinned: false,
    tier: 'full',
    shown,
    createdAtMs: atMs ?? nowMs,
    // Use of memories from these sources is not recorded.
    usedAtMs: nowMs,
    uses: 0,
    seenIn: 0,
    contradictions: [],
    score: scoreAt(score, index),
    foundBy: ['source'],
  };
}
