// For tests only: commands about the context pack, each with the operation it calls and its output.

import type { OpName } from '../../core/contracts/ops.ts';
import { packRow, rule } from './fake-answers.ts';

export const contextCommands: readonly { argv: string[]; op: OpName; params: unknown; json: unknown }[] = [
  { argv: ['packs', 'list', '--session', 's', '--limit', '3'], op: 'pack.list', params: { sessionId: 's', limit: 3 }, json: [packRow] },
  { argv: ['rules', 'list', '--session', 's'], op: 'rule.list', params: { sessionId: 's' }, json: [rule] },
  { argv: ['rules', 'pin', 'be', 'brief', '--session', 's'], op: 'rule.pin', params: { text: 'be brief', sessionId: 's' }, json: rule },
  {
    argv: ['rules', 'pin', 'be', 'kind', '--agent', 'main', '--replace', 'rul_1'],
    op: 'rule.pin',
    params: { text: 'be kind', agentId: 'main', replaces: 'rul_1' },
    json: rule,
  },
  { argv: ['rules', 'unpin', 'rul_1', '--session', 's'], op: 'rule.unpin', params: { ruleId: 'rul_1', sessionId: 's' }, json: rule },
  { argv: ['rules', 'unpin', 'rul_1'], op: 'rule.unpin', params: { ruleId: 'rul_1' }, json: rule },
  {
    argv: ['sessions', 'compact', 's'],
    op: 'session.compact',
    params: { sessionId: 's' },
    json: { summaryId: 'sum_1', text: 'Asked: a plan.', method: 'model', messages: 16, tokens: 9 },
  },
];
