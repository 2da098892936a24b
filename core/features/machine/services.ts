// The tools systemd and journal. The states of units are free; changing one asks with the exact command line. The journal and the files of units,
// which may hold keys, count as outside the workspace.

import { jsonIn } from '../../base/json.ts';
import * as z from 'zod';
import { AppError } from '../../contracts/errors.ts';
import type { CallFacts, PathFact, ToolDefinition } from '../../contracts/tools.ts';
import { defineTool } from '../../hands/tools/tools.ts';
import { endOf, outputOf, type RunKnown } from './run-known.ts';

const TIMEOUT_MS = 90_000;
const LINES_MAX = 2000;
const LINE_CHARS_MAX = 2000;
const FOLLOW_SECONDS_MAX = 60;
const SAID_CHARS_MAX = 300;

const looks = ['list', 'failed', 'status', 'cat', 'is-active'] as const;
const changes = ['start', 'stop', 'restart', 'reload', 'enable', 'disable', 'mask', 'unmask', 'reset-failed'] as const;

const unitName = z
  .string()
  .regex(/^(?!-)[A-Za-z0-9@_.:\\-]{1,200}$/, 'must be the name of a unit, such as nginx or backup.timer')
  .transform((name) =>
    /\.(?:service|socket|timer|target|mount|automount|path|slice|scope|swap|device)$/.test(name) ? name : `${name}.service`,
  );

const systemdArgs = z
  .strictObject({
    action: z.enum([...looks, ...changes]),
    unit: unitName.optional(),
    user: z.boolean().default(false).describe("The person's own services instead of the computer's."),
  })
  .superRefine(({ action, unit }, context) => {
    if (unit === undefined && action !== 'list' && action !== 'failed')
      context.addIssue({ code: 'custom', path: ['unit'], message: `${action} needs it` });
  });
type SystemdArgs = z.infer<typeof systemdArgs>;

const shown =
  'Id,Description,LoadState,ActiveState,SubState,Result,UnitFileState,MainPID,ExecMainCode,ExecMainStatus,NRestarts,MemoryCurrent,ActiveEnterTimestamp,InactiveEnterTimestamp,FragmentPath';
const listSchema = z.array(z.object({ unit: z.string(), active: z.string(), sub: z.string(), description: z.string() }));

/** The exact command line. */
export function systemctlOf({ action, unit, user }: SystemdArgs): string[] {
  const head = ['systemctl', ...(user ? ['--user'] : []), '--no-pager', '--no-ask-password'];
  switch (action) {
    case 'list':
      return [...head, 'list-units', '--all', '--type=service,socket,timer,mount', '--output=json'];
    case 'failed':
      return [...head, 'list-units', '--failed', '--output=json'];
    case 'status':
      return [...head, 'show', `--property=${shown}`, '--', unit ?? ''];
    default:
      return [...head, action, '--', unit ?? ''];
  }
}

export function createSystemd(run: RunKnown): ToolDefinition {
  return defineTool({
    name: 'systemd',
    description:
      'Look at systemd units of this computer (list, failed, status, cat, is-active), or change one (start, stop, restart, enable …).',
    input: systemdArgs,
    class: 'exec',
    shows: { verb: 'use_service', target: ['unit', 'action'] },
    isPrivate: true,
    idempotency: (args) => (isLook(args) ? 'pure' : 'unsafe'),
    timeoutMs: TIMEOUT_MS + 5000,
    facts: (args, { workspace }): CallFacts => {
      const base = { paths: [], hosts: [] };
      if (args.action === 'cat') return { ...base, class: 'read', command: null, paths: [placeOf('the file of the unit', '/etc/systemd')] };
      if (isLook(args)) return { ...base, class: 'read', command: null };
      return { ...base, class: 'exec', command: { line: systemctlOf(args).join(' '), cwd: workspace }, risks: [riskOf(args)] };
    },
    summarize: ({ action, unit, user }) => `${action} ${unit ?? 'the units'}${user ? ' of your own services' : ''}`,
    run: async (args, context) => {
      const known = { argv: systemctlOf(args), timeoutMs: TIMEOUT_MS, context };
      if (args.action === 'is-active') {
        const { output } = await endOf(run, known, 'systemd');
        // If no systemd responds, the output is an error message and not a state.
        if (!/^[a-z-]+$/.test(output.trim())) throw new AppError('tool_failed', `systemctl could not tell: ${output.trim().slice(0, 600)}`);
        return { forModel: `${args.unit ?? ''} is ${output.trim()}.` };
      }
      const left = isLook(args) ? {} : { left: 'systemd may still do it: look at the status of the unit.' };
      const output = await outputOf(run, { ...known, ...left }, 'systemd');
      return { forModel: presented(args, output) };
    },
  });
}

function placeOf(given: string, real: string): PathFact {
  return { given, real, access: 'read', insideWorkspace: false, protectedBy: null };
}

function isLook({ action }: Pick<SystemdArgs, 'action'>): boolean {
  return looks.some((look) => look === action);
}

function riskOf({ action, unit = '' }: SystemdArgs): string {
  if (action === 'stop' || action === 'restart') return `${unit} and what depends on it are interrupted.`;
  if (action === 'enable' || action === 'disable') return `It changes whether ${unit} starts with the computer.`;
  if (action === 'mask') return `${unit} can then not be started at all.`;
  return `It changes the state of ${unit}.`;
}

