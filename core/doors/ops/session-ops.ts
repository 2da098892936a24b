// The operations on sessions.

import { AppError, noSession } from '../../contracts/errors.ts';
import { systemSessionId, type AnyDraft, type EventType } from '../../contracts/events.ts';
import type { Caller, OpHandlers, OpParsed, OpResult } from '../../contracts/ops.ts';
import type { SessionInfo } from '../../contracts/op-results.ts';
import {
  exportJsonl,
  exportMarkdown,
  type ListedSession,
  type SessionPlace,
  type SessionRow,
  type SliceQuery,
} from '../../store/session/session.ts';
import type { OpsParts } from './parts.ts';

type Deps = Pick<OpsParts, 'agents' | 'helpers' | 'ids' | 'log' | 'models' | 'policy' | 'turns' | 'workspaces'>;

const LISTED = 200;
const WINDOW = 300;
/** The maximum number of events in a page of turns. */
const PAGE_MAX = 5_000;

export function createSessionOps(deps: Deps) {
  const { log } = deps;
  return {
    'session.list': (params) => list(deps, params),
    'session.get': (params) => readPage(deps, params),
    'session.create': (params, caller) => create(deps, params, caller),
    'session.rename': (params) => change(deps, params.sessionId, { type: 'session.renamed', body: { title: params.title } }),
    'session.pin': (params) => change(deps, params.sessionId, { type: 'session.pinned', body: { pinned: params.pinned } }),
    'session.archive': (params) => change(deps, params.sessionId, { type: 'session.archived', body: { archived: params.archived } }),
    'session.seen': (params) => see(deps, params),
    'session.configure': (params, caller) => configure(deps, params, caller),
    'session.search': (params) => {
      if (params.sessionId !== undefined) find(deps, params.sessionId);
      const hits = log.search.find(params.query, params.limit ?? 20, {
        eachSession: params.each === 'session',
        ...(params.sessionId === undefined ? {} : { sessionId: params.sessionId }),
      });
      return { hits: hits.map((hit) => ({ ...hit, title: log.index.session(hit.sessionId)?.title ?? '' })) };
    },
    'session.fork': (params, caller) => fork(deps, params, caller),
    'session.export': (params) => {
      const row = find(deps, params.sessionId);
      const events = log.reads.iterateSession(params.sessionId);
      return { text: params.format === 'jsonl' ? exportJsonl(events) : exportMarkdown(row.title, events) };
    },
    'session.delete': (params) => remove(deps, params.sessionId),
  } satisfies Partial<OpHandlers>;
}

function list(deps: Deps, params: OpParsed<'session.list'>): OpResult<'session.list'> {
  const limit = params.limit ?? LISTED;
  const after = params.cursor === undefined ? {} : { after: placeOf(params.cursor) };
  const { archived = false, helpers = false, workspace } = params;
  const rows = deps.log.index.sessions({ archived, helpers, limit, ...after, ...(workspace === undefined ? {} : { workspace }) });
  const pending = countPending(deps);
  const last = rows.at(-1);
  return {
    sessions: rows.map((row) => describe(row, pending)),
    nextCursor: last === undefined || rows.length < limit ? null : `${Number(last.pinned)}.${last.updatedAtMs}.${last.sessionId}`,
  };
}

function placeOf(cursor: string): SessionPlace {
  const [, pinned, updatedAtMs, sessionId] = /^([01])\.(\d{1,16})\.(.+)$/.exec(cursor) ?? [];
  if (sessionId === undefined) {
    throw new AppError('invalid_params', `No page gave the cursor ${JSON.stringify(cursor.slice(0, 100))}.`, {
      hint: 'Take it from the end of a page, or leave it out for the first page.',
    });
  }
  return { pinned: pinned === '1', updatedAtMs: Number(updatedAtMs), sessionId };
}

/** Reads only the page, so the cost does not depend on the length of the session. */
function readPage(deps: Deps, params: OpParsed<'session.get'>): OpResult<'session.get'> {
  const session = info(deps, params.sessionId);
  const query = pageQuery(deps, params);
  const events = deps.log.reads.envelopes(params.sessionId, query);
  const [first] = events;
  if (first === undefined || isForward(params)) return { session, events, earlierBefore: null };
  const hasEarlier = query.after !== undefined || (events.length === query.limit && first.sessionSeq > 1);
  return { session, events, earlierBefore: hasEarlier ? first.seq : null };
}

/** True if the page starts at a given position, false if it ends there. */
function isForward({ after, fromMs }: Pick<OpParsed<'session.get'>, 'after' | 'fromMs'>): boolean {
  return after !== undefined || fromMs !== undefined;
}

