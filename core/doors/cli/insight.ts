// Commands that only look: tools, turns, packs, audit, replay, usage, config.

import type { Command } from 'commander';
import { AppError } from '../../contracts/errors.ts';
import type { OpParams, OpResult } from '../../contracts/ops.ts';
import type { TurnDetails } from '../../contracts/op-results.ts';
import { runTurn } from './ask.ts';
import { cliCaller } from './caller.ts';
import { parseCount, type CommandContext, type Run } from './command-context.ts';
import { exitCodes } from './exit-code.ts';
import type { Paint } from './output.ts';
import { facts, money, table, when } from './table.ts';

export function registerInsight(program: Command, run: Run): void {
  program
    .command('tools')
    .description('the tools the agent has')
    .action(() => run(listTools));
  const turns = program.command('turns').description('show, retry, branch, continue, steer or cancel a turn');
  turns
    .command('show')
    .description('show its phases, calls, decisions and costs')
    .argument('<id>')
    .action((turnId: string) => run((context) => context.runOp('turn.get', { turnId }, { human: describeTurn })));
  turns
    .command('continue')
    .description('continue a turn that a budget or a limit ended')
    .argument('<id>')
    .action((turnId: string) => run((context) => runTurn(context, (claw) => claw.op('turn.continue', { turnId }, cliCaller))));
  turns
    .command('cancel')
    .description('cancel a running or waiting turn')
    .argument('<id>')
    .action((turnId: string) =>
      run((context) => context.runOp('turn.cancel', { turnId }, { human: ({ status }) => `${turnId} is ${status}.` })),
    );
  turns
    .command('steer')
    .description('send a message to a running turn')
    .argument('<id>')
    .argument('<text...>')
    .action((turnId: string, words: string[]) =>
      run((context) => context.runOp('turn.steer', { turnId, text: words.join(' ') }, { human: () => `Told ${turnId}.` })),
    );
  registerAgain(turns, run);
  const packs = program.command('packs').description('context packs: what the model saw');
  packs
    .command('list')
    .description('list the requests to models, newest first')
    .option('--session <id>', 'those of this session')
    .option('--limit <n>', 'how many at most')
    .action((options: { session?: string; limit?: string }) => run((context) => listPacks(context, options)));
  packs
    .command('show')
    .description('show one request: sections, what was left out, the texts')
    .argument('<id>')
    .action((packId: string) => run((context) => context.runOp('pack.get', { packId }, { human: describePack })));
  const audit = program.command('audit').description('the event log');
  audit
    .command('verify')
    .description('verify the hash chain of the log and the database')
    .action(() => run(verifyAudit));
  audit
    .command('accept')
    .description('accept a log with missing events and continue from it')
    .action(() => run(acceptGaps));
  program
    .command('replay')
    .description('decide a recorded turn again and compare')
    .argument('<turn-id>')
    .action((turnId: string) => run((context) => replay(context, turnId)));
  program
    .command('usage')
    .description('tokens and money')
    .option('--by <key>', 'day, model or session')
    .option('--days <n>', 'how far to look back')
    .action((options: UsageOptions) => run((context) => showUsage(context, options)));
  registerConfig(program, run);
}

function registerAgain(turns: Command, run: Run): void {
  turns
    .command('retry')
    .description('send the last message again; the earlier answer stays in the log only')
    .argument('<id>')
    .option('--model <ref>', 'with another model')
    .action((turnId: string, { model }: { model?: string }) =>
      run((context) => runTurn(context, (claw) => claw.op('turn.retry', { turnId, ...(model === undefined ? {} : { model }) }, cliCaller))),
    );
  turns
    .command('branch')
    .description('start a new session from before a turn, with TEXT instead of its message')
    .argument('<id>')
    .argument('[text]')
    .action((turnId: string, text: string | undefined) =>
      run((context) => runTurn(context, (claw) => claw.op('turn.branch', { turnId, ...(text === undefined ? {} : { text }) }, cliCaller))),
    );
}

function registerConfig(program: Command, run: Run): void {
  const config = program.command('config').description('the settings in config.yaml');
  config
    .command('get')
    .description('show the settings that hold')
    .action(() =>
      run((context) =>
        context.runOp(
          'config.get',
          {},
          {
            human: (result) =>
              [`# ${result.path}`, ...result.warnings.map((text) => `# ${text}`), JSON.stringify(result.config, null, 2)].join('\n'),
          },
        ),
      ),
    );
  config
    .command('set')
    .description('change one setting, such as models.default ollama/qwen3; VALUE is YAML, null removes the setting')
    .argument('<key>')
    .argument('<value>')
    .action((key: string, value: string) => run((context) => setSetting(context, key, value)));
  config
    .command('schema')
    .description('print the JSON Schema of config.yaml')
    .action(() =>
      run((context) =>
        context.runOp('config.schema', {}, { json: ({ schema }) => schema, human: ({ schema }) => JSON.stringify(schema, null, 2) }),
      ),
    );
}

