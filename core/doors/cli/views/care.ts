// Views of activity, running work, reviews of changed files, usage, the log, failed turns, backups, bug reports and traces.

import { counted } from '../../../base/counted.ts';
import { AppError } from '../../../contracts/errors.ts';
import type { OpResult, OpParams } from '../../../contracts/ops.ts';
import type { Paint } from '../output.ts';
import { listed, tabled, type ViewsOf } from '../kernel/view.ts';
import { money, when } from '../table.ts';
import { safeForTerminal } from '../../../base/visible-text.ts';
import { describeFile } from '../file-diff.ts';
import type { CommandContext } from '../command-context.ts';
import { confirmed } from '../questions.ts';
import { exitCodes } from '../exit-code.ts';
import type { Given } from '../kernel/entries.ts';

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
        : tabled(differences, { STEP: 'step', RECORDED: 'recorded', 'DECIDED NOW': 'decided' }, 'Different.'),
  },
};

export const usageViews: ViewsOf<'usage'> = { 'usage.get': { show: describeUsage } };

export const deadLetterViews: ViewsOf<'dlq'> = {
  'dlq.list': listed(
    'letters',
    {
      LETTER: 'letterId',
      FAILED: 'lastAtMs',
      CHANNEL: 'channel',
      TRIES: 'attempt',
      NEXT: ({ state, retryAtMs }) => (state === 'waiting' ? when(retryAtMs) : state === 'retrying' ? 'now' : 'yours'),
      'WHAT HAPPENED': ({ reason }) => reason.message,
      'WHY IT IS YOURS': 'left',
    },
    'No dead letters.',
  ),
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
  const used = tabled(
    rows,
    {
      '': 'key',
      TURNS: 'turns',
      'MODEL CALLS': 'modelCalls',
      IN: 'inputTokens',
      OUT: 'outputTokens',
      'P50/P95': ({ tookMs }) => latency(tookMs),
      COST: 'costUsd',
    },
    'Nothing was used.',
  );
  const limit = budget.perDayUsd === null ? '' : ` of ${money(budget.perDayUsd)}`;
  return `${used}\n\nToday: ${money(today.costUsd)}${limit}`;
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

export const runningViews: ViewsOf<'running'> = {
  'running.list': { show: (atWork, { program }) => [describeTurns(atWork), ...describeCommands(atWork, program)].join('\n\n') },
  'running.stop': {
    show: ({ stopped }, { params: { commandId }, program }) =>
      stopped ? `Stopped ${commandId}.` : `No command ${commandId} is in the background. See: ${program} running list`,
    saysWhyNot: true,
  },
};

function describeTurns({ turns }: OpResult<'running.list'>): string {
  return tabled(
    turns,
    {
      TURN: 'turnId',
      STATUS: 'status',
      SINCE: ({ sinceMs }) => when(sinceMs),
      SESSION: 'title',
      CALLS: ({ calls }) => calls.map(({ tool }) => tool).join(', ') || '-',
    },
    'No turn is at work.',
  );
}

function describeCommands({ commands }: OpResult<'running.list'>, program: string): string[] {
  if (commands.length === 0) return [];
  return [
    tabled(
      commands,
      { 'COMMAND IN THE BACKGROUND': 'commandId', SINCE: ({ sinceMs }) => when(sinceMs), SESSION: 'sessionId', LINE: 'command' },
      '',
    ),
    `To follow one: ${program} tool exec '{"action":"poll","sessionId":"COMMAND"}' --session SESSION\nTo end one: ${program} running stop COMMAND`,
  ];
}

type Reviewed = OpResult<'checkpoint.review'>;

export const checkpointViews: ViewsOf<'checkpoint'> = {
  'checkpoint.review': {
    params: (_, { given: { id } }) => (String(id).startsWith('trn_') ? { turnId: String(id) } : { sessionId: String(id) }),
    json: ({ files }) => files,
    show: ({ files }, { paint, program, params: { turnId, sessionId } }) => {
      if (files.length === 0) return 'No file is changed.';
      const shown = files.map((file) => describeFile(file, { verb: fileVerbs[file.change], numbered: true }, paint) + restoreWords(file));
      const undo = `${program} undo ${turnId ?? sessionId ?? ''}`;
      return [...shown, `To put all of it back: ${undo}\nOr one file, or parts of it: ${undo} --file PATH --part 1 --seen VERSION`].join(
        '\n\n',
      );
    },
  },
};

const fileVerbs = { created: 'made', changed: 'changed', removed: 'removed', none: 'unchanged', unknown: 'changed' } as const;

function restoreWords({ refused, version }: Reviewed['files'][number]): string {
  return refused === null ? `\nversion ${version}` : `\nIt cannot be put back: ${safeForTerminal(refused)}`;
}

export const reportViews: ViewsOf<'report'> = { 'report.make': { perform: makeAndSave } };

function makeAndSave(context: CommandContext, params: OpParams<'report.make'>, given: Given): Promise<number> {
  return context.withClaw('any', async ({ claw }) => {
    const { output } = context;
    const made = await claw.op('report.make', params);
    const words = made.files.map(({ name, text }) => `--- ${name}\n${text.trimEnd()}`).join('\n\n');
    const saves = given['yes'] === true || (context.hasPerson && (await confirmed(context, words, 'Save this as one archive?')));
    if (!saves) {
      output.result(made, () => (context.hasPerson ? 'Nothing was saved.' : `${words}\n\nNothing was saved. To save it, say --yes.`));
      return exitCodes.waiting;
    }
    const saved = await claw.op('report.save', { reportId: made.reportId });
    output.result({ ...made, ...saved }, () => `Saved ${saved.path}. Nothing was sent: attach it to your report yourself.`);
    return exitCodes.done;
  });
}

export const telemetryViews: ViewsOf<'telemetry'> = {
  'telemetry.export': { show: (traces) => JSON.stringify(traces, null, 2) },
};
