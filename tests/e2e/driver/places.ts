// Visits every place of the window with content in it, always in the same way, for checks that apply everywhere.

import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { viewNames, type ViewName } from '../../../core/contracts/views.ts';
import type { OpenOptions, WindowUnderTest } from './open-window.ts';

const runs = (command: string) => ({ calls: [{ tool: 'exec', args: { command } }] });
const printsMuch = 'for i in $(seq 1 30000); do echo "line $i"; done';

/**
 * Creates an artifact, then a call with an unknown outcome, then a turn with calls and an answer, and an approval with an invisible
 * character.
 */
export const placeOptions: OpenOptions = {
  ownProcess: true,
  replies: [
    runs(printsMuch),
    { text: 'Printed.' },
    runs('echo under way; sleep 60'),
    {
      text: 'I will look first.',
      reasoning: 'A look at the notes is due.',
      calls: [
        { tool: 'read_file', args: { path: 'notes.md' } },
        { tool: 'read_file', args: { path: 'missing.md' } },
      ],
    },
    {
      text: '# Report\n\nText with `code` and [a link](https://example.org/).\n\n### Deep\n\n| a | b |\n|---|---:|\n| 1 | 2 |\n\n```ts\nconst a = 1;\n```\n\n> quoted\n\n- [x] done',
    },
    runs('npm te\u200bst'),
  ],
  // No animations, so that no picture shows an intermediate state.
  context: { reducedMotion: 'reduce' },
};

/** The content of views once their data is loaded. A view without an entry is ready as soon as its page is shown. */
const settled: Readonly<Partial<Record<Shown, string | RegExp>>> = {
  Activity: /tokens, \d+ items$/,
  Approvals: 'Did it happen?',
  Memory: 'Nothing is remembered yet.',
  Schedules: 'No open tasks.',
  Agents: "the conversation's model",
  Skills: 'each skill separately',
  Artifacts: /^line 1\n/,
  Settings: 'Price per million tokens',
  Health: / checks passed$/,
  Running: /^Waiting for you/,
};

type Shown = Exclude<Capitalize<ViewName>, 'Chat'>;
const shown = viewNames.filter((name) => name !== 'chat').map((name) => `${name[0]?.toUpperCase() ?? ''}${name.slice(1)}` as Shown);

export interface Place {
  readonly name: string;
  /** Restores the same state after the window has become narrow. */
  readonly onNarrow?: () => Promise<void>;
  /** A dialog covers the window. */
  readonly isDialog?: true;
}

