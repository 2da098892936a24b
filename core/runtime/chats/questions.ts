// Approvals in the chats of paired people: sent with buttons or a one-time code, answered once from whichever door is first, then updated
// with the outcome. An answer counts only from the person, the chat and the approval it was made for, and only while it is fresh.

import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { ButtonPress, OutboundItem } from '../../contracts/channels.ts';
import type { Claw } from '../../contracts/claw.ts';
import { toAppError } from '../../contracts/errors.ts';
import { systemSessionId } from '../../contracts/events.ts';
import type { Approval, GrantScope } from '../../contracts/policy.ts';
import type { ArtifactRef } from '../../contracts/tools.ts';
import { answeredWords } from '../../contracts/turn-words.ts';
import type { SessionLog } from '../../store/session/session.ts';
import { GuessLimit } from './guess-limit.ts';
import { callerOf } from './caller.ts';
import type { ChatRecords, PeopleRows, QuestionRow, QuestionRows, ServiceNames } from './records.ts';

export interface QuestionDeps {
  readonly log: SessionLog;
  readonly store: PeopleRows & QuestionRows;
  readonly records: ChatRecords;
  readonly names: ServiceNames;
  /** Where a press does not prove who pressed, the answer is a code that was sent with the question. */
  readonly answers?: 'buttons' | 'codes';
  readonly clock: Clock;
  readonly logger: Logger;
  readonly approvals: { approval(approvalId: string): Approval | null; pendingApprovals(): Approval[] };
  readonly claw: Pick<Claw, 'op'>;
  /** Unguessable letters and digits. */
  readonly nonce: () => string;
  readonly queue: (item: Omit<OutboundItem, 'outboundId'>) => string;
  /** Keeps a text as a file to send along. */
  readonly keep: (text: string, name: string, sessionId: string) => ArtifactRef;
}

type Choice = 'once' | 'minutes' | 'deny';
const letters = { y: 'once', m: 'minutes', n: 'deny' } as const;
const MINUTES = 15;
const ASKS_MAX = 20;
/** An older press or message decides nothing. */
export const freshMs = 10 * 60_000;
const SHOWN_MAX = 2_200;
/** Maximum per sentence: an approval fits into one message. */
const PLAIN_MAX = 250;

export class Questions {
  readonly #deps: QuestionDeps;
  readonly #guesses: GuessLimit;

  constructor(deps: QuestionDeps) {
    this.#deps = deps;
    this.#guesses = new GuessLimit(deps.clock);
  }

  /** Sends every paired person the approvals they do not have yet. */
  askOpen(): void {
    for (const approval of this.#deps.approvals.pendingApprovals()) this.ask(approval);
  }

  ask(approval: Approval): void {
    const { store } = this.#deps;
    const asked = new Map(store.questionsOf(approval.approvalId).map((question) => [question.userId, question]));
    for (const { userId, chatId } of store.people()) {
      const before = asked.get(userId);
      // An approval whose delivery is uncertain is sent again: a second copy is harmless, a missing one blocks the turn for ever.
      if (before === undefined || (before.lost && before.asks < ASKS_MAX))
        this.#askOne(approval, { userId, chatId, asks: before?.asks ?? 0 });
    }
  }

  #askOne(approval: Approval, { userId, chatId, asks }: { userId: string; chatId: string; asks: number }): void {
    const { log, queue, keep, nonce: draw, records, names, answers = 'buttons' } = this.#deps;
    const { approvalId, sessionId } = approval;
    const nonce = draw();
    const { text, rest } = questionText(approval);
    const files = rest === null ? [] : [keep(rest, 'call.txt', sessionId)];
    log.transact(() => {
      const outboundId = queue({
        to: { channel: names.channel, chatId },
        kind: 'question',
        text: answers === 'codes' ? `${text}\n\n${codeWords(nonce)}` : text,
        files,
        ...(answers === 'codes' ? {} : { buttons: buttonsOf(approval, nonce) }),
        idempotencyKey: `${names.channel}-question:${approvalId}:${userId}:${asks + 1}`,
        sessionId,
        turnId: null,
      });
      log.append(systemSessionId, [records.asked({ approvalId, userId, chatId, nonce, outboundId })]);
    });
  }

  /** Returns the notice under the button. Decides at once or not at all. */
  async press({ userId, chatId, data, waitedMs }: ButtonPress): Promise<string> {
    const { store } = this.#deps;
    const [, nonce = '', letter = ''] = /^ap:([A-Za-z0-9_-]{16,40}):([ymn])$/.exec(data) ?? [];
    const question = nonce === '' ? null : store.questionByNonce(nonce);
    if (question === null) return 'This button belongs to nothing that is asked.';
    return this.#answer(question, letters[letter as keyof typeof letters], { userId, chatId, waitedMs });
  }

