// The slash commands of a chat. Each is answered at once; commands that decide something use the same operations as every other door. The
// panic stop needs no approval and waits for nothing; it can be released only at the desktop.

import { counted } from '../../base/counted.ts';
import { revealed } from '../../base/visible-text.ts';
import type { ChatAddress } from '../../contracts/channels.ts';
import type { Claw } from '../../contracts/claw.ts';
import { toAppError } from '../../contracts/errors.ts';
import { stoppedWords } from '../../contracts/panic-words.ts';
import type { Caller } from '../../contracts/ops.ts';
import type { Approval } from '../../contracts/policy.ts';
import type { SessionLog } from '../../store/session/session.ts';
import { callerOf } from './caller.ts';
import { declineKey } from './asked.ts';
import { freshMs, type Questions, type ServerQuestions } from './questions.ts';

export const botCommands = [
  { command: 'help', description: 'what I understand' },
  { command: 'status', description: 'what runs, what waits, what it cost' },
  { command: 'new', description: 'begin a new conversation' },
  { command: 'sessions', description: 'conversations; with a number: switch to that one' },
  { command: 'approve', description: 'say yes once to the request with this id' },
  { command: 'deny', description: 'say no to what waits' },
  { command: 'answer', description: 'answer what an MCP server asks' },
  { command: 'budget', description: 'the limits; with an amount in dollars: allow more today' },
  { command: 'stop', description: 'stop what runs in this conversation' },
  { command: 'panic', description: 'stop everything at once' },
] as const;

export interface CommandDeps {
  readonly names: { readonly channel: string; readonly title: string };
  /** False if the sender's identity is not proven well enough to allow anything. */
  readonly mayDecide?: boolean;
  readonly claw: Pick<Claw, 'op'>;
  readonly questions: Pick<Questions, 'answer' | 'delivered'>;
  readonly approvals: { pendingApprovals(): Approval[] };
  readonly servers: Pick<ServerQuestions, 'list'>;
  readonly log: Pick<SessionLog, 'index'>;
}

export interface CommandCall {
  readonly name: string;
  readonly rest: string;
  readonly userId: string;
  readonly chatId: string;
  readonly threadId?: string;
  /** The age of the message when it is handled. */
  readonly waitedMs: number;
}

export interface CommandAnswer {
  readonly text: string;
  /** True for a notice about the panic stop: the only notice that is sent while everything is stopped. */
  readonly aboutPanic?: true;
}

/** Parses a command; null if the text is not one. In a group only commands addressed to this bot count. */
export function readCommand(text: string, username: string): { name: string; rest: string } | null {
  const [, name, to, rest = ''] = /^\/([A-Za-z0-9_]{1,32})(?:@(\w+))?(?:\s+([^]*))?$/.exec(text.trim()) ?? [];
  if (name === undefined || (to !== undefined && to.toLowerCase() !== username.toLowerCase().replace(/^@/, ''))) return null;
  return { name: name.toLowerCase(), rest: rest.trim() };
}

/** Returns whether the command changes nothing and may be repeated. */
export function isHarmless({ name, rest }: { readonly name: string; readonly rest: string }): boolean {
  const effects = Object.hasOwn(commands, name) && !['start', 'help', 'status'].includes(name);
  return !effects || (rest === '' && (name === 'sessions' || name === 'budget'));
}

type Command = (deps: CommandDeps, call: CommandCall, caller: Caller) => Promise<CommandAnswer> | CommandAnswer;

/** Never rejects. */
export async function runCommand(deps: CommandDeps, call: CommandCall): Promise<CommandAnswer> {
  const caller = callerOf(deps.names.channel, call.userId);
  const command = Object.hasOwn(commands, call.name) ? commands[call.name] : undefined;
  try {
    return command === undefined ? { text: `I do not know /${call.name}.\n\n${help}` } : await command(deps, call, caller);
  } catch (cause) {
    return { text: toAppError(cause).told('\n'), ...(call.name === 'panic' ? { aboutPanic: true } : {}) };
  }
}

const help = botCommands.map(({ command, description }) => `/${command} ${description}`).join('\n');

