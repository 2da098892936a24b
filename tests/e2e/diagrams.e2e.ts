// Diagrams in answers: drawn in an isolated frame, in the window's theme, with their source available.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Frame, Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { violations } from './driver/looks.ts';
import { launchBrowser, openSession, openWindow, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const fenced = (source: string): string => `\`\`\`mermaid\n${source}\n\`\`\``;
const flow = 'flowchart TD\n  A[Read] --> B{Safe?}\n  B -- yes --> C[Draw]\n  B -- no --> D[Show source]';

async function answered(...texts: readonly string[]): Promise<WindowUnderTest> {
  return answeredIn(openSession, texts);
}

async function answeredIn(opened: typeof openSession, texts: readonly string[]): Promise<WindowUnderTest> {
  const window = await opened(browser, { replies: [{ text: texts.join('\n\nBetween.\n\n') }] });
  await window.send('Draw it');
  return window;
}

async function drawnFrame({ page }: WindowUnderTest, at = 0): Promise<Frame> {
  const handle = await page.locator('.diagram').nth(at).locator('iframe').elementHandle();
  const frame = await handle?.contentFrame();
  if (!frame) throw new Error('no frame draws');
  await frame.locator('svg').first().waitFor();
  return frame;
}

/** A second real server that must never receive a request. */
async function listenOutside(): Promise<{ readonly outside: string; readonly asked: readonly string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.setHeader('access-control-allow-origin', '*').end();
  });
  server.on('upgrade', (request, socket) => {
    asked.push(`upgrade ${request.url}`);
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port } = server.address() as AddressInfo;
  const outside = `http://127.0.0.1:${port}`;
  expect((await fetch(`${outside}/there`)).ok).toBe(true);
  expect(asked.splice(0)).toEqual(['GET /there']);
  return { outside, asked };
}

const pictured = (window: WindowUnderTest): Locator => window.page.locator('.diagram').getByRole('img');

test('a diagram has a name, and its source is one click away and accessible', async () => {
  const window = await answered('Look:', fenced(`${flow}\n  accTitle: How a text becomes a picture`));
  const picture = pictured(window);
  await picture.waitFor();
  expect(await picture.getAttribute('aria-label')).toBe('Flowchart: How a text becomes a picture');
  const frame = await drawnFrame(window);
  expect(await frame.locator('svg').textContent()).toContain('Show source');
  const source = window.conversation.getByRole('group', { name: 'Source of the diagram' });
  expect(await source.innerText()).toContain('B -- no --> D[Show source]');
  const box = await window.page.locator('.diagram iframe').boundingBox();
  expect(box !== null && box.width > 100 && box.height > 100).toBe(true);
  const toggle = window.page.getByRole('button', { name: 'Show source' });
  await toggle.click();
  await window.conversation.getByRole('group', { name: 'Code' }).locator('.code-keyword').first().waitFor();
  expect([await toggle.getAttribute('aria-pressed'), await pictured(window).count()]).toEqual(['true', 0]);
  await toggle.click();
  await picture.waitFor();
  expect(window.incidents).toEqual([]);
});

const kinds = [
  ['sequenceDiagram\n A->>B: Hello\n B-->>A: Good day', 'Sequence diagram', 'Good day'],
  ['classDiagram\n Animal <|-- Dog\n Animal : +int age', 'Class diagram', 'Animal'],
  ['stateDiagram-v2\n [*] --> Idle\n Idle --> Running', 'State diagram', 'Running'],
  ['erDiagram\n PERSON ||--o{ NOTE : writes', 'Entity diagram', 'writes'],
  ['gantt\n title Plan\n dateFormat YYYY-MM-DD\n section One\n First :a1, 2026-01-01, 30d', 'Gantt chart: Plan', 'First'],
  ['pie title Pets\n "Dogs" : 3\n "Cats" : 1', 'Pie chart: Pets', 'Cats'],
] as const;

test('the other kinds are drawn under their names too', async () => {
  const window = await answered(...kinds.map(([source]) => fenced(source)));
  for (const [at, [, name, text]] of kinds.entries()) {
    // A diagram is drawn when it comes near the screen.
    await window.page.locator('figure').nth(at).scrollIntoViewIfNeeded();
    await window.conversation.getByRole('img', { name, exact: true }).waitFor();
    expect(await (await drawnFrame(window, at)).locator('svg').innerHTML()).toContain(text);
  }
  expect(window.incidents).toEqual([]);
});

