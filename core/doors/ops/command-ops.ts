// The operations on slash commands. Each command runs an operation and formats its result as text. Commands grant no further rights.

import { counted } from '../../base/counted.ts';
import { formatUsd } from '../../base/format-usd.ts';
import { AppError, isAppError, noSuch } from '../../contracts/errors.ts';
import { chatCommands, commandTable, parseCommand, usageOf, type CommandSpec } from '../../contracts/commands.ts';
import { doors } from '../../contracts/doors.ts';
import { planChoiceSchema } from '../../contracts/turn-bounds.ts';
import { stoppedWords } from '../../contracts/panic-words.ts';
import type { OpHandlers, OpResult, ServedCaller } from '../../contracts/ops.ts';
import { lastOfConversation } from '../../runtime/turns/turns.ts';
import { completeLine } from './command-completion.ts';
import type { OpsParts } from './parts.ts';

type Deps = Pick<OpsParts, 'log' | 'models' | 'prompts' | 'skills' | 'tools' | 'workspaces'>;

type CommandOps = Pick<OpHandlers, `command.${string}` & keyof OpHandlers>;
export type OtherOps = Omit<OpHandlers, keyof CommandOps>;

/** The context of one command. */
interface Line {
  readonly deps: Deps;
  readonly ops: OtherOps;
  readonly values: Readonly<Record<string, string>>;
  readonly sessionId: string | undefined;
  /** For an operation that may begin a session. */
  readonly place: { readonly sessionId?: string; readonly workspace?: string };
  /** For a session that the command creates. */
  readonly folder: { readonly workspace?: string };
  readonly caller: ServedCaller;
}

type Outcome = Partial<Omit<OpResult<'command.run'>, 'command'>> & { readonly text: string };

const LISTED = 20;

export function createCommandOps(deps: Deps, ops: OtherOps) {
  return {
    'command.list': (_params, caller) => ({ commands: available(deps, caller).map(describe) }),
    'command.complete': ({ line, sessionId }, caller) => ({
      completions: completeLine(line, available(deps, caller), { ...deps, folder: folderOf(deps, sessionId) }),
    }),
    'command.run': async ({ line, sessionId, workspace }, caller) => {
      const parsed = parseCommand(line, available(deps, caller));
      if (!parsed.ok) throw parsed.error;
      const { spec, values } = parsed.value;
      const run = spec.tool === undefined ? runners[spec.name] : runTool(spec.tool, spec.parameters[0]?.name ?? '');
      if (run === undefined) throw new AppError('internal', `the command /${spec.name} does nothing`);
      const folder = workspace === undefined ? {} : { workspace };
      const place = sessionId === undefined ? folder : { sessionId };
      const outcome = await run({ deps, ops, values, sessionId, place, folder, caller });
      const follow = outcome.waiting ?? false;
      return { command: spec.name, sessionId: sessionId ?? null, turnId: null, waiting: false, file: null, follow, ...outcome };
    },
  } satisfies Partial<OpHandlers>;
}

function folderOf({ log, workspaces }: Deps, sessionId: string | undefined): string | null {
  const folder = sessionId === undefined ? null : (log.index.session(sessionId)?.workspace ?? null);
  if (folder === null) return workspaces.configured;
  return workspaces.holds(folder) ? folder : null;
}

/** The commands of the caller's door, without those whose tool is missing. */
function available(deps: Deps, { channel }: ServedCaller): readonly CommandSpec[] {
  if (!doors[channel].isHere) return chatCommands;
  const tools = new Set(deps.tools.list().map(({ name }) => name));
  return commandTable.filter(({ tool, inChats }) => inChats !== 'only' && (tool === undefined || tools.has(tool)));
}

function describe(spec: CommandSpec): OpResult<'command.list'>['commands'][number] {
  const { name, about, op, parameters } = spec;
  return {
    name,
    about,
    op,
    usage: usageOf(spec),
    parameters: parameters.map(({ choices, ...rest }) => ({ ...rest, ...(choices === undefined ? {} : { choices: [...choices] }) })),
  };
}

