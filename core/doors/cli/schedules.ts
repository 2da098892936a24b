// Commands on what starts by itself: schedules, the heartbeat, signals from outside, and the task list.

import type { Command } from 'commander';
import { AppError } from '../../contracts/errors.ts';
import type { OpParams } from '../../contracts/ops.ts';
import type { HeartbeatState, ScheduleSpec, ScheduleSpecInput, ScheduleView } from '../../contracts/features/schedule.ts';
import type { JobBounds } from '../../contracts/turn-bounds.ts';
import { toolClasses, type ToolClass } from '../../contracts/tools.ts';
import { parseCount, type CommandContext, type Run } from './command-context.ts';
import { facts, table, when } from './table.ts';
import { oneOf } from './words.ts';

interface AddOptions {
  readonly at?: string;
  readonly every?: string;
  readonly cron?: string;
  readonly zone?: string;
  readonly name?: string;
  readonly agent?: string;
  readonly session?: string;
  readonly missed?: string;
  readonly tools?: readonly string[];
  readonly classes?: readonly string[];
  readonly usd?: string;
  readonly grants?: boolean;
  readonly approvalMinutes?: string;
  readonly deliver?: string;
}

const missedPolicies = ['skip', 'once', 'all'] as const;
const unitsMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const NAME_MAX = 60;

export function registerSchedules(program: Command, run: Run): void {
  const schedule = program.command('schedule').description('scheduled tasks');
  schedule
    .command('list')
    .description('list the tasks, the next one first')
    .action(() => run((context) => list(context)));
  schedule
    .command('add')
    .description('add a task; needs one of --at, --every and --cron')
    .argument('<prompt>', 'what is asked then')
    .option('--at <time>', 'once: 2026-03-29T02:30 as clocks show it there, or 2026-03-29T02:30:00Z')
    .option('--every <interval>', 'again and again: 15m, 2h, 1d')
    .option('--cron <line>', 'minute, hour, day of month, month, day of week')
    .option('--zone <name>', 'such as Europe/Berlin; that of this machine when left out')
    .option('--name <words>', 'the name of the task')
    .option('--agent <id>', 'the agent that does it; main by default')
    .option('--session <id>', 'own, new, or the id of one')
    .option('--missed <policy>', missedPolicies.join(', '))
    .option('--tools <names...>', 'no others')
    .option('--classes <names...>', 'no others')
    .option('--usd <amount>', 'at most, each time')
    .option('--grants', 'your grants cover it too')
    .option('--approval-minutes <n>', 'deny an approval that is still open after this time')
    .option('--deliver <chat>', 'the answer is sent there; last for the one used last')
    .action((prompt: string, options: AddOptions) => run((context) => add(context, prompt, options)));
  const onId = (name: string, description: string, act: (context: CommandContext, scheduleId: string) => Promise<number>): void => {
    schedule
      .command(name)
      .description(description)
      .argument('<schedule-id>')
      .action((scheduleId: string) => run((context) => act(context, scheduleId)));
  };
  onId('show', 'show a task and its latest runs', (context, scheduleId) =>
    context.runOp('schedule.get', { scheduleId, limit: 20 }, { human: (view) => describe(view) }),
  );
  onId('run', 'run a task now, in addition to its schedule', (context, scheduleId) =>
    context.runOp('schedule.run', { scheduleId }, { human: ({ turnId }) => `Started turn ${turnId}.` }),
  );
  onId('pause', 'pause a task until it is resumed', (context, scheduleId) => enable(context, scheduleId, false));
  onId('resume', 'resume a paused task', (context, scheduleId) => enable(context, scheduleId, true));
  onId('remove', 'remove a task for good', (context, scheduleId) =>
    context.runOp('schedule.remove', { scheduleId }, { human: () => `Removed ${scheduleId}.` }),
  );
  schedule
    .command('next')
    .description('show when a schedule would be due; saves nothing')
    .option('--at <time>', 'once, such as 2026-03-29T02:30')
    .option('--every <interval>', 'at an interval: 15m, 2h, 1d')
    .option('--cron <line>', 'minute, hour, day of month, month, day of week')
    .option('--zone <name>', 'such as Europe/Berlin; the zone of this machine by default')
    .option('--count <n>', 'how many')
    .action((options: AddOptions & { count?: string }) => run((context) => preview(context, options)));
}

export function registerHeartbeat(program: Command, run: Run): void {
  const heartbeat = program.command('heartbeat').description('the periodic HEARTBEAT.md check');
  heartbeat
    .command('show')
    .description('show the status')
    .action(() => run((context) => context.runOp('heartbeat.get', {}, { human: describeHeartbeat })));
  heartbeat
    .command('run')
    .description('run the check now')
    .action(() => run((context) => context.runOp('heartbeat.run', {}, { human: describeHeartbeat })));
}

