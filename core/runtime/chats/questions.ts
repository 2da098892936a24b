// Approvals and questions of MCP servers in the chats of paired people: sent with buttons or a one-time code, answered once by the first
// door that answers, then updated with the outcome. An answer counts only from the person, the chat and the question it was made for, and
// only while it is fresh.

import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { ButtonPress, OutboundItem } from '../../contracts/channels.ts';
import type { Claw } from '../../contracts/claw.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import { systemSessionId } from '../../contracts/events.ts';
import type { EndedQuestion, McpQuestion } from '../../contracts/features/mcp.ts';
import type { OpParams } from '../../contracts/ops.ts';
import type { Approval, GrantScope } from '../../contracts/policy.ts';
import { fieldsOf, quickAnswers } from '../../contracts/question-fields.ts';
import type { ArtifactRef } from '../../contracts/tools.ts';
import type { SessionLog } from '../../store/session/session.ts';
import {
  askedApproval,
  askedQuestion,
  declineKey,
  forgottenQuestion,
  MINUTES,
  plain,
  withChange,
  withoutEscapes,
  type Asked,
} from './asked.ts';
import { GuessLimit } from './guess-limit.ts';
import { callerOf } from './caller.ts';
import { readAnswer } from './read-answer.ts';
import type { PeopleRows, QuestionRow, QuestionRows, ServiceNames } from './records.ts';

export interface QuestionDeps {
  readonly log: SessionLog;
  readonly store: PeopleRows & QuestionRows;
  readonly names: ServiceNames;
  /** `codes` if a button press does not prove who pressed it: the answer must then contain a code that was sent with the question. */
  readonly answers?: 'buttons' | 'codes';
  /** True if the service shows texts without formatting. */
  readonly isPlain?: boolean | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly approvals: { approval(approvalId: string): Approval | null; pendingApprovals(): Approval[] };
  readonly servers: ServerQuestions;
  readonly claw: Pick<Claw, 'op'>;
  /** Returns unguessable letters and digits. */
  readonly nonce: () => string;
  readonly queue: (item: Omit<OutboundItem, 'outboundId'>) => string;
  /** Stores a text as a file to attach. */
  readonly keep: (text: string, name: string, sessionId: string) => ArtifactRef;
}

/** Questions of MCP servers. */
export interface ServerQuestions {
  list(): McpQuestion[];
  /** Null for a question that is open or that ended long ago. */
  ended(questionId: string): EndedQuestion | null;
}

/** The key of a button, or a written answer. */
interface Given {
  readonly key?: string;
  readonly words?: string;
}

const ASKS_MAX = 20;
/** An older press or message decides nothing. */
export const freshMs = 10 * 60_000;

export class Questions {
  readonly #deps: QuestionDeps;
  readonly #guesses: GuessLimit;
  /** The approvals whose change to a file is being read. */
  readonly #reading = new Set<string>();

  constructor(deps: QuestionDeps) {
    this.#deps = deps;
    this.#guesses = new GuessLimit(deps.clock);
  }

  /** Sends every paired person the open questions they have not received yet. */
  askOpen(): void {
    const { approvals, servers } = this.#deps;
    for (const approval of approvals.pendingApprovals()) {
      if (changesFiles(approval)) void this.#askWithChange(approval.approvalId);
      else this.#ask(askedApproval(approval));
    }
    for (const question of servers.list()) this.#ask(askedQuestion(question, null));
  }

  #ask(asked: Asked): void {
    for (const person of this.#unasked(asked.askId)) this.#askOne(asked, person);
  }

