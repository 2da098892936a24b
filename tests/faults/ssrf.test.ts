// The corpus of hostile addresses against real sockets: allowed addresses are reached, and nothing else is ever connected to. Each check on
// the way has a negative control: without only that check, the violation is reported.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { toAppError } from '../../core/contracts/errors.ts';
import type { NameResolver } from '../../core/contracts/url-decision.ts';
import { GuardedFetch, type UrlJudge } from '../../core/guard/egress/egress.ts';
import { SafetyChecks } from '../../core/guard/safety/safety.ts';
import { Web, type WebRequest } from '../doubles/web/web.ts';

const read = (name: string): unknown => JSON.parse(readFileSync(new URL(`../corpus/${name}`, import.meta.url), 'utf8'));
const caseSchema = z.object({ url: z.string(), expect: z.enum(['allow', 'deny']), why: z.string() });
type Case = z.infer<typeof caseSchema>;
const addresses = z.array(z.string());
const answers = z.record(z.string(), z.union([z.null(), addresses, z.array(addresses)])).parse(read('ssrf-dns-answers.json'));

const redirects = (to: string, why: string): Case => ({
  url: `http://public.test.invalid/redir?to=${encodeURIComponent(to)}`,
  expect: 'deny',
  why,
});
const cases: readonly Case[] = [
  ...z.array(caseSchema).parse(read('ssrf-urls.json')),
  { url: 'http://a.test.invalid/', expect: 'deny', why: 'resolves to loopback' },
  { url: 'http://b.test.invalid/', expect: 'deny', why: 'one good address, one bad' },
  { url: 'http://v6.test.invalid/', expect: 'deny', why: 'IPv4 in IPv6' },
  { url: 'http://cname.test.invalid/', expect: 'deny', why: 'an alias of the metadata service' },
  { url: 'http://[fe80::1%25eth0]/', expect: 'deny', why: 'a zone id' },
  { url: 'http://public.test.invalid:80/', expect: 'allow', why: 'the usual port, written out' },
  redirects('http://169.254.169.254/latest/meta-data/', 'to metadata'),
  redirects('http://[::1]/', 'to IPv6 loopback'),
  redirects('http://2130706433/', 'to a number'),
  redirects('http://cname.test.invalid/', 'to an alias of the metadata service'),
  redirects('http://localhost/', 'to localhost'),
  redirects('//127.0.0.1/', 'without a scheme'),
  redirects('\\\\127.0.0.1\\', 'with backslashes'),
  redirects('file:///etc/passwd', 'to a file'),
  redirects('gopher://127.0.0.1:6379/_x', 'to gopher'),
  redirects('http://me:key@public.test.invalid/', 'with credentials'),
  redirects('http://public.test.invalid:6379/', 'to another port'),
  redirects('http://public.test.invalid/redir?to=http%3A%2F%2F10.0.0.1%2F', 'a chain with a private end'),
  {
    url: 'http://public.test.invalid/redir?to=http://evil.test.invalid/',
    expect: 'allow',
    why: 'another public host, but without what was meant for the first',
  },
];

let web: Web;
beforeAll(async () => {
  web = await Web.start({ answers, publicAddresses: ['93.184.216.34', '93.184.216.35', '172.32.0.1', '192.169.0.1'] });
  web.handle(({ path }, response) => {
    const { pathname, searchParams } = new URL(path, 'http://x');
    const to = searchParams.get('to');
    if (to !== null) response.writeHead(pathname === '/307post' ? 307 : 302, { location: to });
    response.end('a public page');
  });
});
afterAll(() => web.dispose());

const strict = (): UrlJudge => {
  const safety = new SafetyChecks({ policy: { allowDomains: [], denyDomains: [] } });
  return {
    url: (url) => safety.url(url),
    resolvedUrl: (url, resolver, signal) => safety.resolvedUrl(url, resolver, signal),
    redirect: (redirect) => safety.redirect(redirect),
  };
};

/** Fetches once, without precautions of the caller; returns the violations that the servers saw. */
async function violations({ url, expect: expected }: Case, judge: UrlJudge): Promise<string[]> {
  web.reset();
  const limits = { connectMs: 2_000, headersMs: 2_000, idleMs: 2_000, totalMs: 5_000, bytesMax: 10_000 };
  const fetcher = new GuardedFetch({ judge, limits, resolver: web.resolver, dialer: web.dialer, authorities: web.authorities });
  const headers = { authorization: 'Bearer key', 'x-own': 'mine' };
  const about = url.includes('307post') ? { method: 'POST', body: 'secret' } : {};
  const once = (): Promise<string> =>
    fetcher.fetch({ url, headers, ...about, mayFollow: () => true }, new AbortController().signal).then(
      ({ status, body }) => `${status} ${body.toString()}`,
      (cause: unknown) => toAppError(cause).code,
    );
  const first = await once();
  // A name whose address changes: it was public the first time, and only that address may have been dialled.
  const end = url.includes('rebind') && first.startsWith('200') ? await once() : first;
  const leaks = web.requests.filter(({ host }) => host.startsWith('evil.')).flatMap(leaksOf);
  const wrong = (expected === 'allow') === (end === '200 a public page') ? [] : [`${url} should be ${expected} and ended as ${end}`];
  return [...web.trapped.map((place) => `${url} reached ${place}`), ...leaks.map((what) => `${url} leaked ${what}`), ...wrong];
}

