// For tests only: commands about the governor and second opinions, each with the operation it calls, and the fake's answers.

import type { Opinion } from '../../core/contracts/features/opinions.ts';
import type { OpHandlers, OpName } from '../../core/contracts/ops.ts';

const opinion: Opinion = {
  opinionId: 'opn_1',
  turnId: 't',
  panel: 'careful',
  judge: 'cloud/d',
  by: 'ada',
  atMs: 5,
  finished: true,
  verdict: 'revise',
  disagreement: 0.8,
  best: 'lab/a',
  text: 'About 3.9 million.',
  reason: 'They differ.',
  costUsd: 0.01,
  opinions: [
    {
      model: 'lab/a',
      text: '3.9 million',
    },
  ],
};
const finding = {
  signal: 'risk' as const,
  value: 85,
  ruleId: 'risk.validate',
  directive: 'validate' as const,
  callId: 'call_1',
  tool: 'pay',
  applied: true,
};
const tried = {
  turns: 1,
  calls: 2,
  tightened: 1,
  lookedBackToMs: null,
  rules: [
    {
      ruleId: 'risk.validate',
      directive: 'validate' as const,
      findings: 1,
      turns: 1,
      lastTurnId: 't',
    },
  ],
};

export const cautionAnswers: Pick<OpHandlers, 'governor.explain' | 'governor.try' | 'model.opinion' | 'opinion.list'> = {
  'governor.explain': ({ turnId }) => ({ turnId, recorded: true, findings: [finding] }),
  'governor.try': () => tried,
  'model.opinion': () => opinion,
  'opinion.list': () => ({ opinions: [opinion] }),
};

export const cautionCommands: readonly { argv: string[]; op: OpName; params: unknown; json: unknown }[] = [
  { argv: ['governor', 'explain', 't'], op: 'governor.explain', params: { turnId: 't' }, json: [finding] },
  { argv: ['governor', 'try', '--days', '7'], op: 'governor.try', params: { days: 7 }, json: tried },
  {
    argv: ['model', 'opinion', 't', '--panel', 'careful'],
    op: 'model.opinion',
    params: { turnId: 't', panel: 'careful' },
    json: opinion,
  },
  { argv: ['model', 'opinions', 't'], op: 'opinion.list', params: { turnId: 't' }, json: [opinion] },
];