  #unasked(askId: string): { userId: string; chatId: string; asks: number }[] {
    const { store } = this.#deps;
    const known = new Map(store.questionsOf(askId).map((question) => [question.userId, question]));
    return store.people().flatMap(({ userId, chatId }) => {
      const before = known.get(userId);
      // A question whose delivery is uncertain is sent again: a second copy is harmless, but a missing one blocks the turn forever.
      const isDue = before === undefined || (before.lost && before.asks < ASKS_MAX);
      return isDue ? [{ userId, chatId, asks: before?.asks ?? 0 }] : [];
    });
  }

  /** Never rejects. A change that cannot be read is left out: the question shows the exact call. */
  async #askWithChange(approvalId: string): Promise<void> {
    const { claw, names, logger, approvals } = this.#deps;
    const [first] = this.#unasked(approvalId);
    if (first === undefined || this.#reading.has(approvalId)) return;
    this.#reading.add(approvalId);
    try {
      const { files } = await claw.op('approval.diff', { approvalId }, callerOf(names.channel, first.userId)).catch(() => ({ files: [] }));
      const approval = approvals.approval(approvalId);
      if (approval?.state === 'pending') this.#ask(withChange(askedApproval(approval), files));
    } catch (cause) {
      logger.log('error', 'an approval could not be asked in a chat', { approvalId, cause: String(cause) });
    } finally {
      this.#reading.delete(approvalId);
    }
  }

  #askOne(asked: Asked, { userId, chatId, asks }: { userId: string; chatId: string; asks: number }): void {
    const { log, queue, keep, nonce: draw, names, answers = 'buttons', isPlain = false } = this.#deps;
    const { askId, sessionId, text, rest, choices } = asked;
    const nonce = draw();
    const files = rest === null ? [] : [keep(rest, 'call.txt', sessionId)];
    const buttons = choices.map((row) => row.map(({ key, label }) => ({ label, data: `ap:${nonce}:${key}` })));
    log.transact(() => {
      const outboundId = queue({
        to: { channel: names.channel, chatId },
        kind: 'question',
        text: `${isPlain ? withoutEscapes(text) : text}${answers === 'codes' ? codeWords(nonce, asked) : commandWords(asked)}`,
        files,
        ...(answers === 'codes' ? {} : { buttons }),
        idempotencyKey: `${names.channel}-question:${askId}:${userId}:${asks + 1}`,
        sessionId,
        turnId: null,
      });
      const body = { channel: names.channel, approvalId: askId, userId, chatId, nonce, outboundId };
      log.append(systemSessionId, [{ type: 'channel.asked', body }]);
    });
  }

  /** Returns the notice to show under the button. Decides at once or not at all. */
  async press({ userId, chatId, data, waitedMs }: ButtonPress): Promise<string> {
    const [, nonce = '', key = ''] = /^ap:([A-Za-z0-9_-]{16,40}):([a-z0-9])$/.exec(data) ?? [];
    const question = nonce === '' ? null : this.#deps.store.questionByNonce(nonce);
    if (question === null) return belongsToNothing;
    return this.#answer(question, { key }, { userId, chatId, waitedMs });
  }

  /**
   * Handles an answer by code: a line `yes CODE` or `no CODE`; for a question of a server, followed by the values it asks for. Null if the
   * text is not such an answer. A code is valid once, for its person and chat.
   */
  async answerByCode(text: string, from: Omit<ButtonPress, 'data'>): Promise<string | null> {
    const said = readAnswerLine(text);
    if (said === null) return null;
    const question = this.#deps.store.questionByNonce(said.code);
    const asked = question === null ? null : this.asked(question);
    // A yes with a condition does not count as a yes.
    if (said.hasMore && asked?.wants === null) return null;
    if (this.#guesses.isReached(from.userId)) return 'Too many wrong codes. Answer at the computer, or wait an hour.';
    if (question === null || question.userId !== from.userId) {
      this.#guesses.count(from.userId);
      return 'That code belongs to nothing that is asked.';
    }
    if (!said.isYes) return this.#answer(question, { key: declineKey }, from);
    return this.#answer(question, said.words === '' ? {} : { words: said.words }, from);
  }

  async #answer(question: QuestionRow, given: Given, { userId, chatId, waitedMs }: Omit<ButtonPress, 'data'>): Promise<string> {
    const { store, clock, answers } = this.#deps;
    if (store.person(userId) === null || question.userId !== userId || question.chatId !== chatId)
      return 'This question was not asked of you.';
    const asked = this.asked(question);
    if (asked === null) return 'There is no such question any more.';
    if (!asked.isOpen || question.closed) return this.howAnswered(asked);
    const keys = asked.choices.flat().map(({ key }) => key);
    if (given.key !== undefined && !keys.includes(given.key)) return belongsToNothing;
    // A press cannot be older than its question.
    if (Math.min(waitedMs, ageOf(question, clock.nowMs())) > freshMs)
      return `That may have been answered a while ago. ${answers === 'codes' ? 'Write' : 'Press'} again if you still want it.`;
    return this.answer(asked, given.key === undefined && given.words === undefined ? { key: keys[0] ?? '' } : given, userId);
  }

  /** Does not check the identity of the person or the age of the answer; the caller does. */
  async answer({ askId }: Pick<Asked, 'askId'>, given: Given, userId: string): Promise<string> {
    const { claw, names } = this.#deps;
    const caller = callerOf(names.channel, userId);
    try {
      const open = this.#deps.servers.list().find(({ questionId }) => questionId === askId);
      if (open !== undefined) await claw.op('mcp.answer', serverAnswer(open, given), caller);
      else if (!isServerQuestion(askId))
        return this.howAnswered(askedApproval(await claw.op('approval.decide', decisionOf(askId, given), caller)));
    } catch (cause) {
      const now = this.#find(askId);
      // Another door answered first.
      if (now === null || now.isOpen) return toAppError(cause).told('\n');
    }
    const now = this.#find(askId);
    return now === null ? 'There is no such question any more.' : this.howAnswered(now);
  }

  /** Answered questions whose chats still show buttons. */
  answered(): { readonly question: QuestionRow; readonly asked: Asked }[] {
    return this.#deps.store.openQuestions().flatMap((question) => {
      const asked = question.messageId === null ? null : this.asked(question);
      return asked === null || asked.isOpen ? [] : [{ question, asked }];
    });
  }

  asked({ approvalId }: QuestionRow): Asked | null {
    return this.#find(approvalId);
  }

  #find(askId: string): Asked | null {
    const { approvals, servers } = this.#deps;
    if (!isServerQuestion(askId)) {
      const approval = approvals.approval(askId);
      return approval === null ? null : askedApproval(approval);
    }
    const open = servers.list().find(({ questionId }) => questionId === askId);
    if (open !== undefined) return askedQuestion(open, null);
    const ended = servers.ended(askId);
    return ended === null ? forgottenQuestion(askId) : askedQuestion(ended.question, ended);
  }

  /** The pending approvals that have arrived in this chat for this person, by the id that is shown with them. */
  delivered({ userId, chatId }: Pick<ButtonPress, 'userId' | 'chatId'>): ReadonlyMap<string, Approval> {
    const { store, approvals } = this.#deps;
    const here = store.openQuestions().filter((one) => one.userId === userId && one.chatId === chatId && one.messageId !== null);
    const arrived = new Set(here.map(({ approvalId }) => approvalId));
    const pending = approvals.pendingApprovals().filter(({ approvalId }) => arrived.has(approvalId));
    return new Map(pending.map((approval) => [shortIdOf(approval.approvalId), approval]));
  }

  /** Describes how the question that was sent with this item was answered; null while it is open. */
  answerOf(outboundId: string): string | null {
    const question = this.#deps.store.openQuestions().find((one) => one.outboundId === outboundId);
    const asked = question === undefined ? null : this.asked(question);
    return asked === null || asked.isOpen ? null : this.howAnswered(asked);
  }

  close({ approvalId, userId }: QuestionRow): void {
    const { log, names } = this.#deps;
    log.append(systemSessionId, [{ type: 'channel.question_closed', body: { channel: names.channel, approvalId, userId } }]);
  }

  /** For example "Answered in the window: denied." */
  howAnswered(asked: Asked): string {
    return asked.howAnswered(`${this.#deps.names.channel}:`);
  }
}

