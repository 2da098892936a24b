import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as z from 'zod';
import type { NameResolver } from '../../contracts/url-decision.ts';
import { OneOriginCheck, SafetyChecks, refuseAddress } from './safety.ts';

const open = (allowDomains: string[] = [], denyDomains: string[] = []): SafetyChecks =>
  new SafetyChecks({ policy: { allowDomains, denyDomains } });
const readCorpus = (name: string): unknown => JSON.parse(readFileSync(new URL(`../../../tests/corpus/${name}`, import.meta.url), 'utf8'));

const cases = z
  .array(z.object({ url: z.string(), expect: z.enum(['allow', 'deny']), why: z.string() }))
  .parse(readCorpus('ssrf-urls.json'));
const addresses = z.array(z.string());
const answers = z.record(z.string(), z.union([z.null(), addresses, z.array(addresses)])).parse(readCorpus('ssrf-dns-answers.json'));

/** Answers from the corpus. If a name has several answers, returns them in turn. */
class ScriptedResolver implements NameResolver {
  readonly #asked = new Map<string, number>();

  resolve(host: string): Promise<readonly string[]> {
    const count = this.#asked.get(host) ?? 0;
    this.#asked.set(host, count + 1);
    const answer = answers[host] ?? null;
    if (answer === null) return Promise.reject(new Error('ENOTFOUND'));
    const turn = Array.isArray(answer[0]) ? answer[Math.min(count, answer.length - 1)] : answer;
    return Promise.resolve(addresses.parse(turn));
  }
}

/** Fetches as a tool does: the gate checks first, then the dialer, and then every redirect is checked. */
async function fetchOutcome(safety: SafetyChecks, url: string): Promise<'allow' | 'deny'> {
  const resolver = new ScriptedResolver();
  const { signal } = new AbortController();
  const atGate = await safety.resolvedUrl(url, resolver, signal);
  const atDial = atGate.decision === 'allow' ? await safety.resolvedUrl(url, resolver, signal) : atGate;
  if (atDial.decision === 'deny') return 'deny';
  expect(atDial.addresses.map(refuseAddress).filter((reason) => reason !== null)).toEqual([]);
  const target = new URL(url).searchParams.get('to');
  if (target === null) return 'allow';
  const redirect = safety.redirect({ from: url, to: target, method: url.includes('post') ? 'POST' : 'GET' });
  return redirect.decision === 'deny' ? 'deny' : fetchOutcome(safety, target);
}

test.each(cases)('$expect $url ($why)', async ({ url, expect: expected }) => {
  expect(await fetchOutcome(open(), url)).toBe(expected);
});

const moreDenied = [
  'http://LOCALHOST/',
  'http://localhost./',
  'http://a.localhost/',
  'http://127.1/',
  'http://127.0.0.1./',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://[::ffff:169.254.169.254]/',
  'http://[64:ff9b::a00:1]/',
  'http://[2002:a9fe:a9fe::]/',
  'http://[2001:db8::1]/',
  'http://[3fff::1]/',
  'http://[4000::1]/',
  'http://[2600:1f00::200:5efe:7f00:1]/',
  'http://[fd00:ec2::254]/',
  'http://100.64.0.1/',
  'http://100.100.100.200/',
  'http://192.0.2.1/',
  'http://intranet/',
  'http://printer.local/',
  'http://host.docker.internal/',
  'http://kubernetes.default.svc/',
  'http://10.0.0.1.nip.io/',
  'http://localtest.me/',
  // Names of networks, clusters and clouds, and names that resolve to any address or to changing ones.
  ...'kubernetes.default metadata.goog metadata.goog. metadata.azure.com metadata.packet.net fritz.box router.asus.com tplinkwifi.net'
    .split(' ')
    .concat('7f000001.c0a80001.rbndr.us make-127-0-0-1-rr.1u.ms a.ns.rebind.it 127-0-0-1.local-ip.sh 127.0.0.1.backname.io'.split(' '))
    .concat(
      'vault.service.consul speedport.ip app.lndo.site proj.ddev.site x.lcl.host a.localhost.direct 10.0.0.1.xip.name x.onion'.split(' '),
    )
    .concat('127-0-0-1.plex.direct 127-0-0-1.ip.linodeusercontent.com localho.st 127-0-0-1.ipq.co .com'.split(' '))
    .map((host) => `http://${host}/`),
  'http://example..org/',
  'http://example.org:8080/',
  'http://user@example.org/',
  'http://:pw@example.org/',
  'http:example.org/',
  'http:\\\\example.org\\',
  'http://example.org\\@127.0.0.1/',
  'http://exa mple.org/',
  'http://example.org/\r\nHost: x',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'ws://example.org/',
  '//example.org/',
  'example.org',
  '',
  `http://example.org/${'a'.repeat(20_000)}`,
];

