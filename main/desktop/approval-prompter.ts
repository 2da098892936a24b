// Shows approvals outside the window: one notification each, and one dialog at a time. An answer from any door removes the notification and
// the dialog. Stores no approvals; the log does.

import type { MessageBoxOptions, MessageBoxReturnValue, Notification, NotificationConstructorOptions } from 'electron';
import type { Logger } from '../../core/base/logger.ts';
import { toAppError } from '../../core/contracts/errors.ts';
import type { Claw } from '../../core/contracts/claw.ts';
import type { Caller } from '../../core/contracts/ops.ts';
import type { Approval } from '../../core/contracts/policy.ts';
import { dialogChoices, dialogText, fitsNotice, noticeText, type DialogChoice } from './approval-text.ts';
import type { DesktopStatus } from './desktop-status.ts';

export interface ApprovalPrompterOptions {
  readonly claw: Pick<Claw, 'op'>;
  readonly logger: Logger;
  readonly platform: NodeJS.Platform;
  /** Null if this desktop shows no notifications. */
  notify: ((options: NotificationConstructorOptions) => Notification) | null;
  /**
   * Shows a dialog without a parent window, so that it blocks none; the signal closes it. Null where such a dialog would hold the program
   * up: there the notification and the window ask.
   */
  readonly ask: ((options: MessageBoxOptions & { readonly signal: AbortSignal }) => Promise<MessageBoxReturnValue>) | null;
  /** How visible the window is right now. */
  readonly attention: () => 'focused' | 'visible' | 'hidden';
  readonly openDetails: (approvalId: string) => void;
}

const caller: Caller = { channel: 'tray', actor: 'the desktop' };

export class ApprovalPrompter {
  readonly #options: ApprovalPrompterOptions;
  readonly #notices = new Map<string, Notification>();
  /** Approvals waiting for a dialog, oldest first. */
  #queue: Approval[] = [];
  #shown: { readonly approvalId: string; readonly closing: AbortController } | null = null;
  #known = new Map<string, Approval>();
  /** Approvals whose answer is being sent; they are not shown again meanwhile. */
  readonly #deciding = new Set<string>();

  constructor(options: ApprovalPrompterOptions) {
    this.#options = options;
  }

  /** Must be called after every change. Shows new approvals and removes answered ones; shows none during a panic stop. */
  follow(status: DesktopStatus): void {
    const open = new Map(status.panic.engaged ? [] : status.approvals.map((approval) => [approval.approvalId, approval]));
    const before = this.#known;
    this.#known = open;
    for (const approvalId of before.keys()) if (!open.has(approvalId)) this.#withdraw(approvalId);
    for (const [approvalId, approval] of open) if (!before.has(approvalId)) this.#put(approval);
  }