function leaksOf({ headers, body }: WebRequest): string[] {
  return [...['authorization', 'x-own'].filter((name) => headers[name] !== undefined), ...(body === '' ? [] : ['the body'])];
}

const leading = /[?]to=/;

async function allViolations(judge: () => UrlJudge, about = /./): Promise<string[]> {
  const found: string[] = [];
  for (const one of cases.filter(({ url }) => about.test(url))) found.push(...(await violations(one, judge())));
  return found;
}

test.each(cases)('$expect $url ($why)', async (one) => {
  expect(await violations(one, strict())).toEqual([]);
});

const anything = async (url: string, resolver: NameResolver, signal: AbortSignal) => {
  const { href, hostname } = new URL(url);
  const isAddress = /^\[|^[\d.]+$/.test(hostname);
  const found = isAddress
    ? [hostname.replace(/[[\]]/g, '')]
    : hostname === 'localhost'
      ? ['127.0.0.1']
      : await resolver.resolve(hostname, signal);
  return { decision: 'allow' as const, reason: 'control', url: href, isListed: false, addresses: found };
};
const follow = (redirect: { from: string; to: string }) => {
  const keepsHeaders = new URL(redirect.from).origin === new URL(redirect.to).origin;
  return { decision: 'allow' as const, reason: 'control', url: redirect.to, isListed: false, keepsHeaders };
};

test('control: without the address check, machines that are not public are reached', async () => {
  const found = await allViolations(() => ({ ...strict(), resolvedUrl: anything }));
  const reached = found.filter((line) => line.includes(' reached '));
  expect(reached.length).toBeGreaterThan(25);
  for (const place of ['127.0.0.1:80', '169.254.169.254:80', '10.0.0.5:80', '::1:80', '168.63.129.16:80'])
    expect(reached.some((line) => line.endsWith(` reached ${place}`))).toBe(true);
});

test('control: without the redirect check, a public page leads to private machines', async () => {
  const found = await allViolations(() => {
    const judge = strict();
    const led = new Set<string>();
    return {
      ...judge,
      redirect: (redirect) => {
        led.add(redirect.to);
        return follow(redirect);
      },
      resolvedUrl: (url, ...about) => (led.has(url) ? anything(url, ...about) : judge.resolvedUrl(url, ...about)),
    };
  }, leading);
  const reached = found.filter((line) => line.includes(' reached '));
  expect(reached.filter((line) => !line.includes('/redir?'))).toEqual([]);
  expect(reached.length).toBeGreaterThan(5);
});

test('a name resolved again for dialling leads to its changed address', async () => {
  const found = await allViolations(() => {
    const judge = strict();
    return {
      ...judge,
      resolvedUrl: async (url, resolver, signal) => {
        const checked = await judge.resolvedUrl(url, resolver, signal);
        return checked.decision === 'deny' ? checked : { ...checked, addresses: (await anything(url, resolver, signal)).addresses };
      },
    };
  }, /rebind|public/);
  expect(found.filter((line) => line.includes(' reached '))).toEqual(['http://rebind.test.invalid/ reached 127.0.0.1:80']);
});

test('a redirect is still checked if either of its two checks is removed', async () => {
  const dialOnly = await allViolations(() => ({ ...strict(), redirect: follow }), leading);
  expect(dialOnly.filter((line) => line.includes(' reached '))).toEqual([]);
});

test('control: if credentials are not dropped, another site gets them', async () => {
  const found = await allViolations(() => {
    const judge = strict();
    return { ...judge, redirect: (redirect) => ({ ...judge.redirect(redirect), keepsHeaders: true }) };
  }, leading);
  expect(found.map((line) => line.slice(line.indexOf('leaked')))).toEqual(['leaked authorization', 'leaked x-own']);
});

test('control: without the rule for bodies, another site gets one', async () => {
  const found = await allViolations(() => ({ ...strict(), redirect: follow }), leading);
  expect(found.filter((line) => line.includes('leaked'))).toEqual([expect.stringMatching(/leaked the body$/)]);
});
