// Approvals outside the window: answered in the dialog, the notification or the window; each answer closes the approval everywhere.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Answer } from '../doubles/scripted-model.ts';
import { DesktopUnderTest } from './desktop-rig.ts';

let app: DesktopUnderTest;
beforeAll(async () => {
  app = await DesktopUnderTest.start();
  // All approvals below are in this session.
  app.reply({ text: 'Ready.' });
  await app.send('Ready?');
  await app.expectSaid('Ready.');
});
afterAll(() => app.close());

let count = 0;
/** A path that no earlier spec used, so that no grant or content is left over. */
beforeEach(() => {
  count += 1;
});
const writes = (name = 'a') => ({ calls: [{ tool: 'write_file', args: { path: `n${count}/${name}.md`, content: 'x' } }] });
const written = (name = 'a'): boolean => app.readFile(`workspace/n${count}/${name}.md`) !== null;
const nothingAsked = { dialogs: 0, notifications: 0, cards: 0, toolTip: 'TrayClaw' };

async function asked(): Promise<typeof nothingAsked> {
  const { dialogs, notifications, tray } = await app.driver.desk();
  return { dialogs: dialogs.length, notifications: notifications.length, cards: await app.approval.count(), toolTip: tray?.toolTip ?? '' };
}

async function expectClosedEverywhere(text: string): Promise<void> {
  await app.expectSaid(text);
  await expect.poll(asked, { interval: 30 }).toEqual(nothingAsked);
}

/** The person closes the window, and the work behind it asks for approval. */
async function askBehind(...answers: Answer[]): Promise<void> {
  app.reply(...answers, { text: `It went on ${count}.` });
  await app.driver.window('close');
  await app.sendBehind(`Write ${count}`);
  await app.deskShows((desk) => desk.dialogs.length, 1);
}

test('the dialog offers every scope, and Return and Escape mean denial', async () => {
  await askBehind(writes());
  const [dialog] = (await app.driver.desk()).dialogs;
  expect(dialog).toEqual({
    id: expect.any(Number) as number,
    message: `Wants to write n${count}/a.md (1 byte)`,
    detail: expect.stringContaining(`n${count}/a.md`) as string,
    buttons: ['Deny', 'Approve once', 'Approve for 15 minutes', 'Approve for this session', 'Approve until revoked', 'Open details'],
    defaultId: 0,
    cancelId: 0,
  });
  expect(await app.driver.answerDialog('Approve once')).toBe(true);
  await expectClosedEverywhere(`It went on ${count}.`);
  expect(written()).toBe(true);
});

test('Escape in the dialog denies', async () => {
  await app.driver.clickMenu('open');
  await askBehind(writes());
  await app.driver.dismissDialog();
  await expectClosedEverywhere(`It went on ${count}.`);
  expect(written()).toBe(false);
});

test('approved in the notification', async () => {
  await app.driver.clickMenu('open');
  await askBehind(writes());
  expect((await app.driver.desk()).notifications).toEqual([
    { title: 'TrayClaw asks', body: expect.stringContaining(`n${count}/a.md`) as string, actions: ['Approve once', 'Deny'] },
  ]);
  expect(await app.driver.actOnNotification(0, 'Approve once')).toBe(true);
  await expectClosedEverywhere(`It went on ${count}.`);
  expect(written()).toBe(true);
});

test('denied in the notification', async () => {
  await app.driver.clickMenu('open');
  await askBehind(writes());
  await app.driver.actOnNotification(0, 'Deny');
  await expectClosedEverywhere(`It went on ${count}.`);
  expect(written()).toBe(false);
});

test('answered in the window: dialog and notification close', async () => {
  await app.driver.clickMenu('open');
  await askBehind(writes());
  await app.driver.clickTray();
  await app.driver.clickMenu('open');
  await app.approval.getByRole('button', { name: 'Approve once' }).click();
  await expectClosedEverywhere(`It went on ${count}.`);
  expect(written()).toBe(true);
});

test('answered by another process: everything closes', async () => {
  await app.driver.clickMenu('open');
  await askBehind(writes());
  const claw = await app.claw();
  const { approvals } = await claw.op('approval.list', {});
  await claw.op('approval.decide', { approvalId: approvals[0]?.approvalId ?? '', decision: 'approve', scope: { kind: 'once' } });
  await expectClosedEverywhere(`It went on ${count}.`);
});

test('with the window focused only the card is shown', async () => {
  await app.driver.clickMenu('open');
  app.reply(writes(), { text: `It went on ${count}.` });
  await app.send(`Write ${count}`);
  await app.approval.waitFor();
  expect(await asked()).toEqual({ dialogs: 0, notifications: 0, cards: 1, toolTip: 'TrayClaw: 1 approval is waiting for you' });
  await app.approval.getByRole('button', { name: 'Deny' }).click();
  await expectClosedEverywhere(`It went on ${count}.`);
});