function presented(args: SystemdArgs, output: string): string {
  if (args.action === 'cat' || args.action === 'status') return output.trim();
  if (!isLook(args)) return `Done: ${args.action} ${args.unit ?? ''}. ${output.trim()}`.trim();
  const parsed = listSchema.safeParse(jsonIn(output));
  // A list of another form is shown as it is.
  if (!parsed.success) return output.trim();
  const wanted = args.unit === undefined ? parsed.data : parsed.data.filter(({ unit }) => unit === args.unit);
  const lines = wanted.map(({ unit, active, sub, description }) => `${unit} ${active} (${sub}): ${description}`);
  return lines.length === 0 ? 'No unit.' : lines.join('\n');
}

const moment = z.string().regex(/^[A-Za-z0-9 :.+-]{1,60}$/, 'must be a time such as "2 hours ago", "today" or "2026-01-31 08:00"');
const journalArgs = z.strictObject({
  unit: unitName.optional(),
  since: moment.optional().describe('Such as "2 hours ago", "today" or "2026-01-31 08:00".'),
  until: moment.optional().describe('As for since.'),
  priority: z.enum(['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug']).optional().describe('This severity or worse.'),
  grep: z.string().min(1).max(200).optional().describe('A pattern that messages must match.'),
  lines: z.number().int().min(1).max(LINES_MAX).default(100).describe('How many of the newest entries.'),
  followSeconds: z.number().int().min(1).max(FOLLOW_SECONDS_MAX).optional().describe('Also wait this long for new entries.'),
  user: z.boolean().default(false),
});
type JournalArgs = z.infer<typeof journalArgs>;

/** `from` names another journal folder, for tests. */
export function journalctlOf(
  { unit, since, until, priority, grep, lines, user, followSeconds }: JournalArgs,
  from: readonly string[] = [],
): string[] {
  const options = { unit: user ? undefined : unit, 'user-unit': user ? unit : undefined, since, until, priority, grep };
  const given = Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]));
  const follow = followSeconds === undefined ? [] : ['--follow'];
  return ['journalctl', ...from, '--no-pager', '--output=json', `--lines=${lines}`, ...follow, ...given];
}

const entrySchema = z.looseObject({
  __REALTIME_TIMESTAMP: z.string().optional(),
  MESSAGE: z.union([z.string(), z.array(z.number()), z.null()]).optional(),
  PRIORITY: z.string().optional(),
  SYSLOG_IDENTIFIER: z.string().optional(),
  _SYSTEMD_UNIT: z.string().optional(),
  UNIT: z.string().optional(),
  _PID: z.string().optional(),
});
const priorities = ['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug'];

export function createJournal(run: RunKnown, from: readonly string[] = []): ToolDefinition {
  return defineTool({
    name: 'journal',
    description:
      'Read entries of the systemd journal of this computer: of a unit, since a time, of a severity or worse, or that match a pattern.',
    input: journalArgs,
    class: 'read',
    shows: { verb: 'read_log', target: ['unit', 'grep'] },
    idempotency: () => 'pure',
    timeoutMs: TIMEOUT_MS + 5000,
    isPrivate: true,
    facts: (): CallFacts => ({ class: 'read', paths: [placeOf('the journal', '/var/log/journal')], command: null, hosts: [] }),
    summarize: ({ unit, lines, since }) =>
      `read ${lines} log entries${unit === undefined ? '' : ` of ${unit}`}${since === undefined ? '' : ` since ${since}`}`,
    run: async (args, context) => {
      const { followSeconds } = args;
      const timeoutMs = followSeconds === undefined ? TIMEOUT_MS : followSeconds * 1000;
      const known = { argv: journalctlOf(args, from), timeoutMs, context, endsByTime: followSeconds !== undefined };
      const { output } = await endOf(run, known, 'systemd');
      const lines = output.split('\n');
      const entries = lines.flatMap((line) => entryOf(line));
      // Messages of journalctl, such as that this person cannot see the entries of the system and of other users.
      const said = lines.filter((line) => line.trim() !== '' && !/^(?:\{|-- )/.test(line)).map((line) => line.trim());
      const text = [
        ...(entries.length === 0 ? ['No entries.'] : entries),
        ...(said.length === 0 ? [] : [`journalctl said: ${said.join(' ').slice(0, SAID_CHARS_MAX)}`]),
      ].join('\n');
      // Anyone who can make a service log something controls this text.
      return { forModel: text, untrusted: [{ kind: 'command', where: 'journal' }] };
    },
  });
}

function entryOf(line: string): string[] {
  if (!line.startsWith('{')) return [];
  const parsed = entrySchema.safeParse(jsonIn(line));
  if (!parsed.success) return [];
  const { MESSAGE: message, PRIORITY: priority, __REALTIME_TIMESTAMP: micros, _SYSTEMD_UNIT: unit, _PID: process, ...entry } = parsed.data;
  const text = Array.isArray(message) ? Buffer.from(message).toString('utf8') : (message ?? '(no text)');
  const time = micros === undefined ? '?' : new Date(Number(micros) / 1000).toISOString();
  // For messages of systemd itself, the unit that they are about.
  const about = unit === undefined || unit === 'init.scope' ? entry.UNIT : undefined;
  const who = about ?? unit ?? entry.SYSLOG_IDENTIFIER ?? '?';
  const pid = process === undefined ? '' : `[${process}]`;
  return [`${time} ${who}${pid} ${priorities[Number(priority ?? 6)] ?? 'info'}: ${text.slice(0, LINE_CHARS_MAX)}`];
}