async function setSetting(context: CommandContext, key: string, text: string): Promise<number> {
  const { parse } = await import('yaml');
  const value: unknown = parse(text);
  const moments = { now: 'It holds from now on.', 'next-start': 'It holds from the next start on.' } as const;
  return context.runOp(
    'config.set',
    { key, value },
    { human: ({ path, warnings, holds }) => [...warnings, `Written to ${path}. ${moments[holds]}`].join('\n') },
  );
}

function listTools(context: CommandContext): Promise<number> {
  return context.runOp(
    'tool.list',
    {},
    {
      json: (result) => result.tools,
      human: ({ tools }) =>
        table(
          ['TOOL', 'CLASS', 'WHAT IT DOES'],
          tools.map((tool) => [tool.name, tool.class, tool.description]),
          'No tools.',
        ),
    },
  );
}

function describeTurn(turn: TurnDetails, paint: Paint): string {
  const about = facts([
    ['Turn', turn.turnId],
    ['Session', turn.sessionId],
    ['Status', turn.status],
    ['Model', turn.model ?? '-'],
    ['Started', when(turn.startedAtMs)],
    ['Finished', when(turn.finishedAtMs)],
    ['Tokens', `${turn.usage.inputTokens} in, ${turn.usage.outputTokens} out`],
    ['Cost', money(turn.costUsd)],
    ['Packs', turn.packs.join(', ') || '-'],
    ...(turn.error === null ? [] : [['Error', turn.error.message] as const]),
  ]);
  const part = (title: string, text: string): string => `${paint('bold', title)}\n${text}`;
  return [
    about,
    part(
      'Phases',
      table(
        ['PHASE', 'SINCE', 'EVENTS'],
        turn.phases.map((one) => [one.phase, when(one.atMs), String(one.events)]),
        'None.',
      ),
    ),
    part(
      'Calls',
      table(
        ['CALL', 'OUTCOME', 'GATE', 'RULE', 'WHAT', 'OUTPUT'],
        turn.calls.map((one) => [one.callId, one.outcome, one.decision ?? '-', one.ruleId ?? '-', calledWhat(one), outputOf(one)]),
        'None.',
      ),
    ),
    part(
      'Decisions',
      table(
        ['STEP', 'INTENT', 'WHY'],
        turn.decisions.map((one) => [String(one.step), one.intent, one.reason]),
        'None.',
      ),
    ),
  ].join('\n\n');
}

const OUTPUT_CHARS_MAX = 200;

/** What was allowed without asking was never put into a sentence. */
function calledWhat(call: TurnDetails['calls'][number]): string {
  return call.summary === '' ? `${call.tool} ${call.args}` : call.summary;
}

/** The beginning; all of it comes with --json. */
function outputOf({ forUser }: TurnDetails['calls'][number]): string {
  const text = forUser.trim();
  return text.length > OUTPUT_CHARS_MAX ? `${text.slice(0, OUTPUT_CHARS_MAX)}…` : text;
}

function describePack(pack: OpResult<'pack.get'>): string {
  return [
    facts([
      ['Pack', pack.packId],
      ['Turn', pack.turnId],
      ['Tokens', `${pack.tokens} of ${pack.budgetTokens}`],
      ['Reported', reported(pack.reported ?? null)],
      ['Summary', summary(pack.summary ?? null)],
    ]),
    table(
      ['SECTION', 'TOKENS', 'ITEMS'],
      pack.sections.map((one) => [one.name, String(one.tokens), String(one.items)]),
      'No sections.',
    ),
    table(
      ['LEFT OUT', 'COUNT', 'TOKENS', 'WHY'],
      pack.dropped.map((one) => [one.what, String(one.count), String(one.tokens), one.reason]),
      'Nothing was left out.',
    ),
    table(
      ['SHORTENED', 'FROM', 'TO', 'WHY'],
      pack.truncated.map((one) => [one.what, String(one.fromTokens), String(one.toTokens), one.reason]),
      'Nothing was shortened.',
    ),
    table(
      ['FROM', 'SOURCE', 'TOKENS', 'TITLE'],
      (pack.parts ?? []).map((one) => [one.section, one.source, String(one.tokens), one.title]),
      'Nothing from memory, knowledge or skills.',
    ),
    table(
      ['ROLE', 'TEXT'],
      pack.messages.map((one) => [one.role, one.text]),
      'No messages.',
    ),
  ].join('\n\n');
}

