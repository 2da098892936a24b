// The text of each section of a past pack, if known: recorded texts verbatim, and for the rest the current text, marked as such. Also the
// summary that a pack started with, and the earlier summaries it includes.

import { type AnyEvent, type EventBodies, type EventOf, systemSessionId } from '../../contracts/events.ts';
import type { PackSectionName } from '../../contracts/pack-words.ts';
import type { OpResult } from '../../contracts/ops.ts';
import { splitTail } from '../../mind/context/context.ts';
import type { OpsParts } from './parts.ts';

type Deps = Pick<OpsParts, 'agents' | 'log' | 'packer' | 'tools'>;

type PackView = OpResult<'pack.get'>;
type PackText = NonNullable<PackView['texts']>[number];

/** Upper bound of the rules and summaries of one session, far more than there can be. */
const EVENTS_MAX = 10_000;

/** `turn` contains the events of the pack's turn. */
export function textsOf(deps: Deps, built: EventOf<'pack.built'>, turn: readonly AnyEvent[], tail: string | undefined): PackText[] {
  const body = turn.find((event) => event.type === 'turn.started')?.body;
  const agentId = body?.agentId ?? '';
  const allowed = body?.bounds?.tools ?? null;
  const tools = deps.tools.list().filter(({ name }) => allowed === null || allowed.includes(name));
  const now = (section: PackSectionName, text: string): PackText => ({ section, text, asOf: 'now' });
  const texts: PackText[] = [
    now('system', deps.packer.systemText(body?.workspace ?? null)),
    now('identity', deps.agents.has(agentId) ? deps.agents.identityOf(agentId) : ''),
    { section: 'rules', text: rulesThen(deps, built, agentId).join('\n'), asOf: 'then' },
    ...(tail === undefined ? [] : splitTail(tail).map((part) => ({ ...part, asOf: 'then' as const }))),
    now('tools', tools.map(({ name, description }) => `${name}: ${description}`).join('\n')),
  ];
  const shown = new Set(built.body.sections.map(({ name }) => name));
  return texts.filter(({ section, text }) => text !== '' && shown.has(section));
}

/** The rules that were pinned when the pack was built, oldest first. */
function rulesThen(deps: Deps, built: EventOf<'pack.built'>, agentId: string): string[] {
  const types = ['rule.pinned', 'rule.unpinned'] as const;
  const before = deps.log.reads.placeOf(systemSessionId, built.seq);
  const ofAgent = deps.log.reads.slice(systemSessionId, { types, before, limit: EVENTS_MAX, newest: true });
  const ofSession = deps.log.reads.slice(built.sessionId, { types, before: built.sessionSeq, limit: EVENTS_MAX, newest: true });
  const rules = new Map<string, string>();
  for (const event of [...ofAgent, ...ofSession]) {
    if (event.type === 'rule.pinned' && (event.body.scope === 'session' || event.body.agentId === agentId))
      rules.set(event.body.ruleId, event.body.text);
    else if (event.type === 'rule.unpinned') rules.delete(event.body.ruleId);
  }
  return [...rules.values()].map((text) => `- ${text}`);
}

/** Null for a pack without a summary. */
export function summaryOf(deps: Deps, built: EventOf<'pack.built'>): PackView['summary'] {
  const { sessionId, sessionSeq, body } = built;
  if (body.summaryId === undefined) return null;
  const query = { types: ['summary.written'] as const, before: sessionSeq, limit: EVENTS_MAX, newest: true };
  const written = new Map<string, EventOf<'summary.written'>>();
  for (const event of deps.log.reads.slice(sessionId, query))
    if (event.type === 'summary.written') written.set(event.body.summaryId, event);
  const newest = written.get(body.summaryId);
  if (newest === undefined) return null;
  const chain = chainOf(newest.body, written);
  const { summaryId, text, method, tokens, covers } = newest.body;
  const fromSessionSeq = chain.at(-1)?.covers.fromSessionSeq ?? covers.fromSessionSeq;
  const messages = chain.reduce((sum, one) => sum + one.source.messages, 0);
  const timeAt = (place: number): number => deps.log.reads.slice(sessionId, { after: place - 1, limit: 1 })[0]?.atMs ?? newest.atMs;
  return {
    summaryId,
    text,
    method,
    tokens,
    messages,
    atMs: newest.atMs,
    fromAtMs: timeAt(fromSessionSeq),
    toAtMs: timeAt(covers.toSessionSeq),
  };
}

/** A summary, the summary it includes, and so on, newest first. */
function chainOf(
  newest: EventBodies['summary.written'],
  written: ReadonlyMap<string, EventOf<'summary.written'>>,
): EventBodies['summary.written'][] {
  const chain = new Map<string, EventBodies['summary.written']>();
  for (let at: EventBodies['summary.written'] | undefined = newest; at !== undefined && !chain.has(at.summaryId);) {
    chain.set(at.summaryId, at);
    at = at.replaces === null ? undefined : written.get(at.replaces)?.body;
  }
  return [...chain.values()];
}