  /** The window's visibility changed: approvals that were shown only in the window, and are still open, are shown again. */
  attentionChanged(): void {
    for (const approval of this.#known.values()) this.#put(approval);
  }

  /** A person chose the approval in the tray or clicked its notification. */
  show(approvalId: string): void {
    const approval = this.#known.get(approvalId);
    if (approval === undefined) return;
    if (this.#shown?.approvalId === approvalId) return;
    if (this.#options.ask === null) {
      this.#options.openDetails(approvalId);
      return;
    }
    this.#queue = [approval, ...this.#queue.filter((waiting) => waiting.approvalId !== approvalId)];
    this.#next();
  }

  dispose(): void {
    this.#known = new Map();
    this.#queue = [];
    for (const approvalId of Array.from(this.#notices.keys())) this.#withdraw(approvalId);
    this.#shown?.closing.abort();
  }

  #put(approval: Approval): void {
    const attention = this.#options.attention();
    // The card in the focused window is enough.
    if (attention === 'focused' || this.#isAsked(approval.approvalId)) return;
    const isNotified = this.#notices.has(approval.approvalId) || this.#notify(approval);
    if (this.#options.ask === null) {
      if (!isNotified) this.show(approval.approvalId);
    } else if (attention === 'hidden' || !isNotified) {
      this.#queue.push(approval);
      this.#next();
    }
  }

  #isAsked(approvalId: string): boolean {
    const isShown = this.#shown?.approvalId === approvalId || this.#deciding.has(approvalId);
    return isShown || this.#queue.some((waiting) => waiting.approvalId === approvalId);
  }

  #notify(approval: Approval): boolean {
    const { notify, logger, platform } = this.#options;
    if (notify === null) return false;
    const { approvalId } = approval;
    const isShort = fitsNotice(approval);
    const notice = notify({
      ...noticeText(approval, platform),
      urgency: 'critical',
      timeoutType: 'never',
      actions: isShort
        ? [
            { type: 'button', text: 'Approve once' },
            { type: 'button', text: 'Deny' },
          ]
        : [],
    });
    notice.on('click', () => this.show(approvalId));
    notice.on('action', (details) => {
      const index = typeof details.actionIndex === 'number' ? details.actionIndex : -1;
      if (isShort && index === 0) void this.#decide(approvalId, { decision: 'approve', scope: { kind: 'once' } });
      else if (isShort && index === 1) void this.#decide(approvalId, { decision: 'deny' });
      else this.show(approvalId);
    });
    notice.on('failed', (_event, error) => {
      logger.log('warn', 'a notification could not be shown', { error });
      this.show(approvalId);
    });
    this.#notices.set(approvalId, notice);
    notice.show();
    return true;
  }

  #withdraw(approvalId: string): void {
    this.#notices.get(approvalId)?.close();
    this.#notices.delete(approvalId);
    this.#queue = this.#queue.filter((waiting) => waiting.approvalId !== approvalId);
    if (this.#shown?.approvalId === approvalId) this.#shown.closing.abort();
  }

  #next(): void {
    const { ask } = this.#options;
    if (this.#shown !== null || ask === null) return;
    const approval = this.#queue.shift();
    if (approval === undefined) return;
    const closing = new AbortController();
    this.#shown = { approvalId: approval.approvalId, closing };
    void this.#askOne(approval, ask, closing.signal)
      .catch((cause: unknown) => {
        this.#options.logger.log('error', 'a question could not be shown', { cause: String(cause) });
      })
      .finally(() => {
        this.#shown = null;
        this.#next();
      });
  }

  async #askOne(approval: Approval, ask: NonNullable<ApprovalPrompterOptions['ask']>, signal: AbortSignal): Promise<void> {
    const { message, detail, showsAll } = dialogText(approval);
    const choices = dialogChoices(approval, showsAll);
    const { response } = await ask({
      type: 'question',
      title: 'TrayClaw asks',
      message,
      detail,
      buttons: choices.map((choice) => choice.label),
      // Neither Return nor Escape may ever approve.
      defaultId: 0,
      cancelId: 0,
      noLink: true,
      signal,
    });
    // The approval was answered elsewhere while the dialog was open.
    if (signal.aborted || !this.#known.has(approval.approvalId)) return;
    const choice = choices[response];
    if (choice !== undefined) await this.#decide(approval.approvalId, choice.answer);
  }

  async #decide(approvalId: string, answer: DialogChoice['answer']): Promise<void> {
    const { claw, logger, openDetails } = this.#options;
    if (answer === 'details') {
      openDetails(approvalId);
      return;
    }
    this.#deciding.add(approvalId);
    try {
      await claw.op('approval.decide', { approvalId, ...answer }, caller);
    } catch (cause) {
      const error = toAppError(cause);
      // Two doors answered at the same moment; the first answer counts.
      if (error.code !== 'approval_not_pending') logger.log('warn', 'an answer was not taken', { approvalId, error: error.message });
    } finally {
      this.#deciding.delete(approvalId);
    }
  }
}
