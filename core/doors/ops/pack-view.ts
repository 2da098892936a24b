// "What the model saw": a pack put together again from the log, with its sections, drops and messages.

import { AppError } from '../../contracts/errors.ts';
import type { ChatMessage } from '../../contracts/llm.ts';
import type { OpResult } from '../../contracts/ops.ts';
import { loadTranscript } from '../../runtime/turns/turns.ts';
import type { OpsDeps } from './deps.ts';

export function readPackView(deps: OpsDeps, packId: string): OpResult<'pack.get'> {
  const turnId = packId.slice(0, packId.lastIndexOf('-p'));
  const row = deps.log.index.turn(turnId);
  const events = row === null ? [] : deps.log.reads.turn(row.sessionId, turnId, row.firstSeq);
  const built = events.find((event) => event.type === 'pack.built' && event.body.packId === packId);
  if (built?.type !== 'pack.built') throw new AppError('not_found', `There is no pack ${packId}.`);
  const transcript = loadTranscript(deps.log, deps.packer, built.sessionId, built.sessionSeq);
  transcript.keepFrom(built.body.fromSessionSeq);
  const { tokens, budgetTokens, sections, dropped, truncated } = built.body;
  const messages = [{ role: 'system', text: deps.packer.systemText }, ...transcript.messages.map(show)];
  return { packId, turnId, tokens, budgetTokens, sections, dropped, truncated, messages };
}

function show(message: ChatMessage): { role: string; text: string } {
  if (message.role !== 'assistant') return { role: message.role, text: message.text };
  const calls = message.calls.map((call) => `→ ${call.tool} ${call.args}`).join('\n');
  return { role: 'assistant', text: [message.text, calls].filter((part) => part !== '').join('\n') };
}
