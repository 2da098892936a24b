// Answers in languages that are read from the right, and answers that mix them with others: each block has its own direction, and code is
// always read from the left.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser, openSession } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const answer = [
  '# تقرير الأسبوع',
  '`npm test` هو الأمر الأول.',
  'This paragraph is English. It ends with a full stop.',
  '- أول بند\n- English within it',
  'Between two lists.',
  '- English list',
  '```ts\nconst a = 1;\n```',
  'וגם קוד `a.b()` בסוף!',
].join('\n\n');

test('each block of an answer has its own direction, and code is read from the left', async () => {
  const window = await openSession(browser, { replies: [{ text: answer }] });
  const { conversation } = window;
  await window.send('Weekly report');
  await conversation.getByText('בסוף').waitFor();
  const direction = (text: string | RegExp): Promise<string | undefined> =>
    conversation
      .locator('h2, p, ul, pre, code')
      .filter({ hasText: text })
      .last()
      .evaluate((element) => element.ownerDocument.defaultView?.getComputedStyle(element).direction);
  expect({
    heading: await direction('تقرير'),
    beginsWithCode: await direction(/هو الأمر/),
    english: await direction('It ends with'),
    list: await direction('أول بند'),
    englishList: await direction('English list'),
    block: await direction('const a'),
    hebrew: await direction('בסוף'),
    inline: await direction('a.b()'),
  }).toEqual({
    heading: 'rtl',
    beginsWithCode: 'rtl',
    english: 'ltr',
    list: 'rtl',
    englishList: 'ltr',
    block: 'ltr',
    hebrew: 'rtl',
    inline: 'ltr',
  });
  expect(window.incidents).toEqual([]);
});

test('a message has the direction of its text, also when it is too long for the browser to tell paragraphs apart', async () => {
  const { message } = await openSession(browser);
  const directionOf = async (text: string): Promise<readonly [string | null, string | undefined]> => {
    await message.fill(text);
    const shown = await message.evaluate((element) => element.ownerDocument.defaultView?.getComputedStyle(element).direction);
    return [await message.getAttribute('dir'), shown];
  };
  expect(await directionOf('שלום')).toEqual(['auto', 'rtl']);
  expect(await directionOf('1. ' + 'שלום '.repeat(5000))).toEqual(['rtl', 'rtl']);
  expect(await directionOf('1. ' + 'hello '.repeat(5000))).toEqual(['ltr', 'ltr']);
  await message.fill('');
});
