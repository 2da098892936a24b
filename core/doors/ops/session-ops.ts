// Operations on sessions.

import { AppError } from '../../contracts/errors.ts';
import { systemSessionId } from '../../contracts/events.ts';
import type { Caller, OpHandlers } from '../../contracts/ops.ts';
import type { SessionInfo } from '../../contracts/op-results.ts';
import { exportJsonl, exportMarkdown, type SessionRow } from '../../store/session/session.ts';
import type { OpsDeps } from './deps.ts';

type SessionOps = Pick<
  OpHandlers,
  | 'session.list'
  | 'session.get'
  | 'session.create'
  | 'session.rename'
  | 'session.search'
  | 'session.fork'
  | 'session.export'
  | 'session.archive'
  | 'session.delete'
>;

const LISTED = 200;
const WINDOW = 300;

export function createSessionOps(deps: OpsDeps): SessionOps {
  const { log } = deps;
  return {
    'session.list': (params) => {
      const rows = log.index.sessions(params.archived ?? false, params.limit ?? LISTED).filter((row) => row.sessionId !== systemSessionId);
      const pending = countPending(deps);
      return { sessions: rows.map((row) => describe(deps, row, pending)) };
    },
    'session.get': (params) => {
      const row = find(deps, params.sessionId);
      const events = log.reads.envelopes(params.sessionId, {
        limit: params.limit ?? WINDOW,
        newest: params.after === undefined,
        ...(params.after === undefined ? {} : { after: log.reads.placeOf(params.sessionId, params.after + 1) - 1 }),
        ...(params.before === undefined ? {} : { before: log.reads.placeOf(params.sessionId, params.before) }),
      });
      return { session: describe(deps, row, countPending(deps)), events };
    },
    'session.create': (params, caller) => {
      const sessionId = deps.ids.next('ses');
      const body = { title: params.title ?? '', agentId: params.agentId ?? 'main', channel: caller.channel, forkedFrom: null };
      log.append(sessionId, [{ type: 'session.created', body }], true);
      return info(deps, sessionId);
    },
    'session.rename': (params) => {
      find(deps, params.sessionId);
      log.append(params.sessionId, [{ type: 'session.renamed', body: { title: params.title } }], true);
      return info(deps, params.sessionId);
    },
    'session.search': (params) => {
      const hits = log.search.find(params.query, params.limit ?? 20);
      return { hits: hits.map((hit) => ({ ...hit, title: log.index.session(hit.sessionId)?.title ?? '' })) };
    },
    'session.fork': (params, caller) => fork(deps, params, caller),
    'session.export': (params) => {
      const row = find(deps, params.sessionId);
      const events = log.reads.iterateSession(params.sessionId);
      return { text: params.format === 'jsonl' ? exportJsonl(events) : exportMarkdown(row.title, events) };
    },
    'session.archive': (params) => {
      find(deps, params.sessionId);
      log.append(params.sessionId, [{ type: 'session.archived', body: { archived: params.archived } }], true);
      return info(deps, params.sessionId);
    },
    'session.delete': (params) => remove(deps, params.sessionId),
  };
}

function fork(
  deps: OpsDeps,
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

function remove(deps: OpsDeps, sessionId: string): { sessionId: string; events: number } {
  find(deps, sessionId);
  const open = deps.log.index.openTurns().find((turn) => turn.sessionId === sessionId);
  if (open !== undefined) {
    throw new AppError('conflict', 'A turn of this session is still under way.', {
      data: { hint: `Stop it first: turn ${open.turnId} is ${open.status}.` },
    });
  }
  const events = deps.log.remove(sessionId, systemSessionId);
  deps.runtime.forgetSession(sessionId);
  return { sessionId, events };
}

function find(deps: OpsDeps, sessionId: string): SessionRow {
  const row = deps.log.index.session(sessionId);
  if (row === null || sessionId === systemSessionId) throw new AppError('not_found', `There is no session ${sessionId}.`);
  return row;
}

function info(deps: OpsDeps, sessionId: string): SessionInfo {
  return describe(deps, find(deps, sessionId), countPending(deps));
}

function describe(deps: OpsDeps, row: SessionRow, pending: ReadonlyMap<string, number>): SessionInfo {
  const status = deps.log.index.lastTurn(row.sessionId)?.status ?? null;
  return {
    ...row,
    events: deps.log.nextSessionSeq(row.sessionId) - 1,
    status: status === 'queued' ? 'running' : status,
    pendingApprovals: pending.get(row.sessionId) ?? 0,
  };
}

function countPending(deps: OpsDeps): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { sessionId } of deps.policy.pendingApprovals()) counts.set(sessionId, (counts.get(sessionId) ?? 0) + 1);
  return counts;
}