test('a diagram follows the theme of the window', async () => {
  const window = await answered(fenced(flow));
  await pictured(window).waitFor();
  const frame = await drawnFrame(window);
  const fill = (): Promise<string> => frame.evaluate<string>("getComputedStyle(document.querySelector('.node rect')).fill");
  const token = (): Promise<string> =>
    window.page.evaluate<string>(`(() => {
      const probe = document.body.appendChild(document.createElement('i'));
      probe.style.color = 'var(--accent-soft)';
      const { color } = getComputedStyle(probe);
      probe.remove();
      return color;
    })()`);
  const seen = new Set<string>();
  for (const look of [{ colorScheme: 'light' }, { colorScheme: 'dark' }, { contrast: 'more' }] as const) {
    await window.page.emulateMedia(look);
    // The page applies the theme after a moment; until then both still have the previous colour.
    await expect.poll(async () => seen.has(await token())).toBe(false);
    const wanted = await token();
    await expect.poll(fill).toBe(wanted);
    seen.add(wanted);
  }
  expect(seen.size).toBe(3);
  expect(window.incidents).toEqual([]);
});

const kept = [
  ['graph LR\n A --> B -->', 'the diagram cannot be read'],
  [`graph LR\n${'%% filler\n'.repeat(2500)}A --> B`, 'too large to draw'],
  ['graph LR\n A --> B\n style A fill:url(https://outside.invalid/a)', 'it refers to something outside'],
  ['flowchart TD\n A@{ img: "https://outside.invalid/a.png", label: "x" }', 'it refers to something outside'],
] as const;

test('a broken, too long or external diagram stays as source and says why', async () => {
  const window = await answered(...kept.map(([source]) => fenced(source)));
  const { page } = window;
  await expect.poll(() => page.locator('figcaption').count()).toBe(kept.length);
  for (const [at, [source, reason]] of kept.entries()) {
    await page.locator('figcaption').nth(at).scrollIntoViewIfNeeded();
    await page.locator('figcaption').nth(at).filter({ hasText: reason }).waitFor();
    expect(await window.conversation.getByRole('group', { name: 'Code' }).nth(at).textContent()).toBe(source);
  }
  expect([await pictured(window).count(), await page.locator('iframe').count()]).toEqual([0, 0]);
  expect(window.incidents).toEqual([]);
});

test('a drawing reaches neither window nor network, and runs only its own script', async () => {
  const { outside, asked } = await listenOutside();
  const window = await answeredIn(openWindow, [fenced(flow)]);
  await pictured(window).waitFor();
  const frame = await drawnFrame(window);
  const tried = (source: string): Promise<string> =>
    frame.evaluate<string>(`Promise.resolve().then(() => ${source}).then(() => 'done', (error) => error.name)`);
  expect(await frame.evaluate('origin')).toBe('null');
  const outcomes: Record<string, string> = {};
  for (const source of [
    'parent.document.title',
    'top.location.href',
    'localStorage.length',
    'indexedDB.open("x")',
    'fetch("/")',
    `fetch("${outside}/")`,
    `import("${outside}/a.js")`,
    `Promise.reject(open("${outside}/") ?? new DOMException("", "NoWindow"))`,
    // Delayed, because the driver's own evaluation is exempt from the policy.
    'new Promise((done, fail) => setTimeout(() => { try { done(eval("1")); } catch (error) { fail(error); } }))',
    'new Promise((done, fail) => setTimeout(() => { try { done(new Function("1")()); } catch (error) { fail(error); } }))',
    `new Promise((done, fail) => { const socket = new WebSocket("${outside.replace('http', 'ws')}/"); socket.onopen = done; socket.onerror = () => fail(new DOMException("", "Refused")); })`,
    'new Promise((done, fail) => { const worker = new Worker("data:text/javascript,postMessage(1)"); worker.onmessage = done; worker.onerror = () => fail(new DOMException("", "Refused")); })',
  ])
    outcomes[source] = await tried(source);
  expect(Object.entries(outcomes).filter(([, outcome]) => outcome === 'done')).toEqual([]);
  // Markup injected into the page: neither event handlers nor javascript: addresses run.
  await frame.evaluate(`(() => {
    document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="window.ran = 1"><a id=go href="javascript:window.ran = 1">x</a><iframe srcdoc="<script>parent.ran = 1</script>"></iframe>');
    document.getElementById('go').click();
    const script = document.body.appendChild(document.createElement('script'));
    script.textContent = 'window.ran = 1';
  })()`);
  expect(await frame.evaluate('new Promise((done) => setTimeout(() => done(window.ran ?? 0), 50))')).toBe(0);
  // Navigating away, elsewhere or to the window itself, requests nothing and ends the frame.
  for (const address of [`${outside}/`, '/', '/#/settings', 'data:text/html,x']) {
    const leaving = await drawnFrame(window);
    const drawn = leaving.url();
    await leaving.evaluate(`void setTimeout(() => (location.href = ${JSON.stringify(address)}))`);
    await expect.poll(() => leaving.isDetached() || leaving.url() !== drawn).toBe(true);
    await window.page.reload();
    await pictured(window).waitFor();
  }
  expect(asked).toEqual([]);
  const left = window.incidents.filter((incident) => /^(?:popup|dialog|navigation: (?!about:srcdoc|chrome-error:))/.test(incident));
  expect(left).toEqual([]);
  expect(new URL(window.page.url()).pathname).toBe('/');
  expect(await window.message.isVisible()).toBe(true);
});

