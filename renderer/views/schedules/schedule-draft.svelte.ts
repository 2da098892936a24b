// A schedule as typed: the fields of a form, read from a schedule and converted to what the operation expects. The host validates it.

import type { OpParams } from '../../../core/contracts/ops.ts';
import type { MissedPolicy, ScheduleSpec, ScheduleSpecInput, ScheduleView } from '../../../core/contracts/features/schedule.ts';
import type { JobBounds } from '../../../core/contracts/turn-bounds.ts';
import type { ToolClass } from '../../../core/contracts/tools.ts';

/** `days` (days of the week at a time) becomes a cron rule. */
export type WhenKind = ScheduleSpec['kind'] | 'days';
export type EveryUnit = 'minutes' | 'hours' | 'days';

const unitMs: Readonly<Record<EveryUnit, number>> = { minutes: 60_000, hours: 3_600_000, days: 86_400_000 };
const minuteMs = 60_000;
const standardApprovalMinutes = 30;

/** The bounds of a schedule without any. */
const noBounds: JobBounds = {
  tools: null,
  classes: null,
  folders: null,
  hosts: null,
  steps: null,
  turnMs: null,
  usd: null,
  tokens: null,
  grants: false,
};

export class ScheduleDraft {
  readonly scheduleId: string | null;
  name = $state('');
  prompt = $state('');
  kind = $state<WhenKind>('days');
  /** Numbered as in a cron rule: 0 is Sunday. */
  days = $state.raw<readonly number[]>([1, 2, 3, 4, 5]);
  /** In the format of a time field: 08:00. */
  time = $state('08:00');
  expr = $state('0 8 * * 1-5');
  everyCount = $state<number | null>(1);
  everyUnit = $state<EveryUnit>('hours');
  /** In the format of a date and time field: 2026-03-29T08:30. */
  local = $state('');
  zone = $state('');
  agentId = $state('main');
  session = $state('own');
  missed = $state<MissedPolicy>('once');
  deliver = $state('');
  appendTo = $state('');
  writeTo = $state('');
  approvalMinutes = $state<number | null>(standardApprovalMinutes);
  classes = $state.raw<readonly ToolClass[]>([]);
  tools = $state('');
  usd = $state<number | null>(null);
  steps = $state<number | null>(null);
  grants = $state(false);
  readonly #rest: JobBounds;
  readonly #anchorMs: number | null;

  constructor(schedule: ScheduleView | null, zone: string) {
    this.scheduleId = schedule?.scheduleId ?? null;
    this.#rest = schedule?.bounds ?? noBounds;
    this.#anchorMs = schedule?.spec.kind === 'every' ? schedule.spec.anchorMs : null;
    this.zone = zone;
    if (schedule !== null) this.#read(schedule);
  }

  get spec(): ScheduleSpecInput {
    const zone = this.zone.trim() === '' ? {} : { zone: this.zone.trim() };
    switch (this.kind) {
      case 'at':
        return { kind: 'at', local: this.local, ...zone };
      case 'every': {
        const anchor = this.#anchorMs === null ? {} : { anchorMs: this.#anchorMs };
        return { kind: 'every', everyMs: (this.everyCount ?? 0) * unitMs[this.everyUnit], ...anchor };
      }
      case 'days':
        return { kind: 'cron', expr: ruleOf(this.days, this.time), ...zone };
      case 'cron':
        return { kind: 'cron', expr: this.expr.trim(), ...zone };
    }
  }

  toParams(): OpParams<'schedule.create'> {
    return {
      name: this.name.trim(),
      prompt: this.prompt.trim(),
      spec: this.spec,
      agentId: this.agentId.trim() === '' ? 'main' : this.agentId.trim(),
      session: this.session,
      missed: this.missed,
      deliver: this.deliver === '' ? null : this.deliver,
      appendTo: this.appendTo.trim() === '' ? null : this.appendTo.trim(),
      writeTo: this.writeTo.trim() === '' ? null : this.writeTo.trim(),
      approvalMs: (this.approvalMinutes ?? standardApprovalMinutes) * minuteMs,
      bounds: {
        ...this.#rest,
        tools: listOf(this.tools),
        classes: this.classes.length === 0 ? null : [...this.classes],
        usd: this.usd,
        steps: this.steps,
        grants: this.grants,
      },
    };
  }

  toggle(toolClass: ToolClass, isOn: boolean): void {
    this.classes = isOn ? [...this.classes, toolClass] : this.classes.filter((one) => one !== toolClass);
  }

  toggleDay(day: number, isOn: boolean): void {
    this.days = isOn ? [...this.days, day] : this.days.filter((one) => one !== day);
  }

  #read(schedule: ScheduleView): void {
    const { spec, bounds } = schedule;
    this.name = schedule.name;
    this.prompt = schedule.prompt;
    this.kind = spec.kind;
    if (spec.kind === 'cron') {
      [this.expr, this.zone] = [spec.expr, spec.zone];
      const known = daysOf(spec.expr);
      if (known !== null) [this.kind, this.days, this.time] = ['days', known.days, known.time];
    }
    if (spec.kind === 'at') [this.local, this.zone] = [spec.local ?? localTime(spec.atMs), spec.zone ?? this.zone];
    if (spec.kind === 'every') [this.everyCount, this.everyUnit] = inUnits(spec.everyMs);
    this.agentId = schedule.agentId;
    this.session = schedule.session;
    this.missed = schedule.missed;
    this.deliver = schedule.deliver ?? '';
    this.appendTo = schedule.appendTo ?? '';
    this.writeTo = schedule.writeTo ?? '';
    this.approvalMinutes = Math.max(1, Math.round(schedule.approvalMs / minuteMs));
    this.classes = bounds.classes ?? [];
    this.tools = (bounds.tools ?? []).join(', ');
    this.usd = bounds.usd;
    this.steps = bounds.steps;
    this.grants = bounds.grants;
  }
}

const allDays: readonly number[] = [0, 1, 2, 3, 4, 5, 6];
const workDays = '1-5';

function ruleOf(days: readonly number[], time: string): string {
  const [hour = '', minute = ''] = time.split(':');
  const wanted = allDays.filter((day) => days.includes(day)).join(',');
  const named = wanted === '1,2,3,4,5' ? workDays : wanted === allDays.join(',') ? '*' : wanted;
  return `${Number(minute)} ${Number(hour)} * * ${named}`;
}

/** Null if the rule contains more than days and a time, or is written in another way; it is then saved as written. */
function daysOf(expr: string): { readonly days: readonly number[]; readonly time: string } | null {
  const [, minute = '', hour = '', named = ''] = /^(\d{1,2}) (\d{1,2}) \* \* (\*|1-5|[0-6](?:,[0-6])*)$/.exec(expr) ?? [];
  if (named === '') return null;
  const days = named === '*' ? allDays : named === workDays ? [1, 2, 3, 4, 5] : named.split(',').map(Number);
  const time = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
  return ruleOf(days, time) === expr ? { days, time } : null;
}

/** Empty means no bound. */
function listOf(text: string): string[] | null {
  const names = text.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));
  return names.length === 0 ? null : names;
}

function inUnits(ms: number): [number, EveryUnit] {
  const unit = (['days', 'hours'] as const).find((one) => ms % unitMs[one] === 0) ?? 'minutes';
  return [ms / unitMs[unit], unit];
}

/** In this computer's time zone. */
function localTime(atMs: number): string {
  const shifted = new Date(atMs - new Date(atMs).getTimezoneOffset() * minuteMs);
  return shifted.toISOString().slice(0, 16);
}
