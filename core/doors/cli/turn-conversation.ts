// Runs one message as a turn from the terminal: sends it, streams the answer, asks for approvals in place, cancels on Ctrl-C.

import type { Claw } from '../../contracts/claw.ts';
import { sleep } from '../../base/waits.ts';
import { AppError, isAppError } from '../../contracts/errors.ts';
import type { EventOf } from '../../contracts/events.ts';
import type { OpParams } from '../../contracts/ops.ts';
import type { AskResult } from '../../contracts/op-results.ts';
import { promptApproval } from './approval-prompt.ts';
import type { CommandContext } from './command-context.ts';
import { exitCodes } from './exit-code.ts';
import type { LineReader } from './line-reader.ts';
import { TurnFollower } from './turn-follower.ts';
import { TurnProgress } from './turn-progress.ts';
import { safeForTerminal } from '../../base/visible-text.ts';

const roundsMax = 1000;
/** How long a second Ctrl-C waits for the first one to reach the turn. */
const CANCEL_WITHIN_MS = 2_000;

export interface ConversationOptions {
  readonly claw: Claw;
  /** Asks for approvals at this terminal; null leaves them pending. */
  readonly lines: LineReader | null;
  /** Prints the answer while it is written. */
  readonly streams: boolean;
  /** Stops the turn after this time, as Ctrl-C does. */
  readonly timeoutMs?: number | undefined;
}

export interface ConversationEnd {
  readonly result: AskResult;
  /** The exit code, if the turn was stopped from here. */
  readonly stopCode: number | null;
  /** The finished calls that were seen, newest last. */
  readonly calls: readonly EventOf<'tool.finished'>[];
}

interface TurnStart {
  readonly turnId: string;
}

export class TurnConversation {
  readonly #context: CommandContext;
  readonly #options: ConversationOptions;
  readonly #interrupted = new AbortController();
  #isLate = false;
  /** Resolves once the request to cancel the turn was answered. */
  readonly #cancelled = Promise.withResolvers<void>();
  readonly #openPrompts = new Map<string, AbortController>();
  readonly #calls: EventOf<'tool.finished'>[] = [];
  readonly #progress: TurnProgress;

  constructor(context: CommandContext, options: ConversationOptions) {
    this.#context = context;
    this.#options = options;
    const { output, parts } = context;
    this.#progress = new TurnProgress({ output, clock: parts.clock, isTyping: () => options.lines?.isTyping === true });
  }