/** Visits each place. `visit` must undo its own changes. */
export async function visitPlaces(window: WindowUnderTest, visitor: (place: Place) => Promise<void>): Promise<void> {
  const { page } = window;
  /** Nothing is shown as under the pointer, wherever the last click was. */
  const visit = async (place: Place): Promise<void> => {
    await page.mouse.move(0, 0);
    await visitor(place);
  };
  await crash(window);
  await page.getByRole('button', { name: 'New session', exact: true }).click();
  await page.getByText('What can I do for you?').waitFor();
  await window.message.focus();
  await visit({ name: 'first start' });
  await window.send('Look into my notes');
  await window.conversation.getByRole('heading', { name: 'Report' }).waitFor();
  await page.getByRole('button', { name: /^Read notes\.md/ }).click();
  await visit({ name: 'answer with an open card' });
  await page.keyboard.press('Alt+Shift+I');
  const inspector = page.getByRole('complementary', { name: 'Inspector' });
  // Its sections arrive one by one.
  for (const text of ['Done', 'Counted by the server', 'Nothing was left out.', 'Get a second opinion']) {
    await inspector.getByText(text, { exact: true }).waitFor();
  }
  await visit({ name: 'inspector' });
  await inspector.getByRole('button').first().press('Escape');
  await inspector.waitFor({ state: 'detached' });
  await window.send('Now test it');
  await canApprove(window);
  // The focus after sending a message depends on whether the approval or the reply to the request arrived first.
  await window.message.focus();
  await visit({ name: 'approval' });
  for (const view of shown) {
    await window.go(view);
    if (view === 'Activity') await page.getByRole('button', { name: 'What the model saw' }).click();
    if (view === 'Settings') await page.evaluate("location.hash = '#/settings/models'");
    if (view === 'Artifacts') await page.getByRole('list', { name: 'Artifacts' }).getByRole('link').first().click();
    if (view === 'Schedules') await checkHeartbeat(page);
    const text = settled[view];
    await (text === undefined ? page.locator('main .page') : page.getByText(text)).first().waitFor();
    if (view === 'Approvals') await canApprove(window);
    // Settings search for model servers on this machine when they are opened.
    if (view === 'Settings') await page.getByText('Looking…').waitFor({ state: 'detached' });
    await visit({ name: view });
  }
  await page.evaluate("location.hash = '#/approvals/policy'");
  await page.getByRole('button', { name: 'What would happen?' }).waitFor();
  // The policy's settings are shown above it once they are loaded.
  await page.locator('main dl.pairs').first().waitFor();
  await visit({ name: 'Policy' });
  await page.evaluate("location.hash = '#/health/usage'");
  await page.getByRole('table', { name: 'Per model' }).waitFor();
  await visit({ name: 'Usage' });
  await page.evaluate("location.hash = '#/health/unfinished'");
  await page.getByText('Every message was delivered.').waitFor();
  await visit({ name: 'Unfinished' });
  await window.go('Chat');
  await page.getByRole('list', { name: 'Sessions' }).waitFor();
  await canApprove(window);
  await visit({ name: 'sessions', onNarrow: () => page.getByRole('button', { name: 'Session list' }).click() });
  await visitDialogs(window, visit);
  await page.getByRole('button', { name: 'Panic stop', exact: true }).click();
  await page.getByText('Everything is stopped.').first().waitFor();
  await expect
    .poll(() =>
      page
        .getByRole('button', { name: /^Release/ })
        .first()
        .isEnabled(),
    )
    .toBe(true);
  await visit({ name: 'stopped' });
}

/** The first heartbeat check comes a minute after the start, at an unpredictable moment here, so it is triggered now. */
async function checkHeartbeat(page: Page): Promise<void> {
  const heartbeat = page.getByRole('region', { name: 'Heartbeat' });
  await heartbeat.getByRole('button', { name: 'Check now' }).click();
  await heartbeat.getByText('HEARTBEAT.md asks for nothing.').waitFor();
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Schedules', exact: true }).focus();
}

/** A new card ignores input for a moment, because it may have appeared under the pointer. */
async function canApprove({ approval }: WindowUnderTest): Promise<void> {
  await expect.poll(() => approval.getByRole('button', { name: 'Approve once' }).isEnabled()).toBe(true);
}

async function visitDialogs({ page }: WindowUnderTest, visit: (place: Place) => Promise<void>): Promise<void> {
  const close = async (): Promise<void> => {
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  await page.keyboard.press('Control+k');
  await page.getByRole('option', { name: '/help' }).waitFor();
  await visit({ name: 'commands', isDialog: true });
  await page.keyboard.type('session');
  await visit({ name: 'commands found', isDialog: true });
  await close();
  await page.keyboard.press('Control+/');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await visit({ name: 'keys', isDialog: true });
  await close();
}

async function crash(window: WindowUnderTest): Promise<void> {
  await window.send('Print a lot');
  await window.approval.getByRole('button', { name: 'Approve once' }).click();
  await window.conversation.getByText('Printed.', { exact: true }).waitFor();
  await window.send('Run it');
  await window.approval.getByRole('button', { name: 'Approve once' }).click();
  await window.conversation.getByText('under way', { exact: true }).waitFor();
  await window.host.stop('SIGKILL');
  await window.host.start();
  await window.openAddress();
  await window.conversation.getByText('Did it happen?').waitFor();
}