type Run = (line: Line) => Outcome | Promise<Outcome>;

function runTool(tool: string, parameter: string): Run {
  return async ({ ops, values, place, caller }) => {
    const args = { [parameter]: values[parameter] };
    const ran = await ops['tool.run']({ tool, args, wait: false, ...place }, caller);
    const waiting = ran.outcome === 'waiting';
    const [asked] = ran.pending ?? [];
    const text = waiting ? `Waits for your approval: ${asked?.summary ?? tool}.` : ran.forUser;
    return { text, waiting, sessionId: ran.sessionId, turnId: ran.turnId };
  };
}

const runners: Readonly<Record<string, Run>> = {
  new: async ({ ops, values, folder, caller }) => {
    const made = await ops['session.create']({ ...folder, ...(values['title'] === undefined ? {} : { title: values['title'] }) }, caller);
    return { text: 'A new session.', sessionId: made.sessionId };
  },
  sessions: (line) => listSessions(line),
  rule: (line) => pinRule(line),
  unrule: async ({ ops, values, sessionId, caller }) => {
    const { text } = await ops['rule.unpin']({ ruleId: values['id'] ?? '', ...(sessionId === undefined ? {} : { sessionId }) }, caller);
    return { text: `No longer pinned: ${text}` };
  },
  compact: async (line) => {
    const { summaryId, messages, method } = await line.ops['session.compact']({ sessionId: needSession(line) }, line.caller);
    const how = method === 'extract' ? ' by rule, without a model' : '';
    return {
      text: summaryId === null ? 'There is nothing to sum up yet.' : `${counted(messages, 'message is', 'messages are')} summed up${how}.`,
    };
  },
  retry: async (line) => {
    const turnId = lastTurn(line);
    assertOwn(line, turnId);
    const model = line.values['model'];
    const again = await line.ops['turn.retry']({ turnId, ...(model === undefined ? {} : { model }) }, line.caller);
    return { text: 'The last message runs again.', follow: true, ...again };
  },
  stop: (line) => stop(line),
  undo: (line) => undo(line),
  model: (line) => chooseModel(line),
  plan: (line) => planFirst(line),
  budget: (line) => budget(line),
  remember: async ({ ops, values, caller }) => {
    const { memoryId, contradictions } = await ops['memory.add']({ text: values['text'] ?? '' }, caller);
    const open = contradictions.map(({ otherId, otherText }) => `- It contradicts \`${otherId}\`: ${otherText}`);
    return { text: [`Remembered as \`${memoryId}\`.`, ...open].join('\n') };
  },
  recall: async ({ deps, ops, values, sessionId, caller }) => {
    const agentId = sessionId === undefined ? undefined : deps.log.index.session(sessionId)?.agentId;
    const params = { query: values['words'] ?? '', ...(agentId === undefined ? {} : { agentId }) };
    const { hits } = await ops['memory.recall'](params, caller);
    if (hits.length === 0) return { text: 'Nothing was remembered about that.' };
    return { text: hits.map(({ memoryId, kind, text }) => `- ${text} (${kind}, \`${memoryId}\`)`).join('\n') };
  },
  skill: (line) => skill(line),
  prompt: (line) => sendSaved(line),
  status: (line) => status(line),
  export: async (line) => {
    const sessionId = needSession(line);
    const format = line.values['format'] === 'jsonl' ? 'jsonl' : 'markdown';
    const { text } = await line.ops['session.export']({ sessionId, format }, line.caller);
    const [ending, mediaType] = format === 'jsonl' ? ['jsonl', 'application/jsonl'] : ['md', 'text/markdown'];
    return { text: 'This session as a file.', file: { name: `${sessionId}.${ending}`, mediaType, text } };
  },
  panic: async (line) => {
    const engaged = await line.ops['panic.engage']({ reason: line.values['reason'] ?? 'a /panic command' }, line.caller);
    return { text: `${stoppedWords(engaged)}. Nothing runs until /release.` };
  },
  release: async (line) => {
    await line.ops['panic.release']({}, line.caller);
    return { text: 'The panic stop is released.' };
  },
  help: ({ deps, values: given, caller }) => {
    const wanted = given['command']?.replace(/^\//, '');
    const shown = available(deps, caller).filter(({ name }) => wanted === undefined || name === wanted);
    if (shown.length === 0) throw new AppError('invalid_params', `There is no command /${wanted ?? ''}.`);
    return { text: shown.map((spec) => `- \`${usageOf(spec)}\` ${spec.about}`).join('\n') };
  },
};

async function pinRule(line: Line): Promise<Outcome> {
  const sessionId = needSession(line);
  const text = line.values['words'];
  if (text !== undefined) {
    const { ruleId } = await line.ops['rule.pin']({ text, sessionId }, line.caller);
    return { text: `Pinned as \`${ruleId}\`. It holds in this session until you take it back.` };
  }
  const { rules } = await line.ops['rule.list']({ sessionId }, line.caller);
  return { text: rules.length === 0 ? 'No rules are pinned.' : rules.map((rule) => `- \`${rule.ruleId}\` ${rule.text}`).join('\n') };
}

async function listSessions(line: Line): Promise<Outcome> {
  const { ops, values: given, caller } = line;
  const words = given['words'];
  if (words !== undefined && !/^\d{1,2}$/.test(words)) return findSessions(line, words);
  const { sessions } = await ops['session.list']({ archived: false, limit: LISTED }, caller);
  if (words !== undefined) {
    const chosen = sessions[Number(words) - 1];
    return chosen === undefined ? findSessions(line, words) : { text: `This continues: ${nameOf(chosen)}`, sessionId: chosen.sessionId };
  }
  // Text that a chat has shown still counts as unread.
  const marks = (one: (typeof sessions)[number]): string =>
    `${one.status === 'running' ? ' (at work)' : ''}${one.unread > 0 && doors[caller.channel].isHere ? ` (${one.unread} new)` : ''}`;
  const lines = sessions.map((one, at) => `${at + 1}. ${nameOf(one)}${marks(one)}`);
  return { text: lines.length === 0 ? 'There are no sessions yet.' : `${lines.join('\n')}\n\nContinue one of them: /sessions 1` };
}

async function findSessions({ ops, caller }: Line, words: string): Promise<Outcome> {
  // Text of other conversations stays at this computer: a chat may have other readers.
  if (!doors[caller.channel].isHere)
    throw new AppError('not_found', `There is no session ${words.slice(0, 20)}.`, { hint: 'See /sessions.' });
  const { hits } = await ops['session.search']({ query: words, limit: LISTED, each: 'session' }, caller);
  return {
    text: hits.length === 0 ? 'Nothing was found.' : hits.map((hit) => `- \`${hit.sessionId}\` ${hit.title}: ${hit.excerpt}`).join('\n'),
  };
}

function nameOf({ title }: { readonly title: string }): string {
  return title === '' ? 'Untitled' : title;
}

async function stop(line: Line): Promise<Outcome> {
  const sessionId = needSession(line);
  const open = line.deps.log.index.openTurns().filter((turn) => turn.sessionId === sessionId);
  // Cancels queued turns first, so that none of them starts when the running one ends.
  for (const { turnId } of open.toReversed()) {
    try {
      await line.ops['turn.cancel']({ turnId }, line.caller);
    } catch (cause) {
      // The turn ended at the same moment.
      if (!isAppError(cause) || cause.code !== 'turn_not_running') throw cause;
    }
  }
  return { text: open.length === 0 ? 'Nothing was running here.' : 'Stopped.' };
}

async function undo(line: Line): Promise<Outcome> {
  const given = line.values['id'];
  const target =
    given === undefined ? { callId: await lastChange(line) } : given.startsWith('trn_') ? { turnId: given } : { callId: given };
  const { restored, refused, unchanged } = await line.ops['checkpoint.restore'](target, line.caller);
  const parts = [
    ...restored.map(({ path }) => `- put back ${path}`),
    ...unchanged.map(({ path }) => `- ${path} was as before already`),
    ...refused.map(({ path, reason }) => `- not put back: ${path} (${reason})`),
  ];
  return { text: parts.length === 0 ? 'There was nothing to put back.' : parts.join('\n') };
}

async function lastChange(line: Line): Promise<string> {
  const { checkpoints } = await line.ops['checkpoint.list']({ sessionId: needSession(line), limit: 100 }, line.caller);
  const undone = new Set(checkpoints.flatMap(({ undoes }) => undoes));
  const last = checkpoints.find(({ callId, undoes }) => undoes.length === 0 && !undone.has(callId));
  if (last === undefined) throw new AppError('not_found', 'No call of this session changed a file that could be put back.');
  return last.callId;
}

async function chooseModel(line: Line): Promise<Outcome> {
  const { ops, caller, sessionId } = line;
  const wanted = line.values['model'];
  if (wanted === undefined) {
    const { models } = await ops['model.list']({}, caller);
    const session = sessionId === undefined ? null : line.deps.log.index.session(sessionId);
    const mark = (ref: string, isDefault: boolean): string => (ref === session?.model ? ' (this session)' : isDefault ? ' (default)' : '');
    return { text: models.map(({ ref, isDefault }) => `- \`${ref}\`${mark(ref, isDefault)}`).join('\n') };
  }
  const model = wanted === 'default' ? null : wanted;
  if (sessionId === undefined || line.deps.log.index.session(sessionId) === null) {
    const made = await ops['session.create']({ ...line.folder, ...(model === null ? {} : { model }) }, caller);
    return { text: `A new session with ${wanted}.`, sessionId: made.sessionId };
  }
  await ops['session.configure']({ sessionId, model }, caller);
  return { text: `This session uses ${model ?? 'the default model'} from the next message on.` };
}

async function planFirst({ deps, ops, values, caller, ...line }: Line): Promise<Outcome> {
  const mode = planChoiceSchema.catch('whole').parse(values['mode']);
  const isNew = line.sessionId === undefined || deps.log.index.session(line.sessionId) === null;
  // The session of a chat starts with its first message, whose channel decides which agent answers.
  if (isNew && !doors[caller.channel].isHere) throw noSessionYet();
  const sessionId = isNew ? (await ops['session.create']({ ...line.folder }, caller)).sessionId : (line.sessionId ?? '');
  await ops['session.configure']({ sessionId, planFirst: mode }, caller);
  const text =
    mode === 'off'
      ? 'Calls are judged as usual again'
      : `Only reads run until you approve ${mode === 'steps' ? 'the plan, and then each step' : 'a plan'}`;
  return { text: `${text}, from the next message on.`, sessionId };
}

async function budget(line: Line): Promise<Outcome> {
  const { ops, caller, sessionId } = line;
  const amount = line.values['amount'];
  if (amount === undefined) {
    const { budgets } = await ops['budget.get'](sessionId === undefined ? {} : { sessionId }, caller);
    const show = (one: (typeof budgets)[number]): string =>
      `${amountOf(one, one.spent)}${one.limit === null ? '' : ` of ${amountOf(one, one.limit)}`}${one.unit === 'usd' ? '' : ' tokens'}`;
    return { text: budgets.length === 0 ? 'No budget is set.' : budgets.map((one) => `- ${one.scope}: ${show(one)}`).join('\n') };
  }
  const scope = (line.values['scope'] ?? 'session') as 'turn' | 'session' | 'day';
  const place = scope === 'day' ? {} : scope === 'turn' ? { turnId: lastTurn(line) } : { sessionId: needSession(line) };
  await ops['budget.allow']({ scope, usd: Number(amount.replace('$', '')), ...place }, caller);
  return { text: `Allowed ${amount.replace('$', '')} US dollars more for this ${scope}.` };
}

/** Given a text, sends a message that names the skill, so that the turn starts with its instructions. Otherwise lists or shows skills. */
async function skill({ ops, values: given, place, caller }: Line): Promise<Outcome> {
  const name = given['skill'];
  if (name === undefined) {
    const { skills } = await ops['skill.list']({}, caller);
    const lines = skills
      .filter(({ isEnabled }) => isEnabled)
      .map((one) => `- \`${one.name}\` ${one.description}${one.whyNot === null ? '' : ` (${one.whyNot})`}`);
    return { text: lines.length === 0 ? 'There are no skills.' : lines.join('\n') };
  }
  const shown = await ops['skill.get']({ name }, caller);
  const text = given['text'];
  if (text === undefined) return { text: `**${shown.name}** ${shown.description}\n\n${shown.body}` };
  const sent = await ops['message.send']({ text: `$${name} ${text}`, ...place }, caller);
  return { text: `By the skill ${name}.`, follow: true, ...sent };
}

/** Sends a saved prompt. Further text is appended to it. */
async function sendSaved({ deps, ops, values: given, place, caller }: Line): Promise<Outcome> {
  const prompts = deps.prompts.list();
  const name = given['prompt'];
  if (name === undefined) {
    const hint = 'No prompts are saved. Save one in the window, or with: trayclaw saved add NAME TEXT';
    return { text: prompts.map((one) => `- \`${one.name}\` ${one.text.slice(0, 100)}`).join('\n') || hint };
  }
  const saved = prompts.find((one) => one.name === name);
  if (saved === undefined)
    throw noSuch(
      'saved prompt',
      name,
      prompts.map((one) => one.name),
      'See /prompt.',
    );
  const text = [saved.text, given['text'] ?? ''].filter(Boolean).join('\n\n');
  const sent = await ops['message.send']({ text, ...place }, caller);
  return { text: `Sent the prompt ${name}.`, follow: true, ...sent };
}

async function status(line: Line): Promise<Outcome> {
  const { deps, ops, caller, sessionId } = line;
  const { engaged } = await ops['panic.status']({}, caller);
  const { approvals } = await ops['approval.list']({}, caller);
  const session = sessionId === undefined ? null : deps.log.index.listedSession(sessionId);
  const open = deps.log.index.openTurns().length;
  const { today } = await ops['usage.get']({ by: 'day', days: 1 }, caller);
  return {
    text: [
      ...(engaged ? ['- Everything is stopped by the panic stop, which is released at the computer.'] : []),
      ...(session === null
        ? []
        : [
            `- This session, ${nameOf(session)}: ${session.status ?? 'new'}, model ${session.model ?? deps.models.list().defaultModel ?? 'none'}.`,
          ]),
      `- ${counted(open, 'turn')} under way, ${counted(approvals.length, 'approval')} waiting.`,
      `- Today: ${counted(today.turns, 'turn')}, ${today.costUsd === null ? 'cost unknown' : formatUsd(today.costUsd)}.`,
    ].join('\n'),
  };
}

function needSession({ deps, sessionId }: Line): string {
  if (sessionId !== undefined && deps.log.index.session(sessionId) !== null) return sessionId;
  throw noSessionYet();
}

function noSessionYet(): AppError {
  return new AppError('invalid_params', 'There is no session yet.', { hint: 'Send a message first, or open a session.' });
}

function lastTurn(line: Line): string {
  const turnId = lastOfConversation(line.deps.log, needSession(line))?.turnId;
  if (typeof turnId === 'string') return turnId;
  throw new AppError('not_found', 'Nothing was asked in this session yet.');
}

/** Fails with conflict for a turn that a fork copied, because it belongs to the original session and would run again there. */
function assertOwn({ deps, sessionId }: Line, turnId: string): void {
  if (deps.log.index.turn(turnId)?.sessionId === sessionId) return;
  throw new AppError('conflict', 'The last message of this session was answered in the one it was forked from.', {
    hint: 'Send the message again here, or run it again there.',
  });
}

function amountOf({ unit }: { readonly unit: 'usd' | 'tokens' }, amount: number): string {
  return unit === 'usd' ? formatUsd(amount) : String(amount);
}