test.each(moreDenied)('denies %s', (url) => {
  expect(open().url(url).decision).toBe('deny');
});

const moreAllowed = [
  'https://example.org/',
  'https://example.org./',
  'HTTPS://Example.ORG:443/',
  'http://93.184.216.34/',
  'http://[2606:2800:220:1:248:1893:25c8:1946]/',
  'http://[64:ff9b::5db8:d822]/',
  'https://example.org/?u=http://127.0.0.1/#\\x',
  'https://münchen.example/a b'.replace(' ', '%20'),
  'https://fritz.box.example/',
  'https://default.example/',
  'https://notrbndr.us/',
  'http://11.0.0.1/',
  'http://128.0.0.1/',
];

test.each(moreAllowed)('allows %s', (url) => {
  expect(open().url(url).decision).toBe('allow');
});

test('a decision has a reason, the normalized URL without credentials, and the listing', () => {
  expect(open(['example.org']).url('HTTPS://www.Example.org:443/a/../b')).toEqual({
    decision: 'allow',
    reason: 'www.example.org is on the list of allowed domains.',
    url: 'https://www.example.org/b',
    isListed: true,
  });
  expect(open().url('http://me:pass@example.org/')).toEqual({
    decision: 'deny',
    reason: 'A URL must not contain a user name or password.',
    url: 'http://example.org/',
    isListed: false,
  });
  expect(open().url('http://0x7f.1/').reason).toBe('127.0.0.1 is this computer; only public addresses may be fetched.');
});

test('lists match whole labels, subdomains and ports; a denial wins', () => {
  const safety = open(['example.org', '*.only-below.org', 'ports.org:8443', 'bücher.example'], ['bad.example.org', '*.worse.org']);
  const listed = (url: string): string => {
    const { decision, isListed } = safety.url(url);
    return decision + (isListed ? ' listed' : '');
  };
  expect(
    [
      'https://example.org',
      'https://a.b.example.org',
      'https://notexample.org',
      'https://only-below.org',
      'https://x.only-below.org',
      'https://ports.org:8443',
      'https://ports.org:9000',
      'https://xn--bcher-kva.example',
      'https://bad.example.org',
      'https://x.bad.example.org.',
      'https://worse.org',
      'https://x.worse.org',
    ].map(listed),
  ).toEqual([
    'allow listed',
    'allow listed',
    'allow',
    'allow',
    'allow listed',
    'allow listed',
    'deny listed',
    'allow listed',
    'deny listed',
    'deny listed',
    'allow',
    'deny',
  ]);
  expect(() => open(['https://example.org/'])).toThrow(expect.objectContaining({ code: 'invalid_config' }));
});

test('a listed address opens itself on its port, but no metadata service and no name', async () => {
  const safety = open(['127.0.0.1:8123', '[::1]', '10.0.0.7', '169.254.169.254', '[64:ff9b::a9fe:a9fe]', 'a.test.invalid']);
  const decide = (url: string): string => safety.url(url).decision;
  expect(['http://127.0.0.1:8123/', 'http://0x7f000001:8123/', 'http://[::1]/', 'https://[::1]/', 'http://10.0.0.7/'].map(decide)).toEqual(
    Array(5).fill('allow'),
  );
  expect(
    [
      'http://127.0.0.1/',
      'http://127.0.0.1:9000/',
      'http://127.0.0.2:8123/',
      'http://[::1]:8080/',
      'http://10.0.0.7:8080/',
      'http://169.254.169.254/',
      'http://[64:ff9b::a9fe:a9fe]/',
      'http://localhost:8123/',
    ].map(decide),
  ).toEqual(Array(8).fill('deny'));
  expect((await safety.resolvedUrl('http://a.test.invalid/', new ScriptedResolver(), new AbortController().signal)).decision).toBe('deny');
});

test('a listed localhost opens this computer on its port, whatever it resolves to', async () => {
  const safety = open(['localhost:3000']);
  expect(
    ['http://localhost:3000/x', 'http://localhost/', 'http://localhost:3001/', 'http://a.localhost:3000/', 'http://127.0.0.1:3000/'].map(
      (url) => safety.url(url).decision,
    ),
  ).toEqual(['allow', 'deny', 'deny', 'deny', 'deny']);
  const { signal } = new AbortController();
  const dialled = async (...found: string[]) =>
    (await safety.resolvedUrl('http://localhost:3000/', { resolve: () => Promise.resolve(found) }, signal)).addresses;
  expect(await dialled('127.0.0.1', '::1')).toEqual(['127.0.0.1', '::1']);
  expect(await dialled('127.0.0.1', '10.0.0.1')).toEqual([]);
  expect(await dialled('169.254.169.254')).toEqual([]);
});

