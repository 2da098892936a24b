// Views of scheduled tasks, the heartbeat and the task list, and the parser of a typed due time.

import { AppError } from '../../../contracts/errors.ts';
import type { OpParams } from '../../../contracts/ops.ts';
import type { HeartbeatState, ScheduleView, ScheduleSpec, ScheduleSpecInput } from '../../../contracts/features/schedule.ts';
import type { JobBounds } from '../../../contracts/turn-bounds.ts';
import { toolClasses, type ToolClass } from '../../../contracts/tools.ts';
import { parseCount } from '../command-context.ts';
import type { Given } from '../kernel/entries.ts';
import { oneOf } from '../kernel/read-params.ts';
import { listed, type ViewsOf } from '../kernel/view.ts';
import { facts, table, when } from '../table.ts';

const unitsMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const NAME_MAX = 60;

export const scheduleViews: ViewsOf<'schedule'> = {
  'schedule.list': listed(
    'schedules',
    { SCHEDULE: 'scheduleId', NEXT: nextWords, WHEN: ({ spec }) => specWords(spec), LAST: lastWords, NAME: 'name' },
    'There are no schedules.',
  ),
  'schedule.get': { show: describe },
  'schedule.create': {
    params: ({ prompt, file, ...others }, { given }) => ({
      name: nameFor(prompt ?? file ?? ''),
      ...(prompt === undefined ? { file } : { prompt }),
      spec: specOf(given),
      bounds: boundsOf(given),
      ...others,
      ...approvalOf(given),
    }),
    show: (view, { program, isRunning }) =>
      `Added ${view.scheduleId}; next: ${nextWords(view)}.${isRunning ? '' : `\nTrayClaw does not run now, and must run then: ${program} serve, or ${program} service install`}`,
  },
  'schedule.update': {
    params: ({ scheduleId = '', ...others }, { given }) => ({
      scheduleId,
      ...others,
      ...(isTimed(given) ? { spec: specOf(given) } : {}),
      ...approvalOf(given),
    }),
    show: (view) => `${view.name}: ${view.enabled ? `next ${nextWords(view)}` : 'paused'}.`,
  },
  'schedule.preview': {
    params: (params, { given }) => ({ ...params, spec: specOf(given) }),
    show: ({ nextMs }) => nextMs.map(when).join('\n'),
  },
};

export const heartbeatViews: ViewsOf<'heartbeat'> = {
  'heartbeat.get': { show: describeHeartbeat },
  'heartbeat.run': { show: describeHeartbeat },
};

/** The name of a scheduled task: the start of its prompt, or the name of its pipeline file. */
function nameFor(asked: string): string {
  return (/[^/\\]+\.ya?ml$/.exec(asked)?.[0] ?? asked).slice(0, NAME_MAX);
}

function isTimed({ at, every, cron, zone }: Given): boolean {
  return [at, every, cron, zone].some((one) => one !== undefined);
}

/** Fails with `invalid_params` unless exactly one of the options is given. */
function specOf(given: Given): ScheduleSpecInput {
  const { at, every, cron, zone } = given as { at?: string; every?: string; cron?: string; zone?: string };
  const zoned = zone === undefined ? {} : { zone };
  const named = [at, every, cron].filter((one) => one !== undefined);
  if (named.length !== 1) throw new AppError('invalid_params', 'Name one of --at, --every and --cron.');
  if (cron !== undefined) return { kind: 'cron', expr: cron, ...zoned };
  if (zone !== undefined && every !== undefined)
    throw new AppError('invalid_params', '--zone goes with --at and --cron; an interval has no time zone.');
  if (every !== undefined) return { kind: 'every', everyMs: intervalOf(every) };
  const moment = at ?? '';
  if (/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(moment)) return { kind: 'at', local: moment, ...zoned };
  const atMs = Date.parse(moment);
  if (Number.isNaN(atMs)) throw new AppError('invalid_params', '--at takes a time such as 2026-03-29T02:30.');
  return { kind: 'at', atMs };
}

