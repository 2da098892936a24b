// Views of the governor and of second opinions.

import { counted } from '../../../base/counted.ts';
import type { Opinion } from '../../../contracts/features/opinions.ts';
import type { OpResult } from '../../../contracts/ops.ts';
import { tabled, type ViewsOf } from '../kernel/view.ts';
import { when } from '../table.ts';

export const governorViews: ViewsOf<'governor'> = {
  'governor.explain': {
    json: ({ findings }) => findings,
    show: ({ findings, recorded }) =>
      `${recorded ? '' : 'The governor was off; this is what it would have said.\n'}${tabled(
        findings,
        {
          CALL: ({ callId, tool }) => (callId === null ? 'the answer' : `${tool ?? ''} ${callId}`.trim()),
          SIGNAL: 'signal',
          VALUE: 'value',
          RULE: 'ruleId',
          DIRECTIVE: 'directive',
          '': ({ applied }) => (applied ? 'took effect' : ''),
        },
        'No rule fired.',
      )}`,
  },
  'governor.try': { show: describeTry },
};

export const opinionViews: ViewsOf<'opinion'> = {
  'opinion.list': {
    json: ({ opinions }) => opinions,
    show: ({ opinions }) => opinions.map(describeOpinion).join('\n\n') || 'There are no second opinions on this turn.',
  },
};

function describeTry({ turns, calls, tightened, rules, lookedBackToMs }: OpResult<'governor.try'>): string {
  const since = lookedBackToMs === null ? '' : ` Looked back to ${when(lookedBackToMs)}.`;
  return `${tightened} of ${counted(calls, 'call')} in ${counted(turns, 'turn')} would have been asked about, verified or denied.${since}\n${tabled(
    rules,
    { RULE: 'ruleId', DIRECTIVE: 'directive', FIRED: 'findings', TURNS: 'turns', 'LAST TURN': 'lastTurnId' },
    'No rule would have fired.',
  )}`;
}

const verdicts = { accept: 'The answer stands.', revise: 'A better answer is proposed.', ask: 'You decide.' } as const;

export function describeOpinion({ verdict, disagreement, opinions, best, judge, text, reason, stopped }: Opinion): string {
  const preferred = best === null ? '' : ` ${judge} prefers ${best === 'given' ? 'the answer given' : `that of ${best}`}.`;
  return [
    `${verdicts[verdict]} Disagreement: ${Math.round(disagreement * 100)} %.${preferred}`,
    ...(reason === '' ? [] : [reason]),
    ...(stopped === undefined ? [] : [`It ended early: ${stopped}.`]),
    ...opinions.map((one) => `\n${one.model}:\n${one.error === undefined ? one.text : `(${one.error})`}`),
    ...(text === '' ? [] : [`\nProposed by ${judge}:\n${text}`]),
  ].join('\n');
}
