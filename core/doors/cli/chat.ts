// `chat`: a conversation at the terminal. Approvals are asked in place; Ctrl-C stops the turn, a second one at the prompt leaves.

import type { Command } from 'commander';
import { isAppError, toAppError } from '../../contracts/errors.ts';
import type { OpParams } from '../../contracts/ops.ts';
import { reportAnswer, type AskOptions } from './ask.ts';
import type { CommandContext, Run } from './command-context.ts';
import type { Connection } from './connect.ts';
import { exitCodes } from './exit-code.ts';
import { LineReader } from './line-reader.ts';
import { askForMore } from './more-budget.ts';
import { when } from './table.ts';
import { cliCaller, TurnConversation } from './turn-conversation.ts';

const help = [
  '/new        start a new session',
  '/sessions   list the newest sessions',
  '/open ID    go on with another session',
  '/panic      stop everything',
  '/release    release the stop',
  '/quit       leave',
].join('\n');

export function registerChat(program: Command, run: Run): void {
  program
    .command('chat')
    .description('talk with the agent')
    .option('--session <id>', 'go on with this session')
    .option('--agent <id>', 'the agent to talk with')
    .action((options: AskOptions) => run((context) => chat(context, options)));
}

async function chat(context: CommandContext, options: AskOptions): Promise<number> {
  const lines = await LineReader.open(context.io);
  const room = new ChatRoom(context, lines, options);
  try {
    return await room.stay();
  } finally {
    lines.close();
    await room.leave();
  }
}

class ChatRoom {
  readonly #context: CommandContext;
  readonly #lines: LineReader;
  readonly #options: AskOptions;
  #connection: Connection | null = null;
  #sessionId: string | undefined;

  constructor(context: CommandContext, lines: LineReader, options: AskOptions) {
    this.#context = context;
    this.#lines = lines;
    this.#options = options;
    this.#sessionId = options.session;
  }

  /** Until /quit, the end of input (both 0) or Ctrl-C at the prompt (130). */
  async stay(): Promise<number> {
    await this.#connect();
    this.#context.output.note('Type a message, or /help.');
    for (;;) {
      const line = await this.#nextLine();
      if (line === 'interrupted') return exitCodes.interrupted;
      const text = line?.text.trim();
      if (text === undefined || text === '/quit' || text === '/exit') return exitCodes.done;
      if (text === '') continue;
      try {
        await (text.startsWith('/') ? this.#command(text) : this.#say(text));
      } catch (cause) {
        await this.#recover(cause);
      }
    }
  }

  async leave(): Promise<void> {
    await this.#connection?.close();
  }

  async #connect(): Promise<Connection> {
    this.#connection ??= await this.#context.connect('live');
    return this.#connection;
  }

  async #nextLine(): Promise<{ text: string } | 'interrupted' | null> {
    const interrupted = new AbortController();
    const stopListening = this.#lines.onInterrupt(() => interrupted.abort());
    try {
      const text = await this.#lines.ask('> ', interrupted.signal);
      if (interrupted.signal.aborted) return 'interrupted';
      return text === null ? null : { text };
    } finally {
      stopListening();
    }
  }

  async #say(text: string): Promise<void> {
    const { claw } = await this.#connect();
    const message: OpParams<'message.send'> = {
      text,
      ...(this.#sessionId === undefined ? {} : { sessionId: this.#sessionId }),
      ...(this.#options.agent === undefined ? {} : { agentId: this.#options.agent }),
    };
    const lines = this.#context.hasPerson ? this.#lines : null;
    const converse = (): TurnConversation => new TurnConversation(this.#context, { claw, lines, streams: !this.#context.output.isJson });
    let end = await converse().send(message);
    this.#sessionId = end.result.sessionId;
    reportAnswer(this.#context, end);
    while (lines !== null && (await askForMore(this.#context, { claw, lines, result: end.result }))) {
      const { turnId } = end.result;
      end = await converse().run(() => claw.op('turn.continue', { turnId }, cliCaller));
      reportAnswer(this.#context, end);
    }
  }

  async #command(line: string): Promise<void> {
    const { output } = this.#context;
    const { claw } = await this.#connect();
    const [name = '', argument] = line.split(/\s+/);
    switch (name) {
      case '/new':
        this.#sessionId = undefined;
        return output.say('A new session starts with your next message.');
      case '/open':
        if (argument === undefined) return output.say('Name the session: /open ID');
        this.#sessionId = (await claw.op('session.get', { sessionId: argument, limit: 1 }, cliCaller)).session.sessionId;
        return output.say(`Now in ${this.#sessionId}.`);
      case '/sessions': {
        const { sessions } = await claw.op('session.list', { limit: 20 }, cliCaller);
        for (const session of sessions) output.say(`${session.sessionId}  ${when(session.updatedAtMs)}  ${session.title}`);
        return;
      }
      case '/panic': {
        const { killed } = await claw.op('panic.engage', { reason: 'from chat' }, cliCaller);
        return output.say(`Everything is stopped; ${killed} processes were ended. Nothing runs until /release.`);
      }
      case '/release':
        await claw.op('panic.release', {}, cliCaller);
        return output.say('Released.');
      default:
        return output.say(help);
    }
  }

  /** Says what went wrong; an instance that is gone is let go, so that the next message finds or starts another. */
  async #recover(cause: unknown): Promise<void> {
    this.#context.output.explain(toAppError(cause));
    if (!isAppError(cause) || cause.code !== 'shutting_down') return;
    await this.#connection?.close();
    this.#connection = null;
  }
}
