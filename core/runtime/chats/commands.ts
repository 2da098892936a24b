// The slash commands of a chat. Most run as everywhere else, in the session of the chat; a few answer approvals or change that session. The
// panic stop needs no approval and waits for nothing; it can be released only at the desktop.

import { revealed } from '../../base/visible-text.ts';
import type { ChatAddress } from '../../contracts/channels.ts';
import type { Claw } from '../../contracts/claw.ts';
import { chatCommands } from '../../contracts/commands.ts';
import { toAppError } from '../../contracts/errors.ts';
import { stoppedWords } from '../../contracts/panic-words.ts';
import type { Caller } from '../../contracts/ops.ts';
import { planModeSchema } from '../../contracts/turn-bounds.ts';
import type { Approval } from '../../contracts/policy.ts';
import { callerOf } from './caller.ts';
import { declineKey } from './asked.ts';
import { freshMs, type Questions, type ServerQuestions } from './questions.ts';

export const botCommands = chatCommands.map(({ name, about }) => ({ command: name, description: about }));

export interface CommandDeps {
  readonly names: { readonly channel: string; readonly title: string };
  /** False if the sender's identity is not proven well enough to allow anything. */
  readonly mayDecide?: boolean;
  readonly claw: Pick<Claw, 'op'>;
  readonly questions: Pick<Questions, 'answer' | 'delivered'>;
  readonly approvals: { pendingApprovals(): Approval[] };
  readonly servers: Pick<ServerQuestions, 'list'>;
  /** The agent that answers the first message of a chat. */
  readonly agentOf: (chatId: string) => string;
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
  const isKnown = name === 'start' || chatCommands.some((command) => command.name === name);
  return !isKnown || ['start', 'help', 'status'].includes(name) || (rest === '' && (name === 'sessions' || name === 'budget'));
}

type Command = (deps: CommandDeps, call: CommandCall, caller: Caller) => Promise<CommandAnswer> | CommandAnswer;

/** Never rejects. */
export async function runCommand(deps: CommandDeps, call: CommandCall): Promise<CommandAnswer> {
  const caller = callerOf(deps.names.channel, call.userId);
  const command = Object.hasOwn(commands, call.name) ? commands[call.name] : runShared;
  try {
    return await (command ?? runShared)(deps, call, caller);
  } catch (cause) {
    return { text: toAppError(cause).told('\n'), ...(call.name === 'panic' ? { aboutPanic: true } : {}) };
  }
}

const commands: Readonly<Record<string, Command>> = {
  start: async (deps, call, caller) => {
    const { text } = await runShared(deps, { ...call, name: 'help', rest: '' }, caller);
    return { text: `You are paired. Write what you want done; I ask before anything risky.\n\n${text}` };
  },
  status: async (deps, call, caller) => {
    const { text } = await runShared(deps, call, caller);
    return { text: deps.servers.list().length === 0 ? text : `${text}\n- An MCP server asks you something: /answer.` };
  },
  new: async ({ claw, names }, call, caller) => {
    await claw.op('chat.bind', { chat: addressOf(names, call) }, caller);
    return { text: 'A new conversation begins with your next message.' };
  },
  approve: (deps, call) => decide(deps, call, 'approve'),
  deny: (deps, call) => decide(deps, call, 'deny'),
  answer: answerServer,
  panic: async ({ claw, names }, { rest }, caller) => {
    const reason = rest === '' ? `Asked for over ${names.title}.` : rest.slice(0, 500);
    const status = await claw.op('panic.engage', { reason }, caller);
    return { text: `${stoppedWords(status)}. It is released at the computer only.`, aboutPanic: true };
  },
};

/** Runs a command in the session of the chat, which becomes the one that the command chose. */
async function runShared(deps: CommandDeps, call: CommandCall, caller: Caller): Promise<CommandAnswer> {
  const { claw, names, mayDecide = true } = deps;
  const { name, rest, waitedMs } = call;
  if (rest !== '' && chatCommands.find((command) => command.name === name)?.decides === true) {
    if (!mayDecide) return { text: `/${name} ${rest.slice(0, 20)} works at the computer only.` };
    if (waitedMs > freshMs) return { text: saidLongAgo };
  }
  const chat = addressOf(names, call);
  const { chats } = await claw.op('chat.list', { channel: names.channel }, caller);
  const bound = chats.find(({ chatId, threadId }) => chatId === call.chatId && threadId === call.threadId)?.sessionId ?? undefined;
  const line = `/${name} ${rest}`;
  const place = bound ?? (name === 'plan' && planModes.has(rest) ? await beginSession(deps, call, caller) : undefined);
  const { text, sessionId } = await claw.op('command.run', { line, ...(place === undefined ? {} : { sessionId: place }) }, caller);
  if (sessionId !== null && sessionId !== bound) await claw.op('chat.bind', { chat, sessionId }, caller);
  return { text };
}

const planModes: ReadonlySet<string> = new Set(['', ...planModeSchema.options]);

/** For a choice that is made before the first message. */
async function beginSession({ claw, agentOf }: CommandDeps, { chatId }: CommandCall, caller: Caller): Promise<string> {
  return (await claw.op('session.create', { agentId: agentOf(chatId) }, caller)).sessionId;
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
const saidLongAgo = 'That was written a while ago. Say it again if you still want it.';

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

function addressOf({ channel }: CommandDeps['names'], { chatId, threadId }: CommandCall): ChatAddress {
  return { channel, chatId, ...(threadId === undefined ? {} : { threadId }) };
}