  send(message: OpParams<'message.send'>): Promise<ConversationEnd> {
    return this.run(() => this.#options.claw.op('message.send', message));
  }

  /** Starts a turn and follows it until it ends, or waits for a person who is not here. */
  async run(start: (signal: AbortSignal) => Promise<TurnStart>): Promise<ConversationEnd> {
    const { lines } = this.#options;
    const { signal } = this.#interrupted;
    const forced = Promise.withResolvers<never>();
    const over = new AbortController();
    const leave = (why: string): void => forced.reject(new AppError('cancelled', why));
    const interrupt = (): void => {
      // A closed terminal does not answer: approvals stay pending, and a turn in another process continues there.
      if (this.#context.io.gone.aborted) return leave('The terminal was closed.');
      // The first interrupt must have reached the turn, or the turn would continue.
      const waited = signal.aborted ? Promise.race([this.#cancelled.promise, sleep(CANCEL_WITHIN_MS, over.signal)]) : null;
      void waited?.then(() => leave('Stopped waiting for the turn to end.'));
      this.#interrupted.abort();
    };
    const stopListening = lines === null ? this.#context.io.onInterrupt(interrupt) : lines.onInterrupt(interrupt);
    const follower = this.#createFollower();
    follower.start();
    const { timeoutMs } = this.#options;
    if (timeoutMs !== undefined) void sleep(timeoutMs, over.signal).then((isLate) => isLate && this.#stopInTime());
    try {
      return await Promise.race([this.#through(start, follower), forced.promise]);
    } finally {
      over.abort();
      follower.stop();
      this.#progress.hide();
      stopListening();
    }
  }

  async #through(start: (signal: AbortSignal) => Promise<TurnStart>, follower: TurnFollower): Promise<ConversationEnd> {
    const { signal } = this.#interrupted;
    const { lines } = this.#options;
    const { turnId } = await start(signal);
    follower.follow(turnId);
    this.#cancelOnInterrupt(turnId);
    let result = await this.#stayWith(turnId, follower);
    if (signal.aborted) {
      await this.#cancelled.promise;
      result = await this.#options.claw.op('turn.wait', { turnId, timeoutMs: 0 });
    }
    this.#finishText(result, follower);
    if (lines !== null && result.status !== 'waiting') await this.#markRead(result.sessionId);
    return { result, stopCode: this.#stopCode(), calls: this.#calls };
  }

  /** The person has seen the answer here, so no other window shows it as new. */
  async #markRead(sessionId: string): Promise<void> {
    try {
      await this.#options.claw.op('session.seen', { sessionId });
    } catch {
      // At worst it is shown as new once more.
    }
  }

  #stopInTime(): void {
    this.#isLate = !this.#interrupted.signal.aborted;
    this.#interrupted.abort();
  }

  #stopCode(): number | null {
    if (!this.#interrupted.signal.aborted) return null;
    return this.#isLate ? exitCodes.timedOut : exitCodes.interrupted;
  }

  /** Events of a running instance use another connection and may arrive after the result. */
  #finishText({ text }: AskResult, follower: TurnFollower): void {
    if (this.#options.streams) follower.finishText(text);
  }

  async #stayWith(turnId: string, follower: TurnFollower): Promise<AskResult> {
    const { claw, lines } = this.#options;
    let result = await claw.op('turn.wait', { turnId });
    for (let round = 0; round < roundsMax && result.status === 'waiting'; round++) {
      this.#finishText(result, follower);
      if (result.behind !== undefined)
        this.#context.output.note('An earlier turn of this session waits for you. Your message is kept, and its turn comes after that.');
      if (lines === null || !(await this.#askFor(result, lines)) || this.#interrupted.signal.aborted) break;
      result = await claw.op('turn.wait', { turnId });
    }
    return result;
  }

  /** Returns false if the person gave no answer. */
  async #askFor(result: AskResult, lines: LineReader): Promise<boolean> {
    const { claw } = this.#options;
    const { approvals } = await claw.op('approval.list', {});
    const own = approvals.filter((approval) => approval.turnId === (result.behind ?? result.turnId));
    for (const approval of own) {
      const over = new AbortController();
      this.#openPrompts.set(approval.approvalId, over);
      const signal = AbortSignal.any([over.signal, this.#interrupted.signal]);
      const { output } = this.#context;
      this.#progress.hide();
      const answer = await promptApproval(approval, lines, { claw, paint: output.paintNote, say: (text) => output.say(text), signal });
      this.#openPrompts.delete(approval.approvalId);
      if (over.signal.aborted) {
        output.say('It was decided elsewhere.');
        continue;
      }
      if (answer.kind === 'none') return false;
      const { kind: _, ...given } = answer;
      await this.#decide({ approvalId: approval.approvalId, decision: answer.kind, ...given });
    }
    return own.length > 0;
  }

  async #decide(decision: OpParams<'approval.decide'>): Promise<void> {
    try {
      await this.#options.claw.op('approval.decide', decision);
    } catch (cause) {
      if (!isAppError(cause) || cause.code !== 'approval_not_pending') throw cause;
      this.#context.output.say('It was decided elsewhere.');
    }
  }

  #cancelOnInterrupt(turnId: string): void {
    const { signal } = this.#interrupted;
    const cancel = async (): Promise<void> => {
      const { output } = this.#context;
      output.note(this.#isLate ? 'The time is up. Stopping this turn.' : 'Stopping this turn.');
      try {
        await this.#options.claw.op('turn.cancel', { turnId });
      } catch (cause) {
        // The turn may have ended in the meantime.
        output.note(cause instanceof Error ? cause.message : String(cause));
      }
      this.#cancelled.resolve();
    };
    if (signal.aborted) void cancel();
    else signal.addEventListener('abort', () => void cancel(), { once: true });
  }

  #createFollower(): TurnFollower {
    const { output, io } = this.#context;
    return new TurnFollower(this.#options.claw, {
      onText: (text) => {
        if (this.#options.streams) output.text(text);
      },
      onCallFinished: (event) => {
        this.#calls.push(event);
        const { tool, outcome, tookMs } = event.body;
        if (io.stderrIsTty && !output.isJson) output.note(`${tool} · ${outcome} · ${Math.round(tookMs)} ms`);
      },
      onWarning: (text) => {
        if (!output.isJson) output.say(output.paintNote('yellow', safeForTerminal(text)));
      },
      onDoing: (doing) => {
        if (doing === null || this.#openPrompts.size > 0) this.#progress.hide();
        else this.#progress.show(doing);
      },
      onDecided: (approvalId) => this.#openPrompts.get(approvalId)?.abort(),
    });
  }
}
