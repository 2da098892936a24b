// Answers as rendered documents: markdown is shown by its meaning, colours and formulas appear when they are complete, nothing is fetched.

import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksGood } from './driver/looks.ts';
import { launchBrowser, openSession, openWindow } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

test('finished code gets colours, its language and wrapping, and its text is unchanged', async () => {
  const code = 'const sum = (a: number): string => `${a}`; // adds\n\nif (sum(1) !== "1") throw new Error("wrong");';
  const window = await openSession(browser, {
    replies: [{ text: `Here \`is\` it:\n\n\`\`\`ts\n${code}\n\`\`\`\n\n\`\`\`nolanguage\nplain\n\`\`\`` }],
  });
  await window.send('Code, please');
  const block = window.conversation.getByRole('group', { name: 'Code' }).first();
  await block.locator('.code-keyword').first().waitFor();
  expect(await block.innerText()).toBe(code);
  expect(await block.locator('.code-comment').innerText()).toBe('// adds');
  expect(await block.locator('.code-keyword').allInnerTexts()).toEqual(expect.arrayContaining(['const', 'if', 'throw']));
  const wrap = window.page.getByRole('button', { name: 'Wrap' }).first();
  await wrap.click();
  expect(await wrap.getAttribute('aria-pressed')).toBe('true');
  expect(await block.evaluate((element) => element.ownerDocument.defaultView?.getComputedStyle(element).whiteSpace)).toContain('wrap');
  expect(await window.page.locator('figcaption', { hasText: 'nolanguage' }).count()).toBe(1);
  const isFramed = (of: Locator): Promise<boolean> =>
    of.evaluate((element) => element.ownerDocument.defaultView?.getComputedStyle(element).boxShadow !== 'none');
  expect([await isFramed(block.locator('code')), await isFramed(window.conversation.locator('p code'))]).toEqual([false, true]);
  expect(window.incidents).toEqual([]);
});

test('a long code block is coloured a part in each frame, and a selection of it is the text as written', async () => {
  const code = Array.from({ length: 120 }, (_, at) => (at % 50 === 49 ? '' : `const value${at} = "text";`)).join('\n');
  const window = await openWindow(browser, { replies: [{ text: `\`\`\`ts\n${code}\n\`\`\`` }] });
  const { page } = window;
  const block = window.conversation.getByRole('group', { name: 'Code' });
  const coloured = block.locator('div', { has: page.locator('.code-keyword') });
  await window.send('Code, please');
  await expect.poll(() => coloured.count()).toBe(3);
  await window.go('Memory');
  await page.getByText('Nothing is remembered yet.').waitFor();
  await page.evaluate('(held = [], draws = requestAnimationFrame, requestAnimationFrame = (frame) => held.push(frame))');
  await window.go('Chat');
  await coloured.first().waitFor();
  expect(await coloured.count()).toBe(1);
  const selected = (): Promise<string> =>
    block.evaluate((element) => {
      const selection = element.ownerDocument.getSelection();
      selection?.selectAllChildren(element);
      return selection?.toString() ?? '';
    });
  expect(await selected()).toBe(code);
  await page.evaluate('(requestAnimationFrame = draws, held.forEach((frame) => frame(0)))');
  await expect.poll(() => coloured.count()).toBe(3);
  expect(await selected()).toBe(code);
  expect(window.incidents).toEqual([]);
});

test('formulas are drawn inline and as blocks; money and other text stay text', async () => {
  const text =
    'It costs $5 and then $10. The sum is $a^2 + b^2$ and \\(c_1\\).\n\n$$\n\\frac{1}{2} \\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}\n$$\n\nBroken: $\\frac{1}{$ end. \\fcolorbox: $\\fcolorbox{red}{blue}{x}$';
  const window = await openSession(browser, { replies: [{ text }] });
  await window.send('Maths, please');
  await window.conversation.getByRole('group', { name: 'Formula' }).locator('math').waitFor();
  expect(await window.conversation.locator('.markup .formula math').count()).toBe(3);
  await window.conversation.getByText('It costs $5 and then $10.').waitFor();
  expect(await window.conversation.locator('.formula code').allInnerTexts()).toEqual(['\\frac{1}{']);
  expect(await window.conversation.locator('math [style], math annotation').count()).toBe(0);
  const box = await window.conversation.locator('mfrac').boundingBox();
  expect(box !== null && box.height > 15).toBe(true);
  expect(window.incidents).toEqual([]);
});

