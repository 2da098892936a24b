// Sleep and wake: before sleep everything is in the database's main file; after it, streams continue and the tray shows the current state.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { needs } from '../needs.ts';
import { DesktopUnderTest } from './desktop-rig.ts';

let app: DesktopUnderTest;
beforeAll(async () => {
  app = await DesktopUnderTest.start();
});
afterAll(() => app.close());

/** True if the event moved something from the write-ahead log into the database's main file. */
function changesDatabase(event: 'suspend' | 'resume'): Promise<boolean> {
  return app.driver.evaluate(
    ({ powerMonitor }, { path, name }) => {
      const { readFileSync } = process.getBuiltinModule('node:fs');
      const before = readFileSync(path);
      powerMonitor.emit(name);
      return !before.equals(readFileSync(path));
    },
    { path: join(app.home, 'trayclaw.db'), name: event },
  );
}

test('going to sleep writes the log to the disk at once, waking up does not', async () => {
  const claw = await app.claw();
  const { sessionId } = await claw.op('session.create', {});
  const committed = async (event: 'suspend' | 'resume'): Promise<boolean> => {
    await claw.op('session.rename', { sessionId, title: `Before ${event} ${performance.now()}` });
    return changesDatabase(event);
  };
  expect(await committed('resume')).toBe(false);
  // An idle moment also does this automatically, which leaves nothing for the sleep; then the test tries again.
  await expect.poll(() => committed('suspend')).toBe(true);
});

test('a streaming answer continues across a sleep, in the window and in the tray', async () => {
  const words = Array.from({ length: 40 }, (_, index) => `word${index}`).join(' ');
  const { promise: awake, resolve: goOn } = Promise.withResolvers<void>();
  app.reply({ text: words, pieceChars: 10, holds: [{ afterFrames: 8, until: awake }] });
  await app.send('Say many words');
  await app.conversation.getByText('word3').waitFor();
  await app.driver.power('suspend');
  await app.deskShows((desk) => desk.tray?.toolTip, 'TrayClaw: working');
  await app.driver.power('resume');
  await app.deskShows((desk) => desk.tray?.toolTip, 'TrayClaw: working');
  goOn();
  await app.expectSaid(words);
  await app.deskShows((desk) => desk.tray?.toolTip, 'TrayClaw');
  app.reply({ text: 'Awake.' });
  await app.send('Still there?');
  await app.expectSaid('Awake.');
});

// Other systems keep the setting themselves.
test('after a sleep the tray shows what changed meanwhile', needs('Linux'), async () => {
  const isChecked = async (): Promise<boolean | undefined> =>
    (await app.driver.desk()).tray?.menu.find((entry) => entry.id === 'login-start')?.checked;
  await app.driver.clickMenu('login-start');
  await expect.poll(isChecked).toBe(true);
  await app.driver.power('suspend');
  rmSync(join(app.home, '.config/autostart/io.trayclaw.TrayClaw.desktop'));
  expect(await isChecked()).toBe(true);
  await app.driver.power('resume');
  expect(await isChecked()).toBe(false);
});
