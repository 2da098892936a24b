// The browser tool in a real browser: what a person sees, which actions ask, and what is blocked. tests/program has more cases.

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { needs } from '../../../tests/needs.ts';
import { soak } from '../../../tests/soak.ts';
import { refOf, shop, startBrowserBench, type BrowserBench } from '../../../tests/rigs/browser-bench.ts';

const options = { ...needs('a Chromium'), timeout: 60_000 };
const at = (path: string, host = shop): string => `http://${host}${path}`;
let bench: BrowserBench;

beforeAll(async () => {
  bench = await startBrowserBench({
    browser: { allowHosts: [shop, 'listed.test.invalid'], passwords: { [`http://${shop}`]: ['env:SHOP'] } },
    secrets: { 'env:SHOP': 'correct horse' },
  });
}, 60_000);
afterAll(() => bench.dispose());
beforeEach(() => bench.web.reset());

const page = `<title>Shop</title><h1>Shop</h1><a href="/two">Two</a>
  <form method="post" action="/buy"><label>Email <input name="mail"></label><button>Buy now</button></form>
  <button onclick="fetch('/api',{method:'POST',body:'1'}).catch(()=>0)">More</button>
  <button onclick="document.title=confirm('Sure?')?'yes':'no'">Ask me</button>
  <form action="/find" role="search"><input aria-label="Words" name="q"></form>
  <form method="post" action="/in"><input type="password" name="p" aria-label="Password"></form>
  <input type="file" aria-label="File" onchange="this.files[0].text().then((t)=>document.title=t)">
  <a download href="/file">Get file</a><a target="_blank" href="/two">New tab</a>`;

test('reads a page, shows changes as differences and follows links freely', options, async () => {
  bench.serve({ '/': page, '/two': '<title>Second</title><p>Hello', '/find?q=shoes': '<p>Found shoes' });
  const shown = await bench.say({ action: 'open', url: at('/') });
  expect(shown).toMatch(/^Opened http:\/\/shop\.test\.invalid\/\.\nhttp:\/\/shop\.test\.invalid\/ · Shop\n- generic.*\n.*heading "Shop"/);
  const words = refOf(shown, 'textbox', 'Words');
  expect(bench.facts({ action: 'type', ref: words, text: 'shoes' })).toMatchObject({
    class: 'network',
    hosts: [shop],
    request: { reads: true },
    decides: ['shoes'],
  });
  expect(await bench.say({ action: 'type', ref: words, text: 'shoes' })).toContain(`+   `);
  expect(bench.facts({ action: 'press', key: 'Enter', ref: words })).toMatchObject({ request: { reads: true, url: at('/find') } });
  expect(await bench.say({ action: 'press', key: 'Enter', ref: words })).toContain('Found shoes');
  expect(await bench.say({ action: 'back' })).toContain('heading "Shop"');
  const again = await bench.call({ action: 'snapshot' });
  expect(await bench.say({ action: 'click', ref: refOf(again.forModel, 'link', 'Two') })).toContain('· Second');
  expect(again.untrusted).toEqual([{ kind: 'web', where: shop }]);
  expect(bench.facts({ action: 'snapshot' })).toMatchObject({ class: 'read', hosts: [] });
});

