// Memory in the window: candidates are accepted or dropped, contradictions resolved, memories searched, pinned and forgotten.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { violations } from './driver/looks.ts';
import { launchBrowser, openWindow } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

test('added, proposed and contradicting memories are decided in the window', async () => {
  const window = await openWindow(browser, { replies: [{ text: 'Yes.' }] });
  const { page } = window;
  await window.host.op('memory.import', { text: '{"kind":"lesson","text":"Bees fly south."}', state: 'candidate' });
  await window.go('Memory');
  await page.getByText('Nothing is used before').or(page.getByText('Nothing here is used until you accept it.')).waitFor();
  await page.getByRole('textbox', { name: 'Something to remember' }).fill('My editor is vim.');
  await page.getByRole('button', { name: 'Remember', exact: true }).click();
  const kept = page.getByRole('list', { name: 'Remembered' });
  await kept.getByText('My editor is vim.').waitFor();
  await page.getByRole('textbox', { name: 'Something to remember' }).fill('My editor is emacs.');
  await page.getByRole('button', { name: 'Remember', exact: true }).click();
  await page.getByRole('heading', { name: 'Contradictions' }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Keep: My editor is emacs.' }).click();
  await page.getByRole('heading', { name: 'Contradictions' }).waitFor({ state: 'detached' });
  await kept.getByText('My editor is vim.').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Accept: Bees fly south.' }).click();
  await kept.getByText('Bees fly south.').waitFor();
  await page.getByRole('button', { name: 'Pin: Bees fly south.' }).click();
  await page.getByRole('button', { name: 'Unpin: Bees fly south.' }).waitFor();
  await page.getByRole('searchbox', { name: 'Search memories' }).fill('bees');
  await kept.getByText('My editor is emacs.').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Forget: Bees fly south.' }).click();
  await page.locator('h2:focus', { hasText: 'Remembered' }).waitFor();
  await page.getByText('Nothing was found.').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await kept.getByText('Bees fly south.').waitFor();
  const { memories } = (await window.host.op('memory.list', { query: 'bees' })) as { memories: { kind: string; pinned: boolean }[] };
  expect(memories.map((memory) => [memory.kind, memory.pinned])).toEqual([['lesson', true]]);
});

test('a folder is added to the documents with a preview, read, removed and restored', async () => {
  const window = await openWindow(browser, {
    replies: [{ text: 'Yes.' }],
    files: { 'notes/plan.md': '# Plan\n\nThe roof is tiled in October.\n', 'notes/list.txt': 'Nails and tiles.\n' },
  });
  const { page } = window;
  await window.go('Memory');
  await page.getByText('Add a folder of notes').waitFor();
  await page.getByRole('button', { name: 'Add a folder or a file' }).click();
  const form = page.getByRole('form', { name: 'Add a folder or a file' });
  await form.getByRole('textbox', { name: 'Folder or file' }).fill('gone');
  await form.getByText('There is nothing at').waitFor();
  await form.getByRole('textbox', { name: 'Folder or file' }).fill(import.meta.dirname);
  await form.getByText('outside the folders the agent may read').waitFor();
  await form.getByRole('button', { name: 'Open for reading and add' }).waitFor();
  expect(await violations(page)).toEqual([]);
  await form.getByRole('textbox', { name: 'Folder or file' }).fill('notes');
  await form.getByText('2 files can be read.').waitFor();
  expect(await form.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('notes');
  await form.getByRole('button', { name: 'Add', exact: true }).click();
  const documents = page.getByRole('list', { name: 'Documents' });
  await documents.getByText('2 documents, 2 passages').waitFor();
  expect(await window.host.op('knowledge.search', { query: 'roof October' })).toMatchObject({
    evidence: [{ citation: 'notes/plan.md:1-3' }],
  });
  await documents.getByRole('button', { name: 'Remove notes from the documents' }).click();
  await documents.getByText('notes was removed.').waitFor();
  expect(await window.host.op('knowledge.list', {})).toMatchObject({ sources: [] });
  await documents.getByRole('button', { name: 'Undo: put notes back' }).click();
  await documents.getByText('2 documents, 2 passages').waitFor();
  expect(await violations(page)).toEqual([]);
});
