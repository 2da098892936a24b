// Approvals shown outside the window: queued, answerable anywhere, removed everywhere, hidden during a panic stop, safe in races.

import { EventEmitter } from 'node:events';
import type { MessageBoxOptions, Notification, NotificationConstructorOptions } from 'electron';
import { expect, test } from 'vitest';
import { AppError } from '../../core/contracts/errors.ts';
import type { Claw } from '../../core/contracts/claw.ts';
import { ApprovalPrompter, type ApprovalPrompterOptions } from './approval-prompter.ts';
import { approvalOf, RecordingLogger, statusOf, stopped } from '../../tests/rigs/desktop-bench.ts';

interface OpenBox {
  readonly options: MessageBoxOptions;
  press(label: string): void;
}

class FakeNotice extends EventEmitter {
  readonly options: NotificationConstructorOptions;
  isShown = false;
  constructor(options: NotificationConstructorOptions) {
    super();
    this.options = options;
  }
  show(): void {
    this.isShown = true;
  }
  close(): void {
    this.isShown = false;
  }
}

function rig(changes: Partial<ApprovalPrompterOptions> = {}) {
  const boxes: OpenBox[] = [];
  const notices: FakeNotice[] = [];
  const decided: unknown[] = [];
  const details: string[] = [];
  const logger = new RecordingLogger();
  let failure: Error | null = null;
  const claw = {
    op: (_name: string, params: unknown) => {
      decided.push(params);
      return failure === null ? Promise.resolve({}) : Promise.reject(failure);
    },
  } as unknown as Pick<Claw, 'op'>;
  const prompter = new ApprovalPrompter({
    claw,
    logger,
    platform: 'linux',
    notify: (options) => {
      const notice = new FakeNotice(options);
      notices.push(notice);
      return notice as unknown as Notification;
    },
    ask: (options) =>
      new Promise((resolve) => {
        const box: OpenBox = {
          options,
          press: (label) => {
            boxes.splice(boxes.indexOf(box), 1);
            resolve({ response: options.buttons?.indexOf(label) ?? 0, checkboxChecked: false });
          },
        };
        boxes.push(box);
        options.signal.addEventListener('abort', () => box.press('Deny'));
      }),
    attention: () => 'hidden',
    openDetails: (id) => details.push(id),
    ...changes,
  });
  const shown = (): unknown[] => [boxes.map(({ options }) => options.message), notices.filter((notice) => notice.isShown).length];
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return { prompter, boxes, notices, decided, details, logger, shown, settle, fail: (cause: Error) => (failure = cause) };
}

const one = approvalOf({ approvalId: 'apr_1', summary: 'one' });
const two = approvalOf({ approvalId: 'apr_2', summary: 'two' });

test('shows one dialog at a time and one notification each; no key approves by default', async () => {
  const { prompter, boxes, shown, decided, settle } = rig();
  prompter.follow(statusOf({ approvals: [one, two] }));
  expect(shown()).toEqual([['one'], 2]);
  const { defaultId, cancelId, buttons } = boxes[0]?.options ?? {};
  expect([defaultId, cancelId, buttons?.[0]]).toEqual([0, 0, 'Deny']);
  boxes[0]?.press('Approve for 15 minutes');
  await settle();
  expect(decided).toEqual([{ approvalId: 'apr_1', decision: 'approve', scope: { kind: 'minutes', minutes: 15 } }]);
  expect(shown()[0]).toEqual(['two']);
  boxes[0]?.press('Deny');
  await settle();
  expect(decided.at(-1)).toEqual({ approvalId: 'apr_2', decision: 'deny' });
  prompter.follow(statusOf());
  expect(shown()).toEqual([[], 0]);
});

test('an approval answered elsewhere is removed, and the next one is shown', async () => {
  const { prompter, shown, decided, settle } = rig();
  prompter.follow(statusOf({ approvals: [one, two] }));
  prompter.follow(statusOf({ approvals: [two] }));
  await settle();
  expect([shown(), decided]).toEqual([[['two'], 1], []]);
  prompter.follow(statusOf());
  await settle();
  expect([shown(), decided]).toEqual([[[], 0], []]);
});

test('a panic stop hides all approvals, and its release shows them again', async () => {
  const { prompter, shown, decided, settle } = rig();
  prompter.follow(statusOf({ approvals: [one, two] }));
  prompter.follow({ ...stopped, approvals: [one, two] });
  await settle();
  expect([shown(), decided]).toEqual([[[], 0], []]);
  prompter.show('apr_1');
  expect(shown()).toEqual([[], 0]);
  prompter.follow(statusOf({ approvals: [one, two] }));
  await settle();
  expect(shown()).toEqual([['one'], 2]);
});

test('a notification approves a call it shows in full, and else opens the dialog', async () => {
  const { prompter, notices, decided, shown, settle } = rig({ attention: () => 'visible' });
  const long = approvalOf({ approvalId: 'apr_3', summary: 'long', args: 'x'.repeat(400) });
  prompter.follow(statusOf({ approvals: [one, long] }));
  expect([shown(), notices.map(({ options }) => options.actions?.length)]).toEqual([
    [[], 2],
    [2, 0],
  ]);
  notices[0]?.emit('action', { actionIndex: 0 });
  await settle();
  expect(decided).toEqual([{ approvalId: 'apr_1', decision: 'approve', scope: { kind: 'once' } }]);
  notices[1]?.emit('action', { actionIndex: 0 });
  expect([shown()[0], decided.length]).toEqual([['long'], 1]);
});

