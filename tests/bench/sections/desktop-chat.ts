// One scripted chat as a person has it in the window: a streamed answer, a file read, an approval answered with "Approve once", a file
// write, a long streamed answer.

import type { Page } from 'playwright-core';
import type { Answer } from '../../doubles/scripted-model.ts';

const CHAT_WITHIN_MS = 60_000;
const sentence = 'The quick brown fox looks at **every file** of the folder, and says so in `code` and in words. ';
const block = '\n\n```ts\nexport const one: number = 1;\nexport const two = one + 1;\n```\n\n';

/** Yields the answers for any number of chats, in order. */
export function* chatReplies(): Generator<Answer, never> {
  for (let count = 1; ; count += 1) {
    yield {
      text: sentence.repeat(20),
      pieceChars: 12,
      delayMs: 4,
      calls: [{ tool: 'write_file', args: { path: `bench/n${count}.md`, content: sentence.repeat(400) } }],
    };
    yield { calls: [{ tool: 'read_file', args: { path: `bench/n${count}.md` } }] };
    yield { text: `${(sentence.repeat(6) + block).repeat(6)}End ${count}.`, pieceChars: 12, delayMs: 4 };
  }
}

export interface ChatWindow {
  /** Runs one more chat until its answer is complete. */
  chat(): Promise<void>;
}

export async function chatFor(page: Page): Promise<ChatWindow> {
  page.setDefaultTimeout(CHAT_WITHIN_MS);
  let count = 0;
  await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor();
  return {
    chat: async () => {
      count += 1;
      const message = page.getByRole('textbox', { name: 'Message', exact: true });
      await message.fill(`Write it ${count}`);
      await message.press('Enter');
      await page.getByRole('group', { name: 'Approval needed' }).getByRole('button', { name: 'Approve once' }).click();
      await page.getByText(`End ${count}.`).first().waitFor();
    },
  };
}