test('asks with a picture before an action with an effect, and blocks other requests', options, async () => {
  bench.serve({ '/': page });
  const shown = await bench.say({ action: 'open', url: at('/') });
  await bench.say({ action: 'type', ref: refOf(shown, 'textbox', 'Email'), text: 'me@home.example' });
  const facts = bench.facts({ action: 'click', ref: refOf(shown, 'button', 'Buy') });
  expect(facts).toMatchObject({
    class: 'spend',
    request: { method: 'POST', url: at('/buy'), reads: false },
    risks: ['It sends mail = "me@home.example".', 'The connection is not encrypted.'],
    does: 'Clicks the button “Buy now” on shop.test.invalid, which sends POST to shop.test.invalid',
  });
  const { sha256 = '', mark } = facts.picture ?? {};
  expect(Buffer.from(bench.bench.artifacts.read(sha256)).subarray(0, 3).toString('hex')).toBe('ffd8ff');
  expect(mark?.width).toBeGreaterThan(20);
  const more = { action: 'click', ref: refOf(shown, 'button', 'More') };
  expect(await bench.say(more)).toMatch(/The page wants to send POST to http:\/\/shop\.test\.invalid\/api; it was held back/);
  expect(bench.web.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  expect(bench.facts({ ...more, sends: true })).toMatchObject({ request: { reads: false } });
  await bench.say({ ...more, sends: true });
  await bench.say({ action: 'click', ref: refOf(shown, 'button', 'Buy') });
  expect(bench.web.requests.filter(({ method }) => method === 'POST').map(({ path, body }) => `${path} ${body}`)).toEqual([
    '/api 1',
    '/buy mail=me%40home.example',
  ]);
});

test('a page cannot hide the effect of its elements', options, async () => {
  const lies = `Element.prototype.closest = () => null; Element.prototype.getAttribute = () => 'get'; JSON.stringify = () => '[]';
    Object.defineProperty(HTMLButtonElement.prototype, 'form', { get: () => null });`;
  bench.serve({ '/': `<form method="post" action="/buy"><button>Go</button></form><script>${lies}</script>` });
  const ref = refOf(await bench.say({ action: 'open', url: at('/') }), 'button', 'Go');
  expect(bench.facts({ action: 'click', ref }).request).toEqual({ method: 'POST', url: at('/buy'), reads: false });
});

test('dismisses dialogs of a page unless the approved action may have an effect', options, async () => {
  bench.serve({ '/': page });
  const ref = refOf(await bench.say({ action: 'open', url: at('/') }), 'button', 'Ask me');
  expect(await bench.say({ action: 'click', ref })).toMatch(/· no\n\[The page asked: confirm "Sure\?" answered no\]/);
  expect(await bench.say({ action: 'click', ref, sends: true })).toMatch(/· yes\n\[The page asked: confirm "Sure\?" answered OK\]/);
});

test('types a password only into a password field of its origin', options, async () => {
  bench.serve({ '/': page });
  const shown = await bench.say({ action: 'open', url: at('/') });
  const [password, words] = [refOf(shown, 'textbox', 'Password'), refOf(shown, 'textbox', 'Words')];
  const type = { action: 'type', secret: 'env:SHOP' };
  expect(bench.facts({ ...type, ref: password })).toMatchObject({
    class: 'credential',
    risks: ['It gives http://shop.test.invalid the password env:SHOP.'],
  });
  expect(bench.facts({ ...type, ref: words }).refused).toBe('A password is typed into password fields only.');
  const belongsElsewhere = (host: string) => ({ refused: expect.stringContaining(`does not belong to http://${host}`) as string });
  expect(bench.facts({ ...type, ref: password, secret: 'env:OTHER' })).toMatchObject(belongsElsewhere('shop'));
  expect(await bench.say({ ...type, ref: password })).not.toContain('correct horse');
  const other = await bench.say({ action: 'open', url: at('/', 'listed.test.invalid') });
  expect(bench.facts({ ...type, ref: refOf(other, 'textbox', 'Password') })).toMatchObject(belongsElsewhere('listed'));
});

test('does not act on a page that changed after the decision', options, async () => {
  const turn = Promise.withResolvers<void>();
  const turned = Promise.withResolvers<void>();
  const script = "fetch('/turn').then(() => { f.method = 'post'; f.action = '/pay'; return fetch('/turned'); })";
  bench.serve({ '/': `<form id="f" action="/find"><button>Go</button></form><script>${script}</script>` }, (request, response) => {
    if (request.path === '/turn') void turn.promise.then(() => response.end());
    else {
      if (request.path === '/turned') turned.resolve();
      response.end();
    }
  });
  const shown = await bench.say({ action: 'open', url: at('/') });
  const go = { action: 'click', ref: refOf(shown, 'button', 'Go') };
  expect(bench.facts(go)).toMatchObject({ request: { reads: true } });
  turn.resolve();
  await turned.promise;
  expect(await bench.say(go)).toMatch(/^The page changed: to click the button “Go” would do something else now. Nothing was done./);
  expect(bench.web.requests.filter(({ path }) => path === '/pay')).toEqual([]);
  const missing = await bench.call({ action: 'click', ref: 'e77777' });
  expect(missing.forModel).toMatch(/^There is no element e77777 on the page now/);
  expect(missing.untrusted).toEqual([{ kind: 'web', where: shop }]);
});

test('reads and leaves a page that keeps navigating', options, async () => {
  const restless = `<script>setInterval(()=>{const f=document.createElement('form');f.method='post';f.action='/buy';document.body.append(f);f.submit()},5);
    setInterval(()=>location.assign('/?again'),7)</script><body>`;
  bench.serve({ '/': restless, '/?again': restless, '/two': '<title>Second</title>' });
  const shown = await bench.say({ action: 'open', url: at('/') });
  expect(shown).toMatch(/^Opened .*\n.*\n(?:\[The page wants to send POST|\(The page shows nothing yet)/);
  expect(await bench.say({ action: 'open', url: at('/two') })).toContain('· Second');
});

test.each(['<h1>Shop</h1>', ''])('shows the loaded part of a page whose redirect was blocked: %j', options, async (begun) => {
  for (const script of ["location='http://10.0.0.7/'", "open('http://10.0.0.7/','_self')", 'document.forms[0].submit()']) {
    const form = script.startsWith('document') ? '<form method="post" action="/buy"></form>' : '';
    bench.serve({ '/': `${begun}${form}<script>${script}</script>` });
    const shown = await bench.say({ action: 'open', url: at('/') });
    expect(shown).toMatch(/^Opened .*\n.*\n\[.*(?:refused|held back)/);
    if (begun !== '') expect(shown).toContain('heading "Shop"');
  }
});

test('uploads and downloads files, keeps pictures and PDFs, switches tabs', options, async () => {
  bench.serve({ '/': page, '/two': '<title>Second</title>' }, (request, response) => {
    if (request.path !== '/file') return void response.writeHead(404).end();
    response.writeHead(200, { 'content-disposition': 'attachment; filename="list.txt"' }).end('one two');
  });
  const shown = await bench.say({ action: 'open', url: at('/') });
  writeFileSync(join(bench.bench.workspace, 'up.txt'), 'from the workspace');
  const upload = { action: 'upload', ref: refOf(shown, 'button', 'File'), path: 'up.txt' };
  expect(bench.facts(upload)).toMatchObject({ class: 'network', request: { reads: false }, paths: [{ given: 'up.txt', access: 'read' }] });
  expect(await bench.say(upload)).toContain('· from the workspace');
  const got = await bench.call({ action: 'download', ref: refOf(shown, 'link', 'Get file') });
  expect(got.forModel).toContain('Downloaded list.txt (7 bytes)');
  expect(Buffer.from(bench.bench.artifacts.read(got.artifacts[0]?.sha256 ?? '')).toString()).toBe('one two');
  const tab = await bench.say({ action: 'click', ref: refOf(shown, 'link', 'New tab') });
  const [, id = ''] = /A new tab opened: (t\d+)/.exec(tab) ?? [];
  expect(await bench.say({ action: 'tabs', tab: id })).toContain('· Second');
  expect(await bench.say({ action: 'close', tab: id })).toContain(`Closed the tab ${id}.`);
  const kinds = await Promise.all([bench.call({ action: 'screenshot' }), bench.call({ action: 'pdf' })]);
  expect(kinds.map(({ artifacts }) => artifacts[0]?.mediaType)).toEqual(['image/png', 'application/pdf']);
});

test('asks for unlisted hosts, and closes a page that goes to one unapproved', options, async () => {
  bench.serve(
    {
      '/': `<a href="${at('/', 'other.test.invalid')}">Away</a><button onclick="location='${at('/', 'other.test.invalid')}'">Next</button>`,
    },
    (request, response) => {
      if (request.path === '/jump') return void response.writeHead(302, { location: at('/', 'other.test.invalid') }).end();
      response.end('<p>elsewhere');
    },
  );
  const shown = await bench.say({ action: 'open', url: at('/') });
  expect(bench.facts({ action: 'click', ref: refOf(shown, 'link', 'Away') })).toMatchObject({
    hosts: ['other.test.invalid'],
    request: { reads: true },
  });
  expect(await bench.say({ action: 'click', ref: refOf(shown, 'button', 'Next') })).toMatch(
    /leads to other\.test\.invalid, which was not allowed/,
  );
  expect(bench.web.requests.filter(({ host }) => host === 'other.test.invalid')).toEqual([]);
  expect(await bench.say({ action: 'open', url: at('/jump') })).toMatch(
    /led on to other\.test\.invalid, which was not allowed, and was closed/,
  );
});

// Untouched hosts: on a page that the agent acted on before, every later request is held back anyway.
test.each([
  ['click', 'other.test.invalid', 'button', '<button onclick="SEND">Show</button>'],
  ['download', 'listed.test.invalid', 'link', '<a download href="/file" onclick="SEND">Get file</a>'],
])('holds back what a page sends before the first %s on it ends', options, async (action, host, role, element) => {
  // A synchronous request: the action cannot end before it is answered.
  const send = "try{x=new XMLHttpRequest();x.open('POST','/effect',false);x.send('1')}catch{}";
  bench.serve({ '/': element.replace('SEND', send), '/file': 'one' });
  const ref = refOf(await bench.say({ action: 'open', url: at('/', host) }), role);
  await bench.call({ action, ref });
  expect(bench.web.requests.map(({ method, path }) => `${method} ${path}`)).not.toContain('POST /effect');
});

const rounds = soak(2, 100);

test(
  'a browser killed at any point fails the call; the panic stop ends its processes',
  { ...options, timeout: 60_000 * rounds },
  async () => {
    bench.serve({ '/': page });
    const tookMs: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await bench.say({ action: 'open', url: at('/') });
      const working = bench.say({ action: 'open', url: at('/') });
      await sleep((round * 37) % 400);
      const startedMs = performance.now();
      bench.panic.engage(1, 'test');
      const { survivors } = await bench.bench.trees.killAll();
      tookMs.push(performance.now() - startedMs);
      expect([survivors, await working]).toEqual([
        0,
        expect.stringMatching(/heading "Shop"|^The browser ended while it worked|^Everything is stopped/),
      ]);
      expect((await bench.bench.trees.killAll()).killed).toBe(0);
      bench.panic.apply({ type: 'panic.released' } as Parameters<typeof bench.panic.apply>[0]);
    }
    tookMs.sort((a, b) => a - b);
    process.stdout.write(
      `panic with a browser: p50 ${tookMs[rounds >> 1]?.toFixed(0)} ms, most ${tookMs.at(-1)?.toFixed(0)} ms, n ${rounds}\n`,
    );
  },
);

test('a killed browser fails one call; the panic stop leaves no process', options, async () => {
  bench.serve({ '/': page });
  await bench.say({ action: 'open', url: at('/') });
  const waiting = bench.say({ action: 'wait', ms: 20_000 });
  const { killed } = await bench.bench.trees.killAll();
  expect(killed).toBeGreaterThan(2);
  expect(await waiting).toBe('The browser ended while it worked, and what it had open is gone. The next call starts it again.');
  expect(await bench.say({ action: 'open', url: at('/') })).toContain('heading "Shop"');
  bench.panic.engage(1, 'test');
  const stopped = await bench.bench.trees.killAll();
  expect(stopped.survivors).toBe(0);
  expect((await bench.bench.trees.killAll()).killed).toBe(0);
  expect(await bench.say({ action: 'snapshot' })).toMatch(/^Everything is stopped, so no browser starts/);
  bench.panic.apply({ type: 'panic.released' } as Parameters<typeof bench.panic.apply>[0]);
  expect(existsSync(join(bench.bench.home, 'browser'))).toBe(true);
});
