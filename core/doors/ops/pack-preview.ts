// `pack.preview`: the content of the next model request of a session, built as a turn builds it. Asks no model and records nothing.

import { noSession } from '../../contracts/errors.ts';
import { mainAgentId } from '../../contracts/agents.ts';
import type { OpParsed, OpResult, ServedCaller } from '../../contracts/ops.ts';
import { ownWords, selectParts, splitTail, type Pack, type Transcript } from '../../mind/context/context.ts';
import { loadTranscript, offeredWithin, openApprovals } from '../../runtime/turns/turns.ts';
import { show } from './pack-view.ts';
import type { OpsParts } from './parts.ts';
import { modelRefFor } from './route-op.ts';

type Deps = Pick<OpsParts, 'agents' | 'continuity' | 'gate' | 'later' | 'log' | 'models' | 'packer' | 'packSources' | 'policy' | 'tools'>;

const noNote = (): void => undefined;

/** Fails with `not_found`, `no_model` or `model_unknown`. */
export async function previewPack(deps: Deps, params: OpParsed<'pack.preview'>, caller: ServedCaller): Promise<OpResult<'pack.preview'>> {
  const { sessionId = '' } = params;
  const row = sessionId === '' ? null : deps.log.index.session(sessionId);
  if (row === null && sessionId !== '') throw noSession(sessionId);
  const agentId = row?.agentId ?? params.agentId ?? mainAgentId;
  const model = modelRefFor(deps, params.model ?? row?.model, agentId);
  const transcript = transcriptWith(deps, params, caller.actor);
  const bounds = deps.agents.boundsOf(agentId);
  const tools = offeredWithin(deps, deps.tools.schemas(), { bounds, origin: { channel: caller.channel, agentId } });
  const info = deps.models.info(model);
  const words = transcript.messages.findLast((message) => message.role === 'user');
  const request = { session: sessionId, agent: agentId, query: ownWords(words?.text ?? ''), tools, contextTokens: info.contextTokens };
  const selected = await selectParts(deps.packSources ?? [], request, { later: deps.later, signal: caller.gone, note: noNote });
  const identity = deps.agents.identityOf(agentId);
  const rules = deps.continuity.rulesFor(sessionId, agentId).map((rule) => rule.text);
  const approvals = openApprovals(deps.policy, sessionId);
  const about = { packId: 'preview', transcript, model: info, tools, smaller: false, identity, workspace: row?.workspace ?? null };
  const pack = deps.packer.build({ ...about, rules, approvals, selected });
  return { model, ...shownPack(pack) };
}

/** The conversation with the message that would be sent. */
function transcriptWith(deps: Deps, { sessionId, text }: OpParsed<'pack.preview'>, sender: string): Transcript {
  const transcript = sessionId === undefined ? deps.packer.createTranscript() : loadTranscript(deps, sessionId);
  const place = { turnId: 'preview', sessionSeq: Number.MAX_SAFE_INTEGER };
  if (text !== undefined) transcript.apply({ ...place, type: 'turn.steered', body: { text, sender } });
  return transcript;
}

function shownPack({ system, tools, messages, tail, event }: Pack): Omit<OpResult<'pack.preview'>, 'model'> {
  const { tokens, budgetTokens, sections, dropped, truncated, parts } = event;
  const described = tools.map(({ name, description }) => `${name}: ${description}`).join('\n');
  const texts = [{ section: 'system', text: system }, ...splitTail(tail ?? ''), { section: 'tools', text: described }];
  return {
    tokens,
    budgetTokens,
    sections,
    dropped,
    truncated,
    messages: [{ role: 'system', text: system }, ...messages.map(show), ...(tail === undefined ? [] : [{ role: 'note', text: tail }])],
    ...(parts === undefined ? {} : { parts }),
    texts: texts.map((one) => ({ ...one, asOf: 'now' as const })),
  };
}
