// Completes ids that a person types, by one rule for every command: the prefix of an id, or `last` for the newest of its kind. The only module
// that completes ids. A complete id costs nothing, and text that is not a prefix stays unchanged.

import type { Claw } from '../../contracts/claw.ts';
import { AppError } from '../../contracts/errors.ts';
import type { Caller, OpName, OpParams, OpResult } from '../../contracts/ops.ts';
import { ownChannels } from '../../contracts/system-session.ts';
import { cliCaller } from './caller.ts';

const lettersMin = 4;
/** A word without the prefix of the kind may be a name. */
const bareLettersMin = 6;
const looksMax = 1000;
const internal: ReadonlySet<string> = new Set(Object.values(ownChannels));
const wholeId = /^[a-z]+_[0-9A-HJKMNP-TV-Z]{26}(-p\d+)?$/;

/** Returns every id of a kind that these parameters can mean, newest first. */
type Candidates = (claw: Claw, params: object) => Promise<readonly string[]>;

/** A session is taken out of the archive, so only archived ones can be meant then. */
const sessions: Candidates = async (claw, params) => {
  const archived = 'archived' in params && params.archived === false;
  const { sessions: open } = await claw.op('session.list', { limit: looksMax, ...(archived ? { archived } : {}) }, cliCaller);
  return open.toSorted((one, other) => other.updatedAtMs - one.updatedAtMs).map(({ sessionId }) => sessionId);
};

const turns: Candidates = async (claw) => {
  const { turns: open } = await claw.op('running.list', {}, cliCaller);
  const { hits } = await claw.op('activity.search', { kinds: ['turn'], limit: 200 }, cliCaller);
  // A turn under way is as new as its beginning; one that works for another turn comes last.
  const begun = open.map(({ turnId, channel, sinceMs }) => ({ turnId, atMs: internal.has(channel) ? 0 : sinceMs }));
  const newest = [...begun, ...hits].toSorted((one, other) => other.atMs - one.atMs);
  return [...new Set(newest.flatMap(({ turnId }) => (turnId === null ? [] : [turnId])))];
};

/** An answer about an outcome is about a call without one; any other call is one that changed files. */
const calls: Candidates = async (claw, params) => {
  const { outcomes } = await claw.op('outcome.list', {}, cliCaller);
  const { checkpoints } = 'answer' in params ? { checkpoints: [] } : await claw.op('checkpoint.list', { limit: looksMax }, cliCaller);
  return [...outcomes, ...checkpoints]
    .map(({ callId }) => callId)
    .toSorted()
    .toReversed();
};

interface Kind {
  /** Empty for an id without one. */
  readonly prefix: string;
  readonly candidates: Candidates;
  /** Why `last` must not name one. */
  readonly noLast?: string;
}

/** The ids of a list. Their letters begin with the time, so the greatest is the newest. */
function listed<N extends OpName>(prefix: string, op: N, params: OpParams<N>, idsIn: (result: OpResult<N>) => readonly string[]): Kind {
  return {
    prefix,
    candidates: async (claw) =>
      idsIn(await claw.op(op, params, cliCaller))
        .toSorted()
        .toReversed(),
  };
}

const limit = looksMax;
const memory = listed('mem_', 'memory.list', { limit: 200 }, ({ memories }) => memories.map((one) => one.memoryId));
const unseen = 'Another may have come since you looked, so name it.';

