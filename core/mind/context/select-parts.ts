// Asks the sources of a pack for their parts, all at once and within a time limit. Leaves out parts that are late, fail, or are not allowed
// in their section, and records the reason. Never fails, and never ranks parts.

import type { Later } from '../../base/clock.ts';
import type { EventBodies } from '../../contracts/events.ts';
import type { ToolSchema } from '../../contracts/llm.ts';
import { packReasons } from '../../contracts/pack-words.ts';
import { sectionShares } from './pack-budget.ts';
import { sourceSections, type NoteEvent, type PackPart, type PackSource, type SourceSection } from '../../contracts/pack-source.ts';

export type LeftOut = EventBodies['pack.built']['dropped'][number];

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

/** The time limit: optional parts must not delay a turn for longer. */
const WAIT_MS = 1_500;
/** The maximum number of parts per source. */
const PARTS_MAX = 50;

/** Sections whose text becomes instructions: only the person's own text is allowed in them. */
const instructing: ReadonlySet<SourceSection> = new Set(['identity', 'task']);

interface Selecting {
  readonly later: Later;
  readonly signal: AbortSignal;
  readonly note: NoteEvent;
}

export async function selectParts(
  sources: readonly PackSource[],
  request: SelectRequest,
  { later, signal, note }: Selecting,
): Promise<SelectedParts> {
  const waiting = new AbortController();
  const over = new Promise<string>((resolve) => {
    waiting.signal.addEventListener('abort', () => resolve(signal.aborted ? packReasons.stopped : packReasons.late));
  });
  const stop = (): void => waiting.abort();
  const callOff = later(WAIT_MS, stop);
  signal.addEventListener('abort', stop, { once: true });
  let isOver = false;
  const noteInTime: NoteEvent = (type, body) => {
    if (!isOver && !waiting.signal.aborted) note(type, body);
  };
  const inTime: (Answer | undefined)[] = [];
  const asked = sources.map(async (source, index) => {
    const answer = await ask(source, { request, signal: waiting.signal, note: noteInTime });
    if (!waiting.signal.aborted) inTime[index] = answer;
  });
  const reason = await Promise.race([Promise.all(asked).then(() => packReasons.late), over]);
  const answers = sources.map(({ section }, index) => inTime[index] ?? nothing(section, reason));
  isOver = true;
  callOff();
  signal.removeEventListener('abort', stop);
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

function nothing(section: SourceSection, reason: string): Answer {
  return { section, parts: [], dropped: [{ what: section, count: 1, tokens: 0, reason }] };
}

interface Asking extends Pick<Selecting, 'signal' | 'note'> {
  readonly request: SelectRequest;
}

/** Never rejects. */
async function ask(source: PackSource, { request, signal, note }: Asking): Promise<Answer> {
  const { section } = source;
  const { contextTokens, ...about } = request;
  const tokensMax = Math.floor(contextTokens * sectionShares[section]);
  try {
    const parts = await source.select({ ...about, tokensMax, signal }, note);
    return judge(section, parts.slice(0, PARTS_MAX));
  } catch {
    return nothing(section, packReasons.failed);
  }
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