test('links show their target, images are chips, task lists and wide tables render', async () => {
  const cells = (cell: string): string => `|${` ${cell} |`.repeat(30)}`;
  const text = `See [the page](https://example.org/a) and https://example.com/b.\n\n![A cat](https://cats.invalid/cat.png)\n\n- [x] done\n- [ ] open\n\n${cells('heading')}\n${cells('---')}\n${cells('2026-03-02')}`;
  const window = await openSession(browser, { replies: [{ text }] });
  await window.send('Links, please');
  await window.conversation.getByText('Image “A cat” at cats.invalid, not loaded').waitFor();
  expect(await window.conversation.locator('.link-host').allInnerTexts()).toEqual(['example.org']);
  expect(await window.conversation.locator('.task').allInnerTexts()).toEqual(['☑', '☐']);
  const scrolls = await window.conversation.locator('table').evaluate((element) => element.scrollWidth > element.clientWidth);
  expect(scrolls).toBe(true);
  // Words are not broken on a narrow window either.
  await window.page.setViewportSize({ width: 360, height: 740 });
  for (const cell of ['th', 'td']) expect((await window.conversation.locator(cell).first().boundingBox())?.height).toBeLessThan(40);
  expect(await window.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBe(0);
  expect(window.incidents).toEqual([]);
});

test('a screen reader hears an answer once, in complete sentences', async () => {
  const sentences = Array.from({ length: 12 }, (_, index) => `This is sentence number ${index + 1} of the **answer**.`);
  const window = await openWindow(browser, {
    replies: [{ text: `${sentences.join(' ')}\n\n\`\`\`js\nconst hidden = 1;\n\`\`\``, pieceChars: 7, delayMs: 25 }],
    initScript: `window.said = [];
      new MutationObserver(() => {
        const text = document.querySelector('[data-spoken]')?.textContent ?? '';
        if (text !== '' && text !== window.said.at(-1)) window.said.push(text);
      }).observe(document, { subtree: true, childList: true, characterData: true });`,
  });
  await window.send('Talk');
  await expect.poll(() => window.page.evaluate<string>('window.said.join(" ")'), { timeout: 20_000 }).toContain('Code in js.');
  const said = await window.page.evaluate<string[]>('window.said');
  expect(said.join(' ')).toBe(`${sentences.join(' ').replaceAll('**', '')} Code in js.`);
  expect(said.length).toBeGreaterThan(1);
  expect(await window.conversation.getAttribute('aria-live')).toBe('off');
});

test('a footnote is shown under its mark, with its content', async () => {
  const text =
    'A claim[^1] and another[^src].\n[^1]: See [the page](https://example.org/a)\n   and `code`.\n\n[^src]: <b>Second</b>\n\nThe end [^none\n';
  const window = await openSession(browser, { replies: [{ text }] });
  await window.send('Sources, please');
  await window.conversation.getByText('The end [^none').waitFor();
  expect(await window.conversation.locator('.footnote').allInnerTexts()).toEqual([
    '1 See the page example.org and code.',
    'src <b>Second</b>',
  ]);
  expect(await window.conversation.locator('p:not(.footnote) > sup').allInnerTexts()).toEqual(['1', 'src']);
  expect(window.incidents).toEqual([]);
});

test('a collapsed section opens to its markdown, and its tags never show', { timeout: 60_000 }, async () => {
  const text =
    'Summary.\n\n<details>\n<summary>The <b>log</b></summary>\n\n- first\n- **second**\n\n```sh\nls\n```\n\n</details>\n\nAfter it.';
  const window = await openSession(browser, { replies: [{ text, pieceChars: 9, delayMs: 5 }] });
  await window.send('Fold it');
  await window.conversation.getByText('After it.').waitFor();
  const folded = window.conversation.locator('.document details');
  expect(await folded.getByText('second').isVisible()).toBe(false);
  await folded.getByText('The log', { exact: true }).press('Enter');
  await folded.locator('li strong', { hasText: 'second' }).waitFor();
  await folded.getByRole('group', { name: 'Code' }).waitFor();
  expect(await window.conversation.innerText()).not.toContain('<details>');
  await looksGood(window.page, 'folded');
  expect(window.incidents).toEqual([]);
});

test('selected text stays selected while the rest of its paragraph streams', async () => {
  const rest = Promise.withResolvers<void>();
  const text = `A **first** sentence, and ${'a long one '.repeat(40)}to its end.`;
  const replies = [{ text, pieceChars: 40, holds: [{ afterFrames: 3, until: rest.promise }] }];
  const window = await openSession(browser, { replies });
  await window.send('Write');
  const paragraph = window.conversation.locator('.markup.grows p');
  await paragraph.getByText('sentence').waitFor();
  await paragraph.locator('strong').selectText();
  rest.resolve();
  await window.conversation.getByText('to its end.').waitFor();
  expect(await window.page.evaluate('getSelection().toString()')).toBe('first');
});
