// Completes ids that a person types: the prefix of an id, or `last` for the latest session, turn or pack. The only module that completes ids. A
// complete id costs nothing, and text that is not a prefix stays unchanged.

import type { Claw } from '../../contracts/claw.ts';
import { AppError } from '../../contracts/errors.ts';
import type { OpName, OpParams } from '../../contracts/ops.ts';
import { ownChannels } from '../../contracts/system-session.ts';
import { cliCaller } from './caller.ts';

const lettersMin = 6;
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

const calls: Candidates = async (claw) => {
  const { checkpoints } = await claw.op('checkpoint.list', { limit: looksMax }, cliCaller);
  const { outcomes } = await claw.op('outcome.list', {}, cliCaller);
  return [...outcomes, ...checkpoints].map(({ callId }) => callId);
};

interface Kind {
  readonly prefix: string;
  readonly candidates: Candidates;
  readonly hasLast?: boolean;
}

/** By the name of the id parameter in operations. */
const kinds: Readonly<Record<string, Kind>> = {
  sessionId: { prefix: 'ses_', candidates: sessions, hasLast: true },
  turnId: { prefix: 'trn_', candidates: turns, hasLast: true },
  callId: { prefix: 'call_', candidates: calls },
  approvalId: {
    prefix: 'apr_',
    candidates: async (claw) => (await claw.op('approval.list', { all: true }, cliCaller)).approvals.map((one) => one.approvalId),
  },
  grantId: {
    prefix: 'grt_',
    candidates: async (claw) => (await claw.op('grant.list', { all: true }, cliCaller)).grants.map((one) => one.grantId),
  },
  packId: {
    prefix: 'trn_',
    hasLast: true,
    candidates: async (claw) => (await claw.op('pack.list', { limit: 1000 }, cliCaller)).packs.map((one) => one.packId),
  },
  scheduleId: {
    prefix: 'sch_',
    candidates: async (claw) => (await claw.op('schedule.list', {}, cliCaller)).schedules.map((one) => one.scheduleId),
  },
  memoryId: { prefix: 'mem_', candidates: memories },
  otherId: { prefix: 'mem_', candidates: memories },
  artifact: {
    prefix: '',
    candidates: async (claw) => (await claw.op('artifact.list', { limit: looksMax }, cliCaller)).artifacts.map((one) => one.sha256),
  },
};

async function memories(claw: Claw): Promise<readonly string[]> {
  return (await claw.op('memory.list', { limit: 200 }, cliCaller)).memories.map((one) => one.memoryId);
}

/** A Claw that completes ids in its parameters. Fails with `invalid_params` if a prefix matches several. */
export function withShortIds(claw: Claw): Claw {
  return {
    op: async <N extends OpName>(name: N, params: OpParams<N>, caller: Parameters<Claw['op']>[2]) =>
      claw.op(name, (await completed(claw, params)) as OpParams<N>, caller),
    events: (query) => claw.events(query),
    onDelta: (listener) => claw.onDelta(listener),
    close: () => claw.close(),
  };
}

async function completed(claw: Claw, params: object): Promise<object> {
  const changes: Record<string, string> = {};
  for (const [name, value] of Object.entries(params)) {
    const kind = kinds[name];
    if (kind === undefined || typeof value !== 'string' || wholeId.test(value)) continue;
    const whole = await complete(value, kind, () => kind.candidates(claw, params));
    if (whole !== value) changes[name] = whole;
  }
  return Object.keys(changes).length === 0 ? params : { ...params, ...changes };
}

async function complete(typed: string, { prefix, hasLast }: Kind, candidates: () => Promise<readonly string[]>): Promise<string> {
  if (typed === 'last' && hasLast === true) {
    const [newest] = await candidates();
    if (newest === undefined) throw new AppError('not_found', 'There is nothing yet that "last" could mean.');
    return newest;
  }
  const letters = typed.startsWith(prefix) ? typed.slice(prefix.length) : typed;
  const isBeginning = prefix === '' ? /^[0-9a-f]{6,63}$/ : /^[0-9A-Za-z]{6,25}(-p\d*)?$/;
  if (letters.length < lettersMin || !isBeginning.test(letters)) return typed;
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