test('a dialog replaces notifications that fail or are unsupported', () => {
  const visible = rig({ attention: () => 'visible' });
  visible.prompter.follow(statusOf({ approvals: [one] }));
  visible.notices[0]?.emit('failed', {}, 'no server');
  expect([visible.shown()[0], visible.logger.lines]).toEqual([['one'], ['warn: a notification could not be shown']]);
  const none = rig({ attention: () => 'visible', notify: null });
  none.prompter.follow(statusOf({ approvals: [one] }));
  expect(none.shown()).toEqual([['one'], 0]);
});

test('asks only in the window while the window is focused', () => {
  const { prompter, shown } = rig({ attention: () => 'focused' });
  prompter.follow(statusOf({ approvals: [one] }));
  expect(shown()).toEqual([[], 0]);
  prompter.show('apr_1');
  prompter.show('apr_1');
  expect(shown()).toEqual([['one'], 0]);
});

test('shows an approval once more when the window loses focus', async () => {
  let attention: 'focused' | 'visible' | 'hidden' = 'focused';
  const { prompter, shown, boxes, details, settle } = rig({ attention: () => attention });
  const turnTo = (next: typeof attention): unknown[] => {
    attention = next;
    prompter.attentionChanged();
    return shown();
  };
  prompter.follow(statusOf({ approvals: [one, two] }));
  expect(shown()).toEqual([[], 0]);
  expect(turnTo('visible')).toEqual([[], 2]);
  expect(turnTo('visible')).toEqual([[], 2]);
  expect(turnTo('hidden')).toEqual([['one'], 2]);
  expect(turnTo('hidden')).toEqual([['one'], 2]);
  // "Open details" focuses the window; if the person leaves it without answering, the approval is shown again.
  boxes[0]?.press('Open details');
  attention = 'focused';
  await settle();
  boxes[0]?.press('Open details');
  await settle();
  expect([shown(), details]).toEqual([
    [[], 2],
    ['apr_1', 'apr_2'],
  ]);
  expect(turnTo('hidden')).toEqual([['one'], 2]);
  prompter.follow(statusOf());
  await settle();
  expect([shown(), turnTo('hidden')]).toEqual([
    [[], 0],
    [[], 0],
  ]);
});

test('does not show an approval again while its answer is being sent', async () => {
  let finish = (): void => undefined;
  const op = (): Promise<unknown> => new Promise<void>((resolve) => (finish = resolve));
  let isFront = true;
  const front = rig({ attention: () => (isFront ? 'visible' : 'hidden'), claw: { op } as unknown as Pick<Claw, 'op'> });
  front.prompter.follow(statusOf({ approvals: [one] }));
  front.notices[0]?.emit('action', { actionIndex: 0 });
  isFront = false;
  front.prompter.attentionChanged();
  expect(front.shown()).toEqual([[], 1]);
  finish();
  await front.settle();
  front.prompter.attentionChanged();
  expect(front.shown()).toEqual([['one'], 1]);
  front.prompter.dispose();
  await front.settle();
});

test('opening the details does not answer the approval', async () => {
  const { prompter, boxes, details, decided, settle } = rig();
  prompter.follow(statusOf({ approvals: [one] }));
  boxes[0]?.press('Open details');
  await settle();
  expect([details, decided]).toEqual([['apr_1'], []]);
});

test('ignores the second of two answers, and logs other failures', async () => {
  const { prompter, boxes, notices, logger, settle, fail } = rig();
  fail(new AppError('approval_not_pending', 'It was answered.'));
  prompter.follow(statusOf({ approvals: [one] }));
  notices[0]?.emit('action', { actionIndex: 1 });
  boxes[0]?.press('Approve once');
  await settle();
  expect(logger.lines).toEqual([]);
  fail(new AppError('store_full', 'No room.'));
  prompter.show('apr_1');
  boxes[0]?.press('Approve once');
  await settle();
  expect(logger.lines).toEqual(['warn: an answer was not taken']);
});

test('a failing dialog does not block the next, and disposing closes everything', async () => {
  let asked = 0;
  const broken = rig({ ask: () => ((asked += 1), Promise.reject(new Error('no display'))) });
  broken.prompter.follow(statusOf({ approvals: [one, two] }));
  await broken.settle();
  expect([asked, broken.logger.lines]).toEqual([2, ['error: a question could not be shown', 'error: a question could not be shown']]);
  const open = rig();
  open.prompter.follow(statusOf({ approvals: [one, two] }));
  open.prompter.dispose();
  await open.settle();
  expect([open.shown(), open.decided]).toEqual([[[], 0], []]);
});

test('where a dialog would hold the program up, the notification asks, and a click on it opens the card', async () => {
  const { prompter, boxes, notices, decided, details, settle } = rig({ ask: null });
  prompter.follow(statusOf({ approvals: [one, two] }));
  expect([boxes.length, notices.length, details]).toEqual([0, 2, []]);
  notices[0]?.emit('click', {});
  notices[1]?.emit('action', { actionIndex: 1 });
  await settle();
  expect([boxes.length, details, decided]).toEqual([0, ['apr_1'], [{ approvalId: 'apr_2', decision: 'deny' }]]);
});

test('where neither is possible, the card opens at once', () => {
  const { prompter, boxes, details } = rig({ ask: null, notify: null });
  prompter.follow(statusOf({ approvals: [one] }));
  expect([boxes.length, details]).toEqual([0, ['apr_1']]);
});
