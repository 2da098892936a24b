// The operations on the model's context: past packs, pinned rules, and a summary on request.

import { AppError, noSession } from '../../contracts/errors.ts';
import { systemSessionId, type AnyDraft } from '../../contracts/events.ts';
import type { PinnedRule } from '../../contracts/context-ops.ts';
import type { Caller, OpHandlers, OpParsed, OpResult } from '../../contracts/ops.ts';
import type { OpsParts } from './parts.ts';

type Deps = Pick<OpsParts, 'agents' | 'compaction' | 'continuity' | 'ids' | 'log' | 'safety'>;

/** Limits per session or agent, because more rules would crowd out the conversation. */
const RULES_MAX = 100;
const RULE_CHARS_MAX = 12_000;

export function createContextOps(deps: Deps) {
  return {
    'rule.pin': (params, caller) => pin(deps, params, caller),
    'rule.unpin': (params, caller) => unpin(deps, params, caller),
    'rule.list': ({ sessionId }) => ({ rules: sessionId === undefined ? deps.continuity.rules() : rulesIn(deps, sessionId) }),
    'session.compact': ({ sessionId }, caller) => compact(deps, sessionId, caller),
  } satisfies Partial<OpHandlers>;
}

function pin(deps: Deps, params: OpParsed<'rule.pin'>, { actor }: Caller): PinnedRule {
  const { sessionId, agentId, replaces } = params;
  if (sessionId !== undefined) needSession(deps, sessionId);
  // Fails with not_found.
  if (agentId !== undefined) deps.agents.get(agentId);
  const text = deps.safety.redact(params.text).text;
  const scope = sessionId === undefined ? 'agent' : 'session';
  const there = deps.continuity.rulesOf(scope, sessionId ?? agentId ?? '');
  if (replaces !== undefined && there.every((rule) => rule.ruleId !== replaces)) throw noRule(replaces);
  const pinned = there.filter((rule) => rule.ruleId !== replaces);
  const chars = pinned.reduce((sum, rule) => sum + rule.text.length, 0);
  if (pinned.length >= RULES_MAX || chars + text.length > RULE_CHARS_MAX) {
    throw new AppError(
      'conflict',
      `There is no room for another rule: ${pinned.length} rules with ${chars} characters are pinned already.`,
      { hint: 'Unpin one first: every rule takes room in every request to the model.' },
    );
  }
  const ruleId = deps.ids.next('rul');
  const draft: AnyDraft = { type: 'rule.pinned', body: { ruleId, text, scope, agentId: agentId ?? null, by: actor } };
  const gone: AnyDraft[] = replaces === undefined ? [] : [{ type: 'rule.unpinned', body: { ruleId: replaces, by: actor } }];
  deps.log.append(sessionId ?? systemSessionId, [...gone, draft], true);
  return needRule(deps, { ruleId });
}

function unpin(deps: Deps, params: OpParsed<'rule.unpin'>, { actor }: Caller): PinnedRule {
  const rule = needRule(deps, params);
  const draft: AnyDraft = { type: 'rule.unpinned', body: { ruleId: rule.ruleId, by: actor } };
  deps.log.append(rule.scope === 'session' ? rule.owner : systemSessionId, [draft], true);
  return rule;
}

function rulesIn(deps: Deps, sessionId: string): PinnedRule[] {
  return [...deps.continuity.rulesFor(sessionId, needSession(deps, sessionId).agentId)];
}

async function compact(deps: Deps, sessionId: string, { actor }: Caller): Promise<OpResult<'session.compact'>> {
  needSession(deps, sessionId);
  const written = await deps.compaction.compact(sessionId, actor);
  if (written === null) return { summaryId: null, text: '', method: null, messages: 0, tokens: 0 };
  const { summaryId, text, method, source, tokens } = written;
  return { summaryId, text, method, messages: source.messages, tokens };
}

function needSession(deps: Deps, sessionId: string): { readonly agentId: string } {
  const row = deps.log.index.session(sessionId);
  if (row === null) throw noSession(sessionId);
  return row;
}

function needRule(deps: Deps, { ruleId, sessionId }: OpParsed<'rule.unpin'>): PinnedRule {
  const here = sessionId === undefined ? undefined : rulesIn(deps, sessionId).find((rule) => rule.ruleId === ruleId);
  const rule = here ?? (sessionId === undefined ? deps.continuity.rule(ruleId) : null);
  if (rule === null) throw noRule(ruleId);
  return rule;
}

function noRule(ruleId: string): AppError {
  return new AppError('not_found', `There is no rule ${ruleId}.`, { hint: 'See: trayclaw rules list' });
}
