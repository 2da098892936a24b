// Questions outside the window: queued, answered anywhere and gone everywhere, held back by a stop, safe in races.

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

test('one dialog at a time, a notification each; neither Return nor Escape approves', async () => {
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

test('what is answered elsewhere goes, without an answer from here, and the next one comes', async () => {
  const { prompter, shown, decided, settle } = rig();
  prompter.follow(statusOf({ approvals: [one, two] }));
  prompter.follow(statusOf({ approvals: [two] }));
  await settle();
  expect([shown(), decided]).toEqual([[['two'], 1], []]);
  prompter.follow(statusOf());
  await settle();
  expect([shown(), decided]).toEqual([[[], 0], []]);
});

test('a panic stop takes all questions away, its release brings them back', async () => {
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

test('a notification approves once what it shows whole, and otherwise leads to the dialog', async () => {
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

test('a notification that the system does not show becomes a dialog; so does every question where there are none', () => {
  const visible = rig({ attention: () => 'visible' });
  visible.prompter.follow(statusOf({ approvals: [one] }));
  visible.notices[0]?.emit('failed', {}, 'no server');
  expect([visible.shown()[0], visible.logger.lines]).toEqual([['one'], ['warn: a notification could not be shown']]);
  const none = rig({ attention: () => 'visible', notify: null });
  none.prompter.follow(statusOf({ approvals: [one] }));
  expect(none.shown()).toEqual([['one'], 0]);
});

test('a person who has the window in front is asked only there', () => {
  const { prompter, shown } = rig({ attention: () => 'focused' });
  prompter.follow(statusOf({ approvals: [one] }));
  expect(shown()).toEqual([[], 0]);
  prompter.show('apr_1');
  prompter.show('apr_1');
  expect(shown()).toEqual([['one'], 0]);
});

test('a question asked in front of the person is put again when the window is left, and once', async () => {
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
  // The details bring the window to the front; closed again without an answer, it is asked again.
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

test('while an answer is on its way the question is not put once more', async () => {
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

test('details are opened, and answer nothing', async () => {
  const { prompter, boxes, details, decided, settle } = rig();
  prompter.follow(statusOf({ approvals: [one] }));
  boxes[0]?.press('Open details');
  await settle();
  expect([details, decided]).toEqual([['apr_1'], []]);
});

test('two answers at one moment: the second is no fault; another failure is written down', async () => {
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

test('a dialog that cannot be shown does not hold up the next, and the end closes everything', async () => {
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