const commands: Readonly<Record<string, Command>> = {
  start: () => ({ text: `You are paired. Write what you want done; I ask before anything risky.\n\n${help}` }),
  help: () => ({ text: help }),
  status: async (deps, call, caller) => ({ text: await describeStatus(deps, call, caller) }),
  new: async ({ claw, names }, call, caller) => {
    await claw.op('chat.bind', { chat: addressOf(names, call) }, caller);
    return { text: 'A new conversation begins with your next message.' };
  },
  sessions: chooseSession,
  approve: (deps, call) => decide(deps, call, 'approve'),
  deny: (deps, call) => decide(deps, call, 'deny'),
  answer: answerServer,
  budget: showBudget,
  stop: stopTurns,
  panic: async ({ claw, names }, { rest }, caller) => {
    const reason = rest === '' ? `Asked for over ${names.title}.` : rest.slice(0, 500);
    const status = await claw.op('panic.engage', { reason }, caller);
    return { text: `${stoppedWords(status)}. It is released at the computer only.`, aboutPanic: true };
  },
};

async function describeStatus({ claw, approvals, servers, names }: CommandDeps, call: CommandCall, caller: Caller): Promise<string> {
  const panic = await claw.op('panic.status', {}, caller);
  const { sessions } = await claw.op('session.list', { limit: 100 }, caller);
  const running = sessions.filter(({ status }) => status === 'running').length;
  const pending = approvals.pendingApprovals().length;
  const { today } = await claw.op('usage.get', { by: 'day', days: 1 }, caller);
  const bound = await boundSession({ claw, names }, call, caller);
  const title = sessions.find(({ sessionId }) => sessionId === bound)?.title;
  return [
    panic.engaged
      ? 'Everything is stopped (panic). It is released at the computer.'
      : running === 0
        ? 'Nothing runs.'
        : `${running} at work.`,
    pending === 0 ? 'Nothing is waiting for you.' : `${pending} waiting for your decision: /approve, /deny.`,
    ...(servers.list().length === 0 ? [] : ['An MCP server asks you something: /answer.']),
    `Today: ${counted(today.turns, 'turn')}, ${today.costUsd === null ? 'cost unknown' : `$${today.costUsd.toFixed(2)}`}.`,
    title === undefined ? 'Your next message begins a new conversation.' : `This conversation: ${title}`,
  ].join('\n');
}

const SESSIONS_SHOWN = 10;

async function chooseSession({ claw, names }: CommandDeps, call: CommandCall, caller: Caller): Promise<CommandAnswer> {
  const { rest } = call;
  const { sessions: all } = await claw.op('session.list', { limit: 50 }, caller);
  const sessions = all.filter(({ archived }) => !archived).slice(0, SESSIONS_SHOWN);
  if (rest === '') {
    const lines = sessions.map(
      ({ title, status }, at) => `${at + 1}. ${title === '' ? 'Untitled' : title}${status === 'running' ? ' (at work)' : ''}`,
    );
    return { text: lines.length === 0 ? 'There are no conversations yet.' : `${lines.join('\n')}\n\nGo on with one: /sessions 1` };
  }
  const chosen = /^\d{1,3}$/.test(rest) ? sessions[Number(rest) - 1] : undefined;
  if (chosen === undefined) return { text: `There is no conversation ${rest.slice(0, 20)}. See /sessions.` };
  await claw.op('chat.bind', { chat: addressOf(names, call), sessionId: chosen.sessionId }, caller);
  return { text: `This chat now continues: ${chosen.title === '' ? 'Untitled' : chosen.title}` };
}

async function decide(
  { questions, mayDecide = true }: CommandDeps,
  { rest, userId, chatId, waitedMs }: CommandCall,
  word: 'approve' | 'deny',
): Promise<CommandAnswer> {
  if (!mayDecide) return { text: byCode };
  // Only what the person has seen here counts, and only by its id: what waits may have changed since it was read.
  const pending = questions.delivered({ userId, chatId });
  const [first] = pending.keys();
  if (first === undefined) return { text: 'Nothing that was asked in this chat waits for you.' };
  if (rest === '' && (word === 'approve' || pending.size > 1)) {
    const lines = [...pending].map(([id, { summary }]) => `${id}: ${revealed(summary)}`);
    return { text: `${lines.join('\n')}\n\nWrite the id as well: /${word} ${first}` };
  }
  const approval = pending.get(rest === '' ? first : rest.toLowerCase());
  if (approval === undefined) return { text: `Nothing with the id ${rest.slice(0, 20)} waits.` };
  if (waitedMs > freshMs) return { text: saidLongAgo };
  const asked = { askId: approval.approvalId };
  return { text: `${revealed(approval.summary)}\n${await questions.answer(asked, { key: word === 'deny' ? declineKey : 'y' }, userId)}` };
}

