// `outbox` and `chats`: what goes out to chats, and which session each of them talks in.

import type { Command } from 'commander';
import { AppError } from '../../contracts/errors.ts';
import { outboundStateSchema, type ChatInfo, type OutboundInfo } from '../../contracts/outbox-ops.ts';
import { parseCount, type CommandContext, type Run } from './command-context.ts';
import { table, when } from './table.ts';

interface ListOptions {
  readonly state?: string;
  readonly all?: boolean;
  readonly session?: string;
  readonly limit?: string;
}

export function registerOutbox(program: Command, run: Run): void {
  const outbox = program.command('outbox').description('messages on their way to chats');
  outbox
    .command('list')
    .description('list messages to chats')
    .option('--state <state>', outboundStateSchema.options.join(', '))
    .option('--all', 'also what has arrived or was dropped')
    .option('--session <id>', 'of one session')
    .option('--limit <n>', 'how many at most')
    .action((options: ListOptions) => run((context) => list(context, options)));
  outbox
    .command('settle')
    .description('say what became of a message that may or may not have arrived')
    .argument('<id>')
    .argument('<answer>', 'sent: it had arrived · resend: send it again · drop: let it be')
    .action((outboundId: string, answer: string) => run((context) => settle(context, outboundId, answer)));
}

function list(context: CommandContext, { state, all, session, limit }: ListOptions): Promise<number> {
  const parsed = state === undefined ? undefined : outboundStateSchema.safeParse(state);
  if (parsed?.success === false) throw new AppError('invalid_params', `A state is one of ${outboundStateSchema.options.join(', ')}.`);
  const params = {
    ...(parsed === undefined ? {} : { state: parsed.data }),
    ...(all === true ? { all } : {}),
    ...(session === undefined ? {} : { sessionId: session }),
    ...(limit === undefined ? {} : { limit: parseCount(limit, '--limit') }),
  };
  return context.runOp('outbox.list', params, {
    json: ({ items }) => items,
    human: ({ items }) => table(['MESSAGE', 'STATE', 'CHAT', 'WHEN', 'WHY', 'TEXT'], items.map(itemRow), 'Nothing is on its way.'),
  });
}

function settle(context: CommandContext, outboundId: string, answer: string): Promise<number> {
  if (answer !== 'sent' && answer !== 'resend' && answer !== 'drop')
    throw new AppError('invalid_params', 'The answer is sent, resend or drop.');
  return context.runOp('outbox.settle', { outboundId, answer }, { human: (item) => `Settled: ${outboundId} is ${item.state} now.` });
}

function itemRow({ outboundId, state, to, createdAtMs, reason, text }: OutboundInfo): string[] {
  return [outboundId, state, `${to.channel}:${to.chatId}`, when(createdAtMs), reason ?? '-', text];
}

export function registerChats(program: Command, run: Run): void {
  const chats = program.command('chats').description('chats of channels, and the session each talks in');
  chats
    .command('list')
    .description('list the chats and their sessions')
    .option('--channel <name>', 'chats of this channel only')
    .action((options: { channel?: string }) =>
      run((context) =>
        context.runOp('chat.list', options.channel === undefined ? {} : { channel: options.channel }, {
          json: (result) => result.chats,
          human: (result) => table(['CHANNEL', 'CHAT', 'KIND', 'SESSION', 'LAST USED', 'TITLE'], result.chats.map(chatRow), 'None yet.'),
        }),
      ),
    );
  chats
    .command('bind')
    .description('connect a chat to a session; without a session, its next message starts a new one')
    .argument('<channel>')
    .argument('<chat-id>')
    .argument('[session-id]')
    .option('--thread <id>', 'a thread of the chat')
    .action((channel: string, chatId: string, sessionId: string | undefined, options: { thread?: string }) =>
      run((context) => {
        const chat = { channel, chatId, ...(options.thread === undefined ? {} : { threadId: options.thread }) };
        return context.runOp(
          'chat.bind',
          { chat, ...(sessionId === undefined ? {} : { sessionId }) },
          {
            human: (bound) => `${bound.title} goes on in ${bound.sessionId ?? 'a new session'}.`,
          },
        );
      }),
    );
}

function chatRow({ channel, chatId, threadId, kind, sessionId, lastUsedAtMs, title }: ChatInfo): string[] {
  const id = threadId === undefined ? chatId : `${chatId} (${threadId})`;
  return [channel, id, kind, sessionId ?? '-', when(lastUsedAtMs), title];
}