test('several are queued: one dialog at a time, all named in the tray', async () => {
  await app.driver.clickMenu('open');
  await askBehind({ calls: ['a', 'b', 'c'].flatMap((name) => writes(name).calls) });
  await app.deskShows((desk) => desk.notifications.length, 3);
  const shown: string[] = [];
  for (let index = 0; index < 3; index++) {
    await app.deskShows((desk) => [desk.dialogs.length, desk.notifications.length], [1, 3 - index]);
    const desk = await app.driver.desk();
    shown.push(desk.dialogs[0]?.message ?? '');
    expect(desk.tray?.menu.filter((entry) => entry.id.startsWith('approval:')).map((entry) => entry.label)).toHaveLength(3 - index);
    expect(desk.tray?.toolTip).toBe(
      index === 2 ? 'TrayClaw: 1 approval is waiting for you' : `TrayClaw: ${3 - index} approvals are waiting for you`,
    );
    await app.driver.answerDialog('Approve once');
    await app.deskShows((now) => now.dialogs[0]?.message !== shown[index], true);
  }
  await expectClosedEverywhere(`It went on ${count}.`);
  expect({ shown, files: ['a', 'b', 'c'].map(written) }).toEqual({
    shown: ['a', 'b', 'c'].map((name) => `Wants to write n${count}/${name}.md (1 byte)`),
    files: [true, true, true],
  });
});

test('a call that does not fit cannot be approved in the dialog or the notification', async () => {
  await app.driver.clickMenu('open');
  await askBehind({ calls: [{ tool: 'exec', args: { command: `echo ${'y'.repeat(4_000)}; rm -rf everything` } }] });
  await app.deskShows((desk) => desk.dialogs.map((dialog) => dialog.buttons), [['Deny', 'Open details']]);
  const { dialogs, notifications } = await app.driver.desk();
  expect(dialogs[0]?.detail).toContain('more characters do not fit here');
  expect(notifications.map((notice) => notice.actions)).toEqual([[]]);
  await app.driver.answerDialog('Open details');
  await app.deskShows((desk) => desk.windows[0]?.isVisible, true);
  await app.approval.getByRole('button', { name: 'Deny' }).click();
  await app.page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Chat', exact: true }).click();
  await expectClosedEverywhere(`It went on ${count}.`);
});

test('an approval for 15 minutes in the dialog covers the next call', async () => {
  await app.driver.clickMenu('open');
  await askBehind(writes('a'), writes('b'));
  await app.driver.answerDialog('Approve for 15 minutes');
  await expectClosedEverywhere(`It went on ${count}.`);
  expect([written('a'), written('b')]).toEqual([true, true]);
});

test.each(['close', 'minimize', 'blur'] as const)('an approval left open in the window is shown outside it on %s', async (call) => {
  await app.driver.clickMenu('open');
  app.reply(writes(), { text: `It went on ${count}.` });
  await app.send(`Write ${count}`);
  await app.approval.waitFor();
  expect(await asked()).toEqual({ dialogs: 0, notifications: 0, cards: 1, toolTip: 'TrayClaw: 1 approval is waiting for you' });
  await app.driver.window(call);
  // A window that is still visible shows the card, so the notification is enough.
  await app.deskShows((desk) => [desk.dialogs.length, desk.notifications.length], [call === 'blur' ? 0 : 1, 1]);
  await app.driver.actOnNotification(0, 'Deny');
  await app.driver.clickMenu('open');
  await expectClosedEverywhere(`It went on ${count}.`);
});

test('a notification the system cannot show is replaced by the dialog', async () => {
  await app.driver.clickMenu('open');
  app.reply(writes(), { text: `It went on ${count}.` });
  await app.driver.window('blur');
  await app.sendBehind(`Write ${count}`);
  await app.deskShows((desk) => [desk.dialogs.length, desk.notifications.length], [0, 1]);
  await app.driver.failNotification(0);
  await app.deskShows((desk) => desk.dialogs.length, 1);
  await app.driver.dismissDialog();
  await app.driver.clickMenu('open');
  await expectClosedEverywhere(`It went on ${count}.`);
});

test('a click on the notification opens its dialog', async () => {
  app.reply(writes(), { text: `It went on ${count}.` });
  await app.driver.window('blur');
  await app.sendBehind(`Write ${count}`);
  await app.deskShows((desk) => desk.notifications.length, 1);
  await app.driver.clickNotification(0);
  await app.deskShows((desk) => desk.dialogs.length, 1);
  await app.driver.answerDialog('Approve once');
  await expectClosedEverywhere(`It went on ${count}.`);
  expect(written()).toBe(true);
});