function changesFiles({ facts }: Approval): boolean {
  return facts.command === null && facts.paths.some(({ access }) => access === 'write');
}

const belongsToNothing = 'This button belongs to nothing that is asked.';

/** Random, so an id that is written late names no other approval. */
const shortIdOf = (approvalId: string): string => approvalId.slice(-6).toLowerCase();

const isServerQuestion = (askId: string): boolean => askId.startsWith('qst_');

function decisionOf(approvalId: string, { key }: Given): OpParams<'approval.decide'> {
  if (key === declineKey) return { approvalId, decision: 'deny' };
  const scope: GrantScope = key === 'm' ? { kind: 'minutes', minutes: MINUTES } : { kind: 'once' };
  return { approvalId, decision: 'approve', scope };
}

/** Fails with invalid_params. */
function serverAnswer(question: McpQuestion, { key, words }: Given): OpParams<'mcp.answer'> {
  const { questionId } = question;
  if (words !== undefined) return { questionId, action: 'accept', content: readAnswer(fieldsOf(question.schema), words) };
  if (key === declineKey) return { questionId, action: 'decline' };
  const content = quickAnswers(question)[Number(key)]?.content;
  if (content === undefined) throw new AppError('invalid_params', 'The question wants an answer in words.');
  return content === null ? { questionId, action: 'accept' } : { questionId, action: 'accept', content };
}

/** Matched only at the beginning: further down it may be a quotation of the question itself. */
const answerLine = /^\s*(yes|no|approve|deny)[ \t:]+([A-Za-z0-9]{10})(?:[ \t.]*|[ \t]*:([^\r\n]*))(?:\r?\n|$)/i;

function readAnswerLine(text: string) {
  const [line = '', word = '', code = '', more] = answerLine.exec(text) ?? [];
  if (code === '') return null;
  const words = more === undefined ? '' : `${more}\n${untilBlank(text.slice(line.length))}`.trim();
  return { code: code.toUpperCase(), isYes: /^(?:yes|approve)$/i.test(word), hasMore: (more ?? '').trim() !== '', words };
}

function codeWords(code: string, { wants }: Asked): string {
  const [only, ...others] = wants ?? [];
  const yes = only === undefined ? '' : others.length === 0 ? ': your answer' : `:\n    ${[only, ...others].join(': …\n    ')}: …`;
  return `\n\nTo answer, begin a reply with one of these lines:\n\n    yes ${code}${yes}\n    no ${code}\n\nThe code holds once.`;
}

function commandWords({ askId, wants }: Asked): string {
  if (!isServerQuestion(askId)) return `\nOr write: /approve ${shortIdOf(askId)}`;
  const [only, ...others] = wants ?? [];
  if (only === undefined) return '';
  return others.length === 0 ? '\nOr write: /answer your answer' : `\nOr write: /answer and a line for each, such as ${plain(only)}: …`;
}

/** Returns the text up to the first blank or quoted line; the rest of a mail is a quotation. */
function untilBlank(text: string): string {
  return /^[^]*?(?=\r?\n[ \t]*(?:\r?\n|>)|$)/.exec(text)?.[0] ?? '';
}

/** If the clock was set back, every question counts as old. */
function ageOf({ askedAtMs }: QuestionRow, nowMs: number): number {
  return nowMs < askedAtMs ? Number.MAX_SAFE_INTEGER : nowMs - askedAtMs;
}
