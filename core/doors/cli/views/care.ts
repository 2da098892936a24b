// Views of activity, usage, the log, failed turns and backups.

import { counted } from '../../../base/counted.ts';
import { AppError } from '../../../contracts/errors.ts';
import type { DeadLetter } from '../../../contracts/features/dead-letters.ts';
import type { OpResult } from '../../../contracts/ops.ts';
import type { Paint } from '../output.ts';
import type { ViewsOf } from '../kernel/view.ts';
import { money, table, when } from '../table.ts';

export const auditViews: ViewsOf<'audit'> = {
  'audit.verify': { show: (result, { paint }) => describeAudit(result, paint) },
  'audit.accept': {
    show: ({ accepted }) =>
      accepted === 0
        ? 'Nothing of the log was found missing.'
        : 'Accepted: the log continues as it is. If everything is stopped, release it with: trayclaw panic --release',
  },
};

export const replayViews: ViewsOf<'replay'> = {
  'replay.run': {
    show: ({ identical, decisions, differences }) =>
      identical
        ? `Identical: ${decisions} decisions.`
        : table(
            ['STEP', 'RECORDED', 'DECIDED NOW'],
            differences.map((one) => [String(one.step), one.recorded, one.decided]),
            'Different.',
          ),
  },
};

export const usageViews: ViewsOf<'usage'> = { 'usage.get': { show: describeUsage } };

export const deadLetterViews: ViewsOf<'dlq'> = {
  'dlq.list': { json: ({ letters }) => letters, show: ({ letters }) => describe(letters) },
  'dlq.clear': {
    params: ({ letterId }, { given }) => {
      if ((letterId === undefined) === (given['all'] === true)) return letterId === undefined ? {} : { letterId };
      throw new AppError('invalid_params', 'Name a dead letter, or say --all.', { hint: 'See: trayclaw dlq list' });
    },
  },
};

export const backupViews: ViewsOf<'backup'> = {
  'backup.verify': { show: ({ ok, detail, events }) => `${ok ? 'Intact' : 'Damaged'}: ${detail} (${counted(events, 'event')})` },
};

function describeUsage({ rows, today, budget }: OpResult<'usage.get'>): string {
  const row = (one: (typeof rows)[number]): string[] => [
    one.key,
    String(one.turns),
    String(one.modelCalls),
    String(one.inputTokens),
    String(one.outputTokens),
    latency(one.tookMs),
    money(one.costUsd),
  ];
  const limit = budget.perDayUsd === null ? '' : ` of ${money(budget.perDayUsd)}`;
  return `${table(['', 'TURNS', 'MODEL CALLS', 'IN', 'OUT', 'P50/P95', 'COST'], rows.map(row), 'Nothing was used.')}\n\nToday: ${money(today.costUsd)}${limit}`;
}

function describeAudit({ ok, events, sessions, firstBad, faults }: OpResult<'audit.verify'>, paint: Paint): string {
  if (ok) return `${paint('green', 'Intact')}: ${counted(events, 'event')} in ${counted(sessions, 'session')}.`;
  const bad =
    firstBad === undefined
      ? []
      : [
          `${paint('red', 'Damaged')}: event ${firstBad.seq} (${firstBad.sessionId} #${firstBad.sessionSeq}): ${firstBad.reason}`,
          'Restore a backup from before it: trayclaw backup list, then trayclaw backup restore FILE',
        ];
  const others = (faults ?? []).map(
    ({ kind, detail, hint }) => `${paint('red', kind === 'database' ? 'Damaged' : 'Not intact')}: ${detail}\n${hint}`,
  );
  return [...others, ...bad].join('\n');
}

function latency(one: { readonly p50: number; readonly p95: number } | null): string {
  return one === null ? '' : `${Math.round(one.p50)}/${Math.round(one.p95)} ms`;
}

function describe(letters: readonly DeadLetter[]): string {
  return table(
    ['LETTER', 'FAILED', 'CHANNEL', 'TRIES', 'NEXT', 'WHAT HAPPENED', 'WHY IT IS YOURS'],
    letters.map((one) => [
      one.letterId,
      when(one.lastAtMs),
      one.channel,
      String(one.attempt),
      one.state === 'waiting' ? when(one.retryAtMs) : one.state === 'retrying' ? 'now' : 'yours',
      one.reason.message,
      one.left,
    ]),
    'No dead letters.',
  );
}