const byCode = 'Here a question is answered by the code that came with it, or at the computer.';
const saidLongAgo = 'That was written a while ago. Say it again if it still holds.';

/** The text answers the oldest open question; a number before it selects another. */
async function answerServer(
  { questions, servers, mayDecide = true }: CommandDeps,
  { rest, userId, waitedMs }: CommandCall,
): Promise<CommandAnswer> {
  if (!mayDecide) return { text: byCode };
  const open = servers.list();
  const [first] = open;
  if (first === undefined) return { text: 'No MCP server asks anything.' };
  const [, number, more = ''] = open.length === 1 ? [] : (/^(\d)\s+([^]*)$/.exec(rest) ?? []);
  const chosen = open.length === 1 ? first : open[Number(number ?? 0) - 1];
  if (rest === '' || chosen === undefined) {
    const lines = open.map(({ server, message }, at) => `${at + 1}. ${server}: ${message.slice(0, 200)}`);
    return { text: `${lines.join('\n')}\n\nAnswer with: /answer ${open.length === 1 ? '' : '1 '}your answer` };
  }
  if (waitedMs > freshMs) return { text: saidLongAgo };
  return { text: await questions.answer({ askId: chosen.questionId }, { words: number === undefined ? rest : more }, userId) };
}

async function showBudget(
  { claw, mayDecide = true }: CommandDeps,
  { rest, waitedMs }: CommandCall,
  caller: Caller,
): Promise<CommandAnswer> {
  const amount = /^\$?(\d{1,6}(?:\.\d{1,2})?)$/.exec(rest)?.[1];
  if (rest !== '' && amount === undefined) return { text: 'Say an amount in dollars, such as /budget 1.50' };
  if (amount !== undefined && !mayDecide) return { text: 'The limits are changed at the computer.' };
  if (amount !== undefined && waitedMs > freshMs) return { text: saidLongAgo };
  const { budgets } =
    amount === undefined
      ? await claw.op('budget.get', {}, caller)
      : await claw.op('budget.allow', { scope: 'day', usd: Number(amount) }, caller);
  const lines = budgets.map(({ scope, unit, limit, spent }) => {
    const show = (value: number): string => (unit === 'usd' ? `$${value.toFixed(2)}` : counted(value, 'token'));
    return `${scope}: ${show(spent)} of ${limit === null ? 'no limit' : show(limit)}`;
  });
  return { text: lines.length === 0 ? 'No limits are set.' : lines.join('\n') };
}

async function stopTurns({ claw, names, log }: CommandDeps, call: CommandCall, caller: Caller): Promise<CommandAnswer> {
  const sessionId = await boundSession({ claw, names }, call, caller);
  if (sessionId === null) return { text: 'Nothing runs in this conversation.' };
  const open = log.index.openTurns().flatMap((turn) => (turn.sessionId === sessionId ? [turn.turnId] : []));
  for (const turnId of open) {
    // A turn that just ended does not need to be stopped.
    await claw.op('turn.cancel', { turnId }, caller).catch(() => null);
  }
  return { text: open.length === 0 ? 'Nothing runs in this conversation.' : open.length === 1 ? 'Stopped.' : `${open.length} stopped.` };
}

function addressOf({ channel }: CommandDeps['names'], { chatId, threadId }: CommandCall): ChatAddress {
  return { channel, chatId, ...(threadId === undefined ? {} : { threadId }) };
}

async function boundSession(
  { claw, names }: Pick<CommandDeps, 'claw' | 'names'>,
  call: CommandCall,
  caller: Caller,
): Promise<string | null> {
  const { chats } = await claw.op('chat.list', { channel: names.channel }, caller);
  return chats.find(({ chatId, threadId }) => chatId === call.chatId && threadId === call.threadId)?.sessionId ?? null;
}