/** Converts global log positions to positions in the session, and a number of turns to the position where the first of them starts. */
function pageQuery(deps: Deps, { sessionId, turns, ...params }: OpParsed<'session.get'>): SliceQuery {
  const { reads } = deps.log;
  const before = params.before === undefined ? undefined : reads.placeOf(sessionId, params.before);
  const begin = turns === undefined ? 0 : reads.turnsBegin(sessionId, turns, before);
  const after = Math.max(
    begin - 1,
    params.after === undefined ? 0 : reads.placeOf(sessionId, params.after + 1) - 1,
    params.fromMs === undefined ? 0 : reads.placeAtTime(sessionId, params.fromMs) - 1,
  );
  return {
    limit: params.limit ?? (turns === undefined ? WINDOW : PAGE_MAX),
    newest: !isForward(params) || turns !== undefined,
    ...(after > 0 ? { after } : {}),
    ...(before === undefined ? {} : { before }),
    ...(params.types === undefined ? {} : { types: params.types as EventType[] }),
  };
}

function create(deps: Deps, params: OpParsed<'session.create'>, caller: Caller): SessionInfo {
  const { title = '', agentId = 'main', model } = params;
  if (model !== undefined) deps.models.assertKnown(model);
  deps.agents.assertKnown(agentId);
  const sessionId = deps.ids.next('ses');
  const configured: AnyDraft[] = model === undefined ? [] : [{ type: 'session.configured', body: { agentId, model, by: caller.actor } }];
  const workspace = params.workspace === undefined ? null : deps.workspaces.choose(params.workspace);
  const body = { title, agentId, channel: caller.channel, forkedFrom: null, ...(workspace === null ? {} : { workspace }) };
  deps.log.append(sessionId, [{ type: 'session.created', body }, ...configured], true);
  return info(deps, sessionId);
}

function change(deps: Deps, sessionId: string, draft: AnyDraft): SessionInfo {
  find(deps, sessionId);
  deps.log.append(sessionId, [draft], true);
  return info(deps, sessionId);
}

/** Recorded without waiting for the disk. At worst a session shows as unread once more. */
function see(deps: Deps, { sessionId, seq }: OpParsed<'session.seen'>): SessionInfo {
  const row = find(deps, sessionId);
  const seen = Math.min(seq ?? Number.MAX_SAFE_INTEGER, deps.log.lastSeq);
  if (row.unread > 0 && seen > row.seenSeq) deps.log.append(sessionId, [{ type: 'session.seen', body: { seq: seen } }]);
  return info(deps, sessionId);
}

function configure(deps: Deps, params: OpParsed<'session.configure'>, caller: Caller): SessionInfo {
  const row = find(deps, params.sessionId);
  const { model = row.model, agentId = row.agentId, planFirst } = params;
  if (model !== null) deps.models.assertKnown(model);
  if (params.agentId !== undefined) deps.agents.assertKnown(agentId);
  const body = { agentId, model, by: caller.actor, ...(planFirst === undefined ? {} : { planFirst }) };
  return change(deps, params.sessionId, { type: 'session.configured', body });
}

function fork(
  deps: Deps,
  params: { sessionId: string; atSessionSeq?: number | undefined; title?: string | undefined },
  caller: Caller,
): SessionInfo {
  const row = find(deps, params.sessionId);
  const last = deps.log.nextSessionSeq(params.sessionId) - 1;
  const sessionId = deps.ids.next('ses');
  deps.log.fork(
    { sessionId: params.sessionId, atSessionSeq: params.atSessionSeq ?? last },
    { sessionId, title: params.title ?? `${row.title} (fork)`, agentId: row.agentId, channel: caller.channel },
  );
  return info(deps, sessionId);
}

/**
 * Also removes the sessions of its subagents, which contain parts of the conversation and would become unreachable. Removes all or none. A
 * fork is a separate conversation and is kept.
 */
function remove(deps: Deps, sessionId: string): { sessionId: string; events: number } {
  find(deps, sessionId);
  const all = [sessionId, ...deps.helpers.sessionsBelow(sessionId).filter((below) => deps.log.index.session(below) !== null)];
  const open = deps.log.index.openTurns().find((turn) => all.includes(turn.sessionId));
  if (open !== undefined) {
    const whose = open.sessionId === sessionId ? 'this session' : 'a subagent of this session';
    throw new AppError('conflict', `A turn of ${whose} is still under way.`, {
      hint: `Stop it first: turn ${open.turnId} is ${open.status}.`,
    });
  }
  const events = deps.log.transact(() => all.reduce((sum, one) => sum + deps.log.remove(one, systemSessionId), 0), true);
  for (const one of all) deps.turns.forgetSession(one);
  return { sessionId, events };
}

function find(deps: Deps, sessionId: string): SessionRow {
  const row = deps.log.index.session(sessionId);
  if (row === null || sessionId === systemSessionId) throw noSession(sessionId);
  return row;
}

function info(deps: Deps, sessionId: string): SessionInfo {
  const row = sessionId === systemSessionId ? null : deps.log.index.listedSession(sessionId);
  if (row === null) throw noSession(sessionId);
  return describe(row, countPending(deps));
}

function describe(row: ListedSession, pending: ReadonlyMap<string, number>): SessionInfo {
  const status = row.status === 'queued' ? 'running' : row.status;
  return { ...row, status, pendingApprovals: pending.get(row.sessionId) ?? 0 };
}

function countPending(deps: Deps): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { sessionId } of deps.policy.pendingApprovals()) counts.set(sessionId, (counts.get(sessionId) ?? 0) + 1);
  return counts;
}