export function registerTasks(program: Command, run: Run): void {
  const tasks = program.command('tasks').description('the task list');
  tasks
    .command('list')
    .description('list the open tasks')
    .option('--all', 'also what is done or dropped')
    .action((options: { all?: boolean }) =>
      run((context) =>
        context.runOp('task.list', options.all === true ? { all: true } : {}, {
          json: ({ tasks: found }) => found,
          human: ({ tasks: found }) =>
            table(
              ['TASK', 'STATE', 'SINCE', 'BY', 'WHAT'],
              found.map((task) => [task.taskId, task.state, when(task.createdAtMs), task.by, task.text]),
              'Nothing is open.',
            ),
        }),
      ),
    );
  tasks
    .command('add')
    .description('add a task')
    .argument('<text...>')
    .action((text: string[]) =>
      run((context) => context.runOp('task.add', { text: text.join(' ') }, { human: ({ taskId }) => `Added ${taskId}.` })),
    );
  for (const [name, how] of [
    ['done', 'done'],
    ['drop', 'dropped'],
  ] as const) {
    tasks
      .command(name)
      .description(`mark one as ${how}`)
      .argument('<task-id>')
      .action((taskId: string) =>
        run((context) => context.runOp('task.close', { taskId, how }, { human: ({ text, state }) => `${state}: ${text}` })),
      );
  }
}

function list(context: CommandContext): Promise<number> {
  return context.runOp(
    'schedule.list',
    {},
    {
      json: ({ schedules }) => schedules,
      human: ({ schedules }) =>
        table(
          ['SCHEDULE', 'NEXT', 'WHEN', 'LAST', 'NAME'],
          schedules.map((one) => [one.scheduleId, nextWords(one), specWords(one.spec), lastWords(one), one.name]),
          'There are no schedules.',
        ),
    },
  );
}

function add(context: CommandContext, prompt: string, options: AddOptions): Promise<number> {
  const { name, agent, session, missed, deliver, approvalMinutes } = options;
  const params: OpParams<'schedule.create'> = {
    name: name ?? prompt.slice(0, NAME_MAX),
    prompt,
    spec: specOf(options),
    bounds: boundsOf(options),
    ...(agent === undefined ? {} : { agentId: agent }),
    ...(session === undefined ? {} : { session }),
    ...(missed === undefined ? {} : { missed: oneOf(missedPolicies, missed, '--missed') }),
    ...(deliver === undefined ? {} : { deliver }),
    ...(approvalMinutes === undefined ? {} : { approvalMs: parseCount(approvalMinutes, '--approval-minutes') * unitsMs.m }),
  };
  return context.runOp('schedule.create', params, { human: (view) => `Added ${view.scheduleId}; next: ${nextWords(view)}.` });
}

function enable(context: CommandContext, scheduleId: string, enabled: boolean): Promise<number> {
  return context.runOp(
    'schedule.update',
    { scheduleId, enabled },
    {
      human: (view) => (enabled ? `Resumed; next: ${nextWords(view)}.` : `Paused ${view.name}.`),
    },
  );
}

function preview(context: CommandContext, options: AddOptions & { count?: string }): Promise<number> {
  const count = options.count === undefined ? {} : { count: parseCount(options.count, '--count') };
  return context.runOp('schedule.preview', { spec: specOf(options), ...count }, { human: ({ nextMs }) => nextMs.map(when).join('\n') });
}

function specOf({ at, every, cron, zone }: AddOptions): ScheduleSpecInput {
  const zoned = zone === undefined ? {} : { zone };
  const named = [at, every, cron].filter((one) => one !== undefined);
  if (named.length !== 1) throw new AppError('invalid_params', 'Name one of --at, --every and --cron.');
  if (cron !== undefined) return { kind: 'cron', expr: cron, ...zoned };
  if (every !== undefined) return { kind: 'every', everyMs: intervalOf(every) };
  const moment = at ?? '';
  if (/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(moment)) return { kind: 'at', local: moment, ...zoned };
  const atMs = Date.parse(moment);
  if (Number.isNaN(atMs)) throw new AppError('invalid_params', '--at takes a time such as 2026-03-29T02:30.');
  return { kind: 'at', atMs };
}

function intervalOf(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  if (count === '') throw new AppError('invalid_params', '--every takes minutes, hours or days, such as 15m, 2h or 1d.');
  return Number(count) * unitsMs[unit as keyof typeof unitsMs];
}

function boundsOf({ tools, classes, usd, grants }: AddOptions): Partial<JobBounds> {
  return {
    ...(tools === undefined ? {} : { tools: [...tools] }),
    ...(classes === undefined ? {} : { classes: classes.map((one): ToolClass => oneOf(toolClasses, one, '--classes')) }),
    ...(usd === undefined ? {} : { usd: amountOf(usd) }),
    ...(grants === true ? { grants: true } : {}),
  };
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
      return `every ${spec.everyMs / unitsMs.m} min`;
    case 'cron':
      return `${spec.expr} (${spec.zone})`;
  }
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
  ]);
  const rows = view.last.map((one) => [
    when(one.dueMs),
    one.disposition,
    String(one.count ?? 1),
    one.turnId ?? '',
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
    ['without a model', String(state.idle)],
  ]);
}