  /** An answer by code: `yes CODE` or `no CODE` on a line. Null where the text is none; a code holds once, for its person and chat. */
  async answerByCode(text: string, from: Omit<ButtonPress, 'data'>): Promise<string | null> {
    const [, word = '', code = ''] = answerLine.exec(text) ?? [];
    if (code === '') return null;
    if (this.#guesses.isReached(from.userId)) return 'Too many wrong codes. Answer at the computer, or wait an hour.';
    const question = this.#deps.store.questionByNonce(code.toUpperCase());
    if (question === null || question.userId !== from.userId) {
      this.#guesses.count(from.userId);
      return 'That code belongs to nothing that is asked.';
    }
    return this.#answer(question, /^(?:yes|approve)$/i.test(word) ? 'once' : 'deny', from);
  }

  async #answer(question: QuestionRow, choice: Choice, { userId, chatId, waitedMs }: Omit<ButtonPress, 'data'>): Promise<string> {
    const { store, clock, approvals } = this.#deps;
    if (store.person(userId) === null || question.userId !== userId || question.chatId !== chatId)
      return 'This question was not asked of you.';
    const approval = approvals.approval(question.approvalId);
    if (approval === null) return 'There is no such question any more.';
    if (approval.state !== 'pending' || question.closed) return this.howAnswered(approval);
    // A press cannot be older than its question.
    if (Math.min(waitedMs, ageOf(question, clock.nowMs())) > freshMs)
      return `That may have been answered a while ago. ${this.#deps.answers === 'codes' ? 'Write' : 'Press'} again if it still holds.`;
    return this.decide(approval, choice, userId);
  }

  async decide(approval: Approval, choice: Choice, userId: string): Promise<string> {
    const { claw, approvals, names } = this.#deps;
    const { approvalId } = approval;
    const scope: GrantScope =
      choice === 'minutes' && approval.widerScope !== null ? { kind: 'minutes', minutes: MINUTES } : { kind: 'once' };
    const answer = choice === 'deny' ? ({ decision: 'deny' } as const) : ({ decision: 'approve', scope } as const);
    try {
      return this.howAnswered(await claw.op('approval.decide', { approvalId, ...answer }, callerOf(names.channel, userId)));
    } catch (cause) {
      const now = approvals.approval(approvalId);
      // Another door was quicker.
      return now !== null && now.state !== 'pending' ? this.howAnswered(now) : toAppError(cause).message;
    }
  }

  /** Questions whose chats still show buttons although they were answered. */
  answered(): { readonly question: QuestionRow; readonly approval: Approval }[] {
    return this.#deps.store.openQuestions().flatMap((question) => {
      const approval = this.#deps.approvals.approval(question.approvalId);
      return approval === null || approval.state === 'pending' || question.messageId === null ? [] : [{ question, approval }];
    });
  }

  approvalOf({ approvalId }: QuestionRow): Approval | null {
    return this.#deps.approvals.approval(approvalId);
  }

  close({ approvalId, userId }: QuestionRow): void {
    this.#deps.log.append(systemSessionId, [this.#deps.records.closed({ approvalId, userId })]);
  }

  /** "Answered in the window: denied." */
  howAnswered(approval: Approval): string {
    return answeredWords(approval, `${this.#deps.names.channel}:`);
  }
}

/** Only at the beginning: further down it may be a quotation of the question itself. */
const answerLine = /^\s*(yes|no|approve|deny)[ \t:]+([A-Za-z0-9]{10})[ \t.]*(?:\r?\n|$)/i;

function codeWords(code: string): string {
  return `To answer, begin a reply with one of these lines:\n\n    yes ${code}\n    no ${code}\n\nThe code holds once.`;
}

/** A clock that was set back makes everything old. */
function ageOf({ askedAtMs }: QuestionRow, nowMs: number): number {
  return nowMs < askedAtMs ? Number.MAX_SAFE_INTEGER : nowMs - askedAtMs;
}

function buttonsOf({ widerScope }: Approval, nonce: string): NonNullable<OutboundItem['buttons']> {
  return [
    [
      { label: 'Approve once', data: `ap:${nonce}:y` },
      { label: 'Deny', data: `ap:${nonce}:n` },
    ],
    ...(widerScope === null ? [] : [[{ label: `Approve for ${MINUTES} min`, data: `ap:${nonce}:m` }]]),
  ];
}

/** The exact call; `rest` is its full text if it is too long for a chat. */
export function questionText(approval: Approval): { text: string; rest: string | null } {
  const { summary, risk, reason, args, widerScope, origin, facts } = approval;
  const exact = facts.command?.line ?? args;
  const isLong = exact.length > SHOWN_MAX;
  const shown = isLong ? `${exact.slice(0, SHOWN_MAX)}…` : exact;
  const sources = (origin?.taint ?? []).map(({ where }) => where);
  const lines = [
    ...(facts.does === undefined ? [] : [`**${plain(facts.does)}**`]),
    `**${plain(summary)}**`,
    plain(risk),
    plain(reason),
    fenced(shown),
    ...(isLong ? ['The whole call is in the file.'] : []),
    ...(sources.length === 0 ? [] : [`It may follow content from: ${plain(sources.slice(0, 5).join(', '))}`]),
    ...(widerScope === null ? [] : [`For ${MINUTES} min covers: ${plain(widerScope)}`]),
  ];
  return { text: lines.filter((line) => line !== '').join('\n'), rest: isLong ? exact : null };
}

/** Text of a call is shown literally, without formatting. */
function plain(text: string): string {
  return text
    .slice(0, PLAIN_MAX)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\\`*_~[\]#>-]/g, String.raw`\$&`)
    .trim();
}

/** A fence longer than any inside. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