test('one configured origin opens only itself', async () => {
  const one = new OneOriginCheck('http://localhost:8888/searxng');
  const { signal } = new AbortController();
  const resolve = (...found: string[]): NameResolver => ({ resolve: () => Promise.resolve(found) });
  expect(await one.resolvedUrl('http://localhost:8888/search?q=a', resolve('127.0.0.1'), signal)).toMatchObject({
    decision: 'allow',
    addresses: ['127.0.0.1'],
  });
  const others = ['http://localhost/', 'https://localhost:8888/', 'http://127.0.0.1:8888/', 'http://u:p@localhost:8888/', 'nonsense'];
  for (const url of others) {
    expect((await one.resolvedUrl(url, resolve('127.0.0.1'), signal)).addresses).toEqual([]);
    expect(one.redirect({ from: 'http://localhost:8888/', to: url, method: 'GET' })).toMatchObject({
      decision: 'deny',
      keepsHeaders: false,
    });
  }
  expect((await one.resolvedUrl('http://localhost:8888/', resolve('127.0.0.1', '169.254.169.254'), signal)).decision).toBe('deny');
  expect((await one.resolvedUrl('http://localhost:8888/', resolve(), signal)).decision).toBe('deny');
  const failing: NameResolver = { resolve: () => Promise.reject(new Error('getaddrinfo ENOTFOUND localhost')) };
  expect(await one.resolvedUrl('http://localhost:8888/', failing, signal)).toMatchObject({ decision: 'deny', isUnresolved: true });
});

test('a lookup returns checked addresses; a private one, none, or an abort denies all', async () => {
  const safety = open();
  const { signal } = new AbortController();
  const resolve = (...found: string[]): NameResolver => ({ resolve: () => Promise.resolve(found) });
  const look = async (resolver: NameResolver, at = signal) => (await safety.resolvedUrl('http://x.org/', resolver, at)).addresses;
  expect(await look(resolve('93.184.216.34', '2606:2800::1'))).toEqual(['93.184.216.34', '2606:2800::1']);
  expect(await look(resolve('93.184.216.34', '::1'))).toEqual([]);
  expect(await look(resolve())).toEqual([]);
  expect(await look(resolve('not an address'))).toEqual([]);
  expect(await look(resolve('93.184.216.34'), AbortSignal.abort())).toEqual([]);
});

test('headers and bodies stay within an origin, and https does not fall back to http', () => {
  const safety = open();
  const go = (to: string, method = 'GET') => {
    const { decision, keepsHeaders } = safety.redirect({ from: 'https://a.org/x', to, method });
    return [decision, keepsHeaders];
  };
  expect(go('https://a.org/y', 'POST')).toEqual(['allow', true]);
  expect(go('https://b.org/')).toEqual(['allow', false]);
  expect(go('https://b.org/', 'POST')).toEqual(['deny', false]);
  expect(go('http://a.org/')).toEqual(['deny', false]);
  expect(go('http://127.0.0.1/')).toEqual(['deny', false]);
});

test('a site on the internet does not lead to a listed place of this computer or its network', () => {
  const safety = open(['127.0.0.1:3000', 'localhost:3000', '[fd00::1]', '10.0.0.7', 'listed.org']);
  const go = (from: string, to: string) => safety.redirect({ from, to, method: 'GET' }).decision;
  for (const to of [
    'http://127.0.0.1:3000/',
    'http://localhost:3000/',
    'http://localhost.:3000/',
    'http://[fd00::1]/',
    'http://10.0.0.7/',
  ]) {
    expect([to, safety.url(to).decision, go('http://a.org/', to)]).toEqual([to, 'allow', 'deny']);
    expect([to, go('http://93.184.216.34/', to)]).toEqual([to, 'deny']);
    expect([to, go('http://127.0.0.1:3000/', to), go('http://localhost:3000/', to)]).toEqual([to, 'allow', 'allow']);
    expect([to, go(to, 'http://listed.org/')]).toEqual([to, 'allow']);
  }
  expect(go('http://a.org/', 'http://listed.org/')).toBe('allow');
});

test('names a list entry that is not a domain', () => {
  expect(() => open(['a b'])).toThrow('"a b" in policy.allowDomains or policy.denyDomains is not a domain');
});
