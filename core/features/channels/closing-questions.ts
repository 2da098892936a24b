// Closes answered approvals and questions in every chat that showed them: the message shows the outcome, or the chat gets a line.

import type { Logger } from '../../base/logger.ts';
import type { ChatLine, OutboundItem } from '../../contracts/channels.ts';
import { systemSessionId } from '../../contracts/events.ts';
import type { Questions } from '../../runtime/chats/chats.ts';
import type { SessionLog } from '../../store/session/session.ts';

export interface ClosingDeps {
  readonly log: Pick<SessionLog, 'transact'>;
  readonly logger: Logger;
  readonly queue: (item: Omit<OutboundItem, 'outboundId'>) => string;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<boolean>;
}

type Answered = ReturnType<Questions['answered']>[number];

const TRIES_MAX = 3;
const RETRY_MS = 1_000;

export class ClosingQuestions {
  readonly #deps: ClosingDeps;
  readonly #channel: string;
  readonly #closing = new Set<string>();

  constructor(deps: ClosingDeps, channel: string) {
    this.#deps = deps;
    this.#channel = channel;
  }

  /** Closes all answered questions, wherever they were answered. */
  closeAnswered(questions: Questions, line: ChatLine, signal: AbortSignal): void {
    for (const answered of questions.answered()) {
      const { messageId, approvalId, userId } = answered.question;
      const key = `${approvalId} ${userId}`;
      if (messageId === null || this.#closing.has(key)) continue;
      if (line.closeQuestion === undefined) {
        this.#closeByLine(questions, answered);
        continue;
      }
      this.#closing.add(key);
      void this.#show(questions, { ...answered, messageId, line }, signal).finally(() => this.#closing.delete(key));
    }
  }

  /**
   * Retries a few times; if the run ends first, the next run continues. Leaves a message that cannot be changed as it is. Never rejects.
   */
  async #show(questions: Questions, { question, asked, messageId, line }: Answered & Shown, signal: AbortSignal): Promise<void> {
    const shown = { chatId: question.chatId, messageId, asked: asked.text, text: questions.howAnswered(asked) };
    for (let tried = 1; tried <= TRIES_MAX; tried++) {
      try {
        await line.closeQuestion?.(shown);
        break;
      } catch (cause) {
        if (signal.aborted) return;
        this.#deps.logger.log('warn', 'an answered question could not be closed', { channel: this.#channel, cause: String(cause) });
        if (tried < TRIES_MAX) await this.#deps.wait(RETRY_MS * tried, signal);
      }
    }
    questions.close(question);
  }

  /** Sends a line if the service cannot change messages, unless the person answered in this very chat. */
  #closeByLine(questions: Questions, { question, asked }: Answered): void {
    const { log, queue } = this.#deps;
    log.transact(() => {
      if (asked.by !== `${this.#channel}:${question.userId}`) {
        queue({
          to: { channel: this.#channel, chatId: question.chatId },
          kind: 'notice',
          text: `${asked.summary}\n${questions.howAnswered(asked)}`,
          files: [],
          ...(question.messageId === null ? {} : { replyToMessageId: question.messageId }),
          idempotencyKey: `${this.#channel}-closed:${asked.askId}:${question.userId}`,
          sessionId: asked.sessionId === '' ? systemSessionId : asked.sessionId,
          turnId: null,
        });
      }
      questions.close(question);
    });
  }
}

interface Shown {
  readonly messageId: string;
  readonly line: ChatLine;
}