function summary(held: OpResult<'pack.get'>['summary']): string {
  if (held === null || held === undefined) return '-';
  return `${held.messages} messages from ${when(held.fromAtMs)} to ${when(held.toAtMs)}, in ${held.tokens} tokens`;
}

function reported(usage: { readonly inputTokens: number; readonly cachedInputTokens: number } | null): string {
  return usage === null ? '-' : `${usage.inputTokens} by the server, ${usage.cachedInputTokens} of them from its cache`;
}

function listPacks(context: CommandContext, { session, limit }: { session?: string; limit?: string }): Promise<number> {
  const params = {
    ...(session === undefined ? {} : { sessionId: session }),
    ...(limit === undefined ? {} : { limit: parseCount(limit, '--limit') }),
  };
  const figure = (value: number | null): string => (value === null ? '-' : String(value));
  return context.runOp('pack.list', params, {
    json: ({ packs }) => packs,
    human: ({ packs }) =>
      table(
        ['PACK', 'WHEN', 'MODEL', 'TOKENS', 'OF', 'REPORTED', 'CACHED', 'LEFT OUT', 'SHORTENED'],
        packs.map((one) => [
          one.packId,
          when(one.atMs),
          one.model ?? '-',
          String(one.tokens),
          String(one.budgetTokens),
          figure(one.inputTokens),
          figure(one.cachedInputTokens),
          String(one.dropped),
          String(one.truncated),
        ]),
        'No packs.',
      ),
  });
}

function verifyAudit(context: CommandContext): Promise<number> {
  return context.runOp(
    'audit.verify',
    {},
    {
      human: describeAudit,
      exitCode: (result) => (result.ok ? exitCodes.done : exitCodes.failed),
    },
  );
}

function describeAudit({ ok, events, sessions, firstBad, faults }: OpResult<'audit.verify'>, paint: Paint): string {
  if (ok) return `${paint('green', 'Intact')}: ${events} events in ${sessions} sessions.`;
  const bad =
    firstBad === undefined
      ? []
      : [`${paint('red', 'Damaged')}: event ${firstBad.seq} (${firstBad.sessionId} #${firstBad.sessionSeq}): ${firstBad.reason}`];
  const others = (faults ?? []).map(
    ({ kind, detail, hint }) => `${paint('red', kind === 'gap' ? 'Not intact' : 'Damaged')}: ${detail}\n${hint}`,
  );
  return [...others, ...bad].join('\n');
}

function acceptGaps(context: CommandContext): Promise<number> {
  const view = (result: OpResult<'audit.accept'>): string =>
    result.accepted === 0
      ? 'Nothing of the log was found missing.'
      : 'Accepted: the log goes on as it is. If everything is stopped, release it with: trayclaw panic --release';
  return context.runOp('audit.accept', {}, { human: view });
}

function replay(context: CommandContext, turnId: string): Promise<number> {
  return context.runOp(
    'replay.run',
    { turnId },
    {
      human: (result) =>
        result.identical
          ? `Identical: ${result.decisions} decisions.`
          : table(
              ['STEP', 'RECORDED', 'DECIDED NOW'],
              result.differences.map((one) => [String(one.step), one.recorded, one.decided]),
              'Different.',
            ),
      exitCode: (result) => (result.identical ? exitCodes.done : exitCodes.failed),
    },
  );
}

interface UsageOptions {
  readonly by?: string;
  readonly days?: string;
}

function latency(one: { readonly p50: number; readonly p95: number } | null): string {
  return one === null ? '' : `${Math.round(one.p50)}/${Math.round(one.p95)} ms`;
}

function showUsage(context: CommandContext, options: UsageOptions): Promise<number> {
  const { by } = options;
  if (by !== undefined && by !== 'day' && by !== 'model' && by !== 'session')
    throw new AppError('invalid_params', '--by is day, model or session.');
  const params: OpParams<'usage.get'> = {
    ...(by === undefined ? {} : { by }),
    ...(options.days === undefined ? {} : { days: parseCount(options.days, '--days') }),
  };
  return context.runOp('usage.get', params, {
    human: ({ rows, today, budget }) => {
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
    },
  });
}
