// Asks the sources of a pack for their parts, all at once and for a bounded time. Parts that are late, fail or are not allowed in their
// section are left out, with the reason. Never fails, and never rates a part.

import type { Later } from '../../base/later.ts';
import type { ToolSchema } from '../../contracts/llm.ts';
import { packReasons } from '../../contracts/pack-words.ts';
import { sectionShares } from './pack-budget.ts';
import { sourceSections, type PackPart, type PackSource, type SourceSection } from '../../contracts/pack-source.ts';

export interface LeftOut {
  readonly what: string;
  readonly count: number;
  readonly tokens: number;
  readonly reason: string;
}

export interface SelectedParts {
  readonly parts: Readonly<Partial<Record<SourceSection, readonly PackPart[]>>>;
  readonly dropped: readonly LeftOut[];
}

export interface SelectRequest {
  readonly session: string;
  readonly agent: string;
  readonly query: string;
  readonly tools: readonly ToolSchema[];
  readonly contextTokens: number;
}

/** A turn waits no longer for what only helps it. */
const WAIT_MS = 1_500;
/** The maximum number of parts of a source. */
const PARTS_MAX = 50;

/** Their text becomes instructions: only the person's own text is allowed in them. */
const instructing: ReadonlySet<SourceSection> = new Set(['identity', 'task']);

export async function selectParts(
  sources: readonly PackSource[],
  request: SelectRequest,
  run: { readonly later: Later; readonly signal: AbortSignal },
): Promise<SelectedParts> {
  const answers = await Promise.all(sources.map((source) => ask(source, request, run)));
  const parts: Partial<Record<SourceSection, PackPart[]>> = {};
  for (const section of sourceSections) {
    const found = answers.filter((answer) => answer.section === section).flatMap((answer) => answer.parts);
    if (found.length > 0) parts[section] = found;
  }
  return { parts, dropped: answers.flatMap((answer) => answer.dropped) };
}

interface Answer {
  readonly section: SourceSection;
  readonly parts: readonly PackPart[];
  readonly dropped: readonly LeftOut[];
}

function ask(source: PackSource, request: SelectRequest, run: { readonly later: Later; readonly signal: AbortSignal }): Promise<Answer> {
  const { section } = source;
  const { contextTokens, ...about } = request;
  const waiting = new AbortController();
  const nothing = (reason: string): Answer => ({ section, parts: [], dropped: [{ what: section, count: 1, tokens: 0, reason }] });
  const tokensMax = Math.floor(contextTokens * sectionShares[section]);
  const signal = AbortSignal.any([run.signal, waiting.signal]);
  return new Promise<Answer>((resolve) => {
    const giveUp = (reason: string): void => {
      waiting.abort();
      resolve(nothing(reason));
    };
    const callOff = run.later(WAIT_MS, () => giveUp(packReasons.late));
    const stop = (): void => giveUp(packReasons.stopped);
    run.signal.addEventListener('abort', stop, { once: true });
    const settle = (answer: Answer): void => {
      callOff();
      run.signal.removeEventListener('abort', stop);
      resolve(answer);
    };
    // A source that throws synchronously counts as failed.
    Promise.resolve()
      .then(() => source.select({ ...about, tokensMax, signal }))
      .then((parts) => settle(judge(section, parts.slice(0, PARTS_MAX))))
      .catch(() => settle(nothing(packReasons.failed)));
  });
}

function judge(section: SourceSection, parts: readonly PackPart[]): Answer {
  const isForeign = ({ tainted }: PackPart): boolean => (tainted ?? []).length > 0;
  if (!instructing.has(section)) return { section, parts, dropped: [] };
  const refused = parts.filter(isForeign);
  return {
    section,
    parts: parts.filter((part) => !isForeign(part)),
    dropped: refused.map(({ title }) => ({
      what: `${section}: ${title}`,
      count: 1,
      tokens: 0,
      reason: packReasons.foreign,
    })),
  };
}