/** By the name of the id parameter in operations; with the family of the operation where it means another thing there. */
const kinds: Readonly<Record<string, Kind>> = {
  sessionId: { prefix: 'ses_', candidates: sessions },
  turnId: { prefix: 'trn_', candidates: turns },
  callId: { prefix: 'call_', candidates: calls },
  approvalId: {
    ...listed('apr_', 'approval.list', { all: true }, ({ approvals }) => approvals.map((one) => one.approvalId)),
    noLast: unseen,
  },
  pairingId: { ...listed('pair_', 'channel.people', {}, ({ people }) => people.map((one) => one.pairingId)), noLast: unseen },
  'telegram.pairingId': { ...listed('pair_', 'telegram.list', {}, ({ pairings }) => pairings.map((one) => one.pairingId)), noLast: unseen },
  grantId: listed('grt_', 'grant.list', { all: true }, ({ grants }) => grants.map((one) => one.grantId)),
  packId: {
    prefix: 'trn_',
    candidates: async (claw) => (await claw.op('pack.list', { limit }, cliCaller)).packs.map((one) => one.packId),
  },
  ruleId: listed('rul_', 'rule.list', {}, ({ rules }) => rules.map((one) => one.ruleId)),
  scheduleId: listed('sch_', 'schedule.list', {}, ({ schedules }) => schedules.map((one) => one.scheduleId)),
  taskId: listed('tsk_', 'task.list', { all: true, limit: 500 }, ({ tasks }) => tasks.map((one) => one.taskId)),
  'work.taskId': listed('wrk_', 'work.list', { limit: 500 }, (result) => result.work.map((one) => one.taskId)),
  memoryId: memory,
  otherId: memory,
  runId: listed('evl_', 'eval.list', { limit: 200 }, ({ runs }) => runs.map((one) => one.runId)),
  pipelineId: listed('pip_', 'pipeline.list', { limit: 200 }, ({ pipelines }) => pipelines.map((one) => one.pipelineId)),
  letterId: listed('let_', 'dlq.list', { limit }, ({ letters }) => letters.map((one) => one.letterId)),
  jobId: listed('job_', 'helper.list', { all: true }, ({ helpers }) => helpers.map((one) => one.jobId)),
  outboundId: listed('out_', 'outbox.list', { limit }, ({ items }) => items.map((one) => one.outboundId)),
  artifact: {
    prefix: '',
    candidates: async (claw) => (await claw.op('artifact.list', { limit }, cliCaller)).artifacts.map((one) => one.sha256),
  },
};

function kindOf(op: string, parameter: string): Kind | undefined {
  return kinds[`${op.split('.')[0] ?? ''}.${parameter}`] ?? kinds[parameter];
}

/** Returns whether this parameter takes `last` for an id. */
export function takesLast(op: OpName | null, parameter: string): boolean {
  const kind = kindOf(op ?? '', parameter);
  return kind !== undefined && kind.noLast === undefined;
}

/** The help text of a parameter that is an id; empty for any other. */
export function idWords(op: OpName, parameter: string): string {
  if (kindOf(op, parameter) === undefined) return '';
  return takesLast(op, parameter) ? 'its id, the first characters of it, or last for the newest' : 'its id, or the first characters of it';
}

/**
 * A Claw of the command line: the caller of its operations is a person there, and ids in their parameters are completed. Fails with
 * `invalid_params` if a prefix matches several.
 */
export function withShortIds(claw: Claw): Claw {
  return {
    op: async <N extends OpName>(name: N, params: OpParams<N>, caller: Caller = cliCaller) =>
      claw.op(name, (await completed(claw, name, params)) as OpParams<N>, caller),
    events: (query) => claw.events(query),
    onDelta: (listener) => claw.onDelta(listener),
    close: () => claw.close(),
  };
}

async function completed(claw: Claw, op: OpName, params: object): Promise<object> {
  const changes: Record<string, string> = {};
  for (const [name, value] of Object.entries(params)) {
    const kind = kindOf(op, name);
    if (kind === undefined || typeof value !== 'string' || wholeId.test(value)) continue;
    const whole = await complete(value, kind, () => kind.candidates(claw, params));
    if (whole !== value) changes[name] = whole;
  }
  return Object.keys(changes).length === 0 ? params : { ...params, ...changes };
}

async function complete(typed: string, { prefix, noLast }: Kind, candidates: () => Promise<readonly string[]>): Promise<string> {
  if (typed === 'last') {
    if (noLast !== undefined) throw new AppError('not_found', `"last" names nothing here. ${noLast}`);
    const [newest] = await candidates();
    if (newest === undefined) throw new AppError('not_found', 'There is nothing yet that "last" could mean.');
    return newest;
  }
  const letters = typed.startsWith(prefix) ? typed.slice(prefix.length) : typed;
  const isBeginning = prefix === '' ? /^[0-9a-f]{4,63}$/ : /^[0-9A-Za-z]{4,25}(-p\d*)?$/;
  if (letters.length < (letters === typed ? bareLettersMin : lettersMin) || !isBeginning.test(letters)) return typed;
  const beginning = (prefix + letters).toLowerCase();
  const all = await candidates();
  if (all.includes(typed)) return typed;
  const fitting = all.filter((id) => id.toLowerCase().startsWith(beginning));
  const [only] = fitting;
  if (only === undefined) return typed;
  if (fitting.length === 1) return only;
  const some = fitting.slice(0, 5).join(', ');
  const more = fitting.length > 5 ? ` and ${fitting.length - 5} more` : '';
  throw new AppError('invalid_params', `"${typed}" fits several ids: ${some}${more}.`, { hint: 'Type more of the one you mean.' });
}
