// `chat`: a conversation at the terminal. Approvals are asked in place. Ctrl-C stops the turn; at the prompt it leaves.

import type { Claw } from '../../contracts/claw.ts';
import { isCommandLine, messageOf } from '../../contracts/command-line.ts';
import { isAppError, toAppError } from '../../contracts/errors.ts';
import { eventBodySchemas } from '../../contracts/events.ts';
import type { OpParams } from '../../contracts/ops.ts';
import { messageOptions, reportAnswer, type AskOptions } from './ask.ts';
import { completeMessage } from './chat-completion.ts';
import type { CommandContext } from './command-context.ts';
import type { Connection } from './connect.ts';
import { exitCodes } from './exit-code.ts';
import { meetModel } from './first-contact.ts';
import { LineReader, type Completions } from './line-reader.ts';
import { askForMore } from './more-budget.ts';
import { TurnConversation, type ConversationEnd } from './turn-conversation.ts';
import { choosePlace, conversations, filesOf, type MessagePlace } from './work-place.ts';

const EARLIER_MAX = 200;

const ownHelp = ['- `/open ID` Continue another session.', '- `/quit` Leave.'].join('\n');

export async function chat(context: CommandContext, options: AskOptions): Promise<number> {
  const connection = await context.connect('live');
  const earlier = context.hasPerson ? await earlierMessages(connection.claw, options.session) : [];
  const lines = await LineReader.open(context.io, earlier);
  const room = new ChatRoom(context, { connection, lines, options });
  try {
    return await room.stay();
  } finally {
    lines.close();
    await room.leave();
  }
}

/** The messages for the arrow keys, newest first: those of the named session, or of the newest one of this command line. */
async function earlierMessages(claw: Claw, named: string | undefined): Promise<string[]> {
  try {
    const sessionId = named ?? (await conversations(claw, {})).find(({ channel }) => channel === 'cli')?.sessionId;
    if (sessionId === undefined) return [];
    const { events } = await claw.op('session.get', { sessionId, types: ['user.message'], limit: EARLIER_MAX });
    const texts = events.flatMap(({ body }) => eventBodySchemas['user.message'].safeParse(body).data?.text ?? []);
    return texts.filter((text) => text !== '' && !text.includes('\n')).toReversed();
  } catch {
    // A comfort; what is wrong with the session is said when it is used.
    return [];
  }
}

class ChatRoom {
  readonly #context: CommandContext;
  readonly #lines: LineReader;
  readonly #options: AskOptions;
  #connection: Connection | null;
  #sessionId: string | undefined;
  /** Chosen once, so that a new session of this chat works in the same folder. */
  #place: MessagePlace = {};
  #files: readonly string[];

  constructor(
    context: CommandContext,
    given: { readonly connection: Connection; readonly lines: LineReader; readonly options: AskOptions },
  ) {
    this.#context = context;
    this.#connection = given.connection;
    this.#lines = given.lines;
    this.#options = given.options;
    this.#files = given.options.file ?? [];
  }

  /** Runs until /quit, the end of input (both return 0), Ctrl-C at the prompt or a closed terminal (both return 130). */
  async stay(): Promise<number> {
    const { claw } = await this.#connect();
    const { sessionId, ...place } = await choosePlace(this.#context, this.#options, {
      claw,
      lines: this.#context.hasPerson ? this.#lines : null,
    });
    this.#sessionId = sessionId;
    this.#place = sessionId === undefined ? place : {};
    const { model } = this.#options;
    if (sessionId === undefined && model === undefined) await meetModel(this.#context, claw, this.#context.hasPerson ? this.#lines : null);
    this.#context.output.note('Type a message, or /help.');
    for (;;) {
      const line = await this.#nextLine();
      if (line === 'interrupted') return exitCodes.interrupted;
      const text = line?.text.trim();
      if (text === undefined || /^\/?(quit|exit)$/.test(text)) return exitCodes.done;
      if (text === '') continue;
      try {
        await (isCommandLine(text) ? this.#command(text) : this.#say(messageOf(text)));
      } catch (cause) {
        await this.#recover(cause);
      }
    }
  }

  async leave(): Promise<void> {
    await this.#connection?.close({ drains: !this.#context.io.gone.aborted });
  }

  async #connect(): Promise<Connection> {
    this.#connection ??= await this.#context.connect('live');
    return this.#connection;
  }

  async #nextLine(): Promise<{ text: string } | 'interrupted' | null> {
    const interrupted = new AbortController();
    const stopListening = this.#lines.onInterrupt(() => interrupted.abort());
    const complete = (line: string): Promise<Completions> =>
      completeMessage(line, { claw: this.#connection?.claw ?? null, sessionId: this.#sessionId, cwd: this.#context.io.cwd });
    try {
      const text = await this.#lines.askMessage('> ', complete, interrupted.signal);
      // A closed terminal also ends the input, and may have closed while an answer was printed.
      if (interrupted.signal.aborted || this.#context.io.gone.aborted) return 'interrupted';
      return text === null ? null : { text };
    } finally {
      stopListening();
    }
  }

  async #say(text: string): Promise<void> {
    const { claw } = await this.#connect();
    const message: OpParams<'message.send'> = {
      text,
      ...(this.#sessionId === undefined ? this.#place : { sessionId: this.#sessionId }),
      ...messageOptions(this.#options),
      ...filesOf(this.#context, this.#files, text),
    };
    this.#files = [];
    await this.#stayWith(claw, (conversation) => conversation.send(message));
  }

  async #stayWith(claw: Claw, begin: (conversation: TurnConversation) => Promise<ConversationEnd>): Promise<void> {
    const lines = this.#context.hasPerson ? this.#lines : null;
    const converse = (): TurnConversation => new TurnConversation(this.#context, { claw, lines, streams: !this.#context.output.isJson });
    let end = await begin(converse());
    this.#sessionId = end.result.sessionId;
    reportAnswer(this.#context, end);
    while (lines !== null && (await askForMore(this.#context, { claw, lines, result: end.result }))) {
      const { turnId } = end.result;
      end = await converse().run(() => claw.op('turn.continue', { turnId }));
      reportAnswer(this.#context, end);
    }
  }

  async #command(line: string): Promise<void> {
    const { output } = this.#context;
    const { claw } = await this.#connect();
    const [name = '', argument] = line.split(/\s+/);
    if (name === '/open') {
      if (argument === undefined) return output.say('Name the session: /open ID');
      this.#sessionId = (await claw.op('session.get', { sessionId: argument, limit: 1 })).session.sessionId;
      return output.say(`Now in ${this.#sessionId}.`);
    }
    if (name === '/new') {
      this.#sessionId = undefined;
      return output.say('A new session starts with your next message.');
    }
    const place = this.#sessionId === undefined ? this.#place : { sessionId: this.#sessionId };
    const ran = await claw.op('command.run', { line, ...place });
    this.#sessionId = ran.sessionId ?? undefined;
    output.say(ran.file?.text ?? ran.text);
    const { turnId } = ran;
    if (turnId !== null && ran.follow) await this.#stayWith(claw, (conversation) => conversation.run(() => Promise.resolve({ turnId })));
    if (name === '/help' && argument === undefined) output.say(ownHelp);
  }

  /** Reports the error. If the instance has ended, drops the connection, so that the next message finds or starts another one. */
  async #recover(cause: unknown): Promise<void> {
    this.#context.output.explain(toAppError(cause));
    if (!isAppError(cause) || cause.code !== 'shutting_down') return;
    await this.#connection?.close();
    this.#connection = null;
  }
}