function boundsOf(given: Given): Partial<JobBounds> {
  const { tools, classes, usd, grants } = given as { tools?: string[]; classes?: string[]; usd?: string; grants?: boolean };
  return {
    ...(tools === undefined ? {} : { tools }),
    ...(classes === undefined ? {} : { classes: classes.map((one) => oneOf(toolClasses, one, '--classes') as ToolClass) }),
    ...(usd === undefined ? {} : { usd: amountOf(usd) }),
    ...(grants === true ? { grants: true } : {}),
  };
}

function approvalOf({ approvalMinutes }: Given): Pick<OpParams<'schedule.create'>, 'approvalMs'> {
  return typeof approvalMinutes === 'string' ? { approvalMs: parseCount(approvalMinutes, '--approval-minutes') * unitsMs.m } : {};
}

function intervalOf(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  if (count === '') throw new AppError('invalid_params', '--every takes minutes, hours or days, such as 15m, 2h or 1d.');
  return Number(count) * unitsMs[unit as keyof typeof unitsMs];
}

function amountOf(text: string): number {
  if (!/^\d{1,6}(\.\d{1,4})?$/.test(text)) throw new AppError('invalid_params', '--usd takes an amount in US dollars, such as 0.50.');
  return Number(text);
}

function nextWords({ enabled, nextMs }: Pick<ScheduleView, 'enabled' | 'nextMs'>): string {
  if (!enabled) return 'paused';
  return nextMs[0] === undefined ? 'never again' : when(nextMs[0]);
}

function specWords(spec: ScheduleSpec): string {
  switch (spec.kind) {
    case 'at':
      return spec.local === undefined ? `once, ${when(spec.atMs)}` : `once, ${spec.local} ${spec.zone ?? ''}`;
    case 'every':
      return everyWords(spec.everyMs);
    case 'cron':
      return `${spec.expr} (${spec.zone})`;
  }
}

/** In the largest unit without a fraction: `every day`, `every 90 minutes`. */
function everyWords(ms: number): string {
  const units = [
    ['day', unitsMs.d],
    ['hour', unitsMs.h],
    ['minute', unitsMs.m],
  ] as const;
  const [unit, unitMs] = units.find(([, size]) => ms % size === 0) ?? ['minute', unitsMs.m];
  return ms === unitMs ? `every ${unit}` : `every ${ms / unitMs} ${unit}s`;
}

function lastWords({ last }: Pick<ScheduleView, 'last'>): string {
  const [newest] = last;
  if (newest === undefined) return '-';
  return newest.disposition === 'run' ? (newest.status ?? 'run') : newest.disposition;
}

function describe(view: ScheduleView): string {
  const head = facts([
    ['schedule', view.scheduleId],
    ['name', view.name],
    ['when', specWords(view.spec)],
    ['next', nextWords(view)],
    ['missed', view.missed],
    ['by', view.createdBy],
    ['asked', view.prompt],
    ['sent to', view.deliver ?? ''],
    ['added to', view.appendTo ?? ''],
    ['replaces', view.writeTo ?? ''],
  ]);
  const rows = view.last.map((one) => [
    when(one.dueMs),
    one.disposition,
    String(one.count ?? 1),
    one.turnId ?? one.taskId ?? '',
    one.status ?? one.reason ?? '',
  ]);
  return `${head}\n\n${table(['DUE', 'WHAT', 'TIMES', 'TURN', 'HOW'], rows, 'It was not due yet.')}`;
}

function describeHeartbeat(state: HeartbeatState): string {
  return facts([
    ['every', state.enabled ? `${state.everyMinutes} minutes` : 'off'],
    ['next', when(state.nextMs)],
    ['file', state.file],
    ['last', state.lastOutcome === null ? '-' : `${when(state.lastAtMs)} ${state.lastOutcome}`],
    ['checks with nothing to do', String(state.idle)],
  ]);
}
