// The window in German: at every place, what was said in English is said otherwise, but for what the host, the model or the person says
// and what is called the same.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser, openWindow } from './driver/open-window.ts';
import { placeOptions, speak, visitPlaces } from './driver/places.ts';
import { stillScript } from './driver/still.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

/** Everything that can be seen, and everything that is said of it to those who do not see. */
const collect = `(() => {
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement;
    if (element.closest('code, pre, kbd, samp, option, [hidden]') || !element.checkVisibility()) continue;
    texts.push(node.nodeValue);
  }
  for (const element of document.querySelectorAll('[aria-label], [title], [placeholder]')) {
    if (element.closest('[hidden]')) continue;
    for (const name of ['aria-label', 'title', 'placeholder']) if (element.hasAttribute(name)) texts.push(element.getAttribute(name));
  }
  return texts.map((text) => text.trim().replace(/\\s+/g, ' ')).filter((text) => /\\p{L}{2}/u.test(text));
})()`;

const textsOf = async (page: Page): Promise<ReadonlySet<string>> => new Set(await page.evaluate<string[]>(collect));

test('German says everything in German', { timeout: 240_000 }, async () => {
  const window = await openWindow(browser, { ...placeOptions, initScript: stillScript });
  const left: Record<string, string[]> = {};
  const { skills } = (await window.host.op('skill.list', {})) as { skills: { name: string; description: string }[] };
  // As their authors wrote them, and as the model reads them.
  const ofSkills = new Set(skills.flatMap(({ name, description }) => [name, description]));
  let compared = 0;
  await visitPlaces(window, async ({ name, isDialog }) => {
    if (isDialog) return;
    const english = await textsOf(window.page);
    await speak(window, 'Deutsch');
    const german = await textsOf(window.page);
    await speak(window, 'English');
    compared += german.size;
    left[name] = [...german].filter((text) => english.has(text) && !ofSkills.has(text) && !isSameInBoth(text));
  });
  expect(Object.entries(left).filter(([, texts]) => texts.length > 0)).toEqual([]);
  expect(compared).toBeGreaterThan(200);
  expect(window.incidents).toEqual([]);
});

function isSameInBoth(text: string): boolean {
  return sameInBoth.some((known) => known.test(text));
}

const sameInBoth: readonly RegExp[] = [
  // Names, units, and words that German has as well.
  /^(?:TrayClaw|Chat|Budget|Plan|Code|Sandbox|Web|Desktop|Text|Name|Status|Agent|Host|IBANs|System|Tokens|Telegram|Hooks|Webhooks)$/,
  /^(?:main|provider\.lab|lab|lab\/scripted|demo|demo\/offline|openai-compatible|US\$|ms|MB|kB|[=≈]? ?9 [kM]B)$/,
  // A folder by its path.
  /^(?:\/[\w.-]+)+$/,
  // What the person and the model said, and what they named.
  /^(?:Print a lot|Run it|(?:· )?Look into my notes|Now test it|I will look first\.|Printed\.|under way|Report|Text with|and|a link|Deep|ts|quoted|done)$/,
  /^Report Text with /,
  /^(?:https:\/\/)?example\.org\/?$/,
  /^(?:notes|missing)\.md$|^\/tmp\/tce|^exec-call_x\.txt$|^text\/plain/,
  /^(?:npm te|st|exec|read_file|path|command|echo under way; sleep 60|for i in .*|U\+200B.*)$/,
  // Written the same by this spec.
  /^(?:· )?1 Jan 2026, 00:00(?: · (?:by you, in the window|von dir, im Fenster))?$/,
  // What the host says and records, which is English.
  /^(?:It only reads inside the workspace\.|It runs a command on this machine\.|Wants to run npm te|run exactly `npm te)/,
  /It can run any code with your rights: change or delete files, use the network\.$/,
  /^st` in the workspace, whatever the files it uses hold by then$/,
  /^(?:Gather what the model needs|The pack is ready|Ask the gate about|Waiting for your approval of)/,
  /^\d\. (?:system|user|assistant|tool)$|^configured$/,
  /^(?:One call is of unknown outcome|The database is sound|Every event met so far|9 GB free for|The price of lab|lab\/scripted answered a turn)/,
  /^(?:The (?:log ends where the head|chain of the newest|search index agrees|write-ahead log is|data folder is yours|clock agrees) |\d+ artifacts? there, |No backup yet, )/,
  /^(?:No interrupted run has left|No earlier run has left|What commands usually need|http:\/\/127\.0\.0\.1:1 answers|No turn has failed)/,
  /^(?:Every message that was to go out|Nothing is scheduled\.|config\.yaml can be read\.)/,
  /^(?:The keychain of this computer|Commands can (?:not )?be confined|Not engaged\.)/,
  // Said aloud when it happened, in the language of then.
  /^(?:Turn done\.|Approval needed: Wants to run .*)$/,
];