test('a drawing that never ends does not block the window', async () => {
  const window = await answeredIn(openWindow, [fenced(flow)]);
  await pictured(window).waitFor();
  const frame = await drawnFrame(window);
  frame.evaluate('for (;;);').catch(() => undefined);
  const startedMs = performance.now();
  await window.message.fill('Still there?');
  await window.message.press('Enter');
  await window.conversation.getByText('Still there?', { exact: true }).waitFor();
  await window.conversation.getByText('Done.', { exact: true }).waitFor();
  expect(performance.now() - startedMs).toBeLessThan(3000);
  expect(window.incidents).toEqual([]);
});

test('only diagrams near the screen have a frame, and a returning one keeps its place', async () => {
  const texts = Array.from(
    { length: 20 },
    (_, at) => `Diagram ${at}\n\n${'Some words between. '.repeat(120)}\n\n${fenced(`graph LR\n A${at} --> B`)}`,
  );
  const window = await answered(texts.join('\n\n'));
  const last = window.page.locator('.diagram').nth(19);
  await last.getByRole('img').waitFor();
  const frames = (): Promise<number> => window.page.locator('iframe').count();
  await expect.poll(frames).toBeLessThan(13);
  const log = window.conversation;
  await log.evaluate((region) => void (region.scrollTop = 0));
  await expect.poll(async () => (await drawnFrame(window)).locator('svg').innerHTML()).toContain('A0');
  expect(await frames()).toBeLessThan(13);
  expect(await last.locator('iframe').count()).toBe(0);
  const high = await last.evaluate((block) => block.getBoundingClientRect().height);
  await log.evaluate((region) => void (region.scrollTop = region.scrollHeight));
  await last.locator('iframe').waitFor();
  expect(await last.evaluate((block) => block.getBoundingClientRect().height)).toBe(high);
  expect(window.incidents).toEqual([]);
});

test('no violations with a diagram, and nothing wider than the window', async () => {
  const window = await answered(
    fenced(flow),
    fenced(`graph LR\n ${Array.from({ length: 14 }, (_, at) => `N${at}[Step ${at}]`).join(' --> ')}`),
  );
  await pictured(window).nth(1).waitFor();
  for (const width of [360, 1280]) {
    await window.page.setViewportSize({ width, height: 800 });
    expect(await violations(window.page)).toEqual([]);
    expect(await window.page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
  }
});

test('a wide diagram is scaled to a narrow window, and can be viewed in full size', async () => {
  const window = await answered(fenced(`graph LR\n ${Array.from({ length: 3 }, (_, at) => `N${at}[Step ${at}]`).join(' --> ')}`));
  const { page } = window;
  await pictured(window).waitFor();
  await page.setViewportSize({ width: 360, height: 800 });
  const view = page.locator('.diagram').getByRole('group', { name: /^Flowchart/ });
  const hidden = (): Promise<number> => view.evaluate((region) => region.scrollWidth - region.clientWidth);
  await expect.poll(hidden).toBe(0);
  const full = page.getByRole('button', { name: 'Full size' });
  await full.click();
  expect(await hidden()).toBeGreaterThan(50);
  expect(await view.getAttribute('tabindex')).toBe('0');
  await full.click();
  expect(await hidden()).toBe(0);
  await page.setViewportSize({ width: 1280, height: 800 });
  // No button is offered if the diagram already has its full size.
  await full.waitFor({ state: 'detached' });
});
