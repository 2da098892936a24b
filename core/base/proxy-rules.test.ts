import { expect, test } from 'vitest';
import { proxyAuthorization, proxyFor } from './proxy-rules.ts';

const chosen = (url: string, variables: Record<string, string>): string | null => proxyFor(new URL(url), variables)?.href ?? null;

test.each([
  ['https://a.example/', { HTTPS_PROXY: 'http://p:3128' }, 'http://p:3128/'],
  ['http://a.example/', { HTTPS_PROXY: 'http://p:3128' }, null],
  ['http://a.example/', { http_proxy: 'http://p:3128' }, 'http://p:3128/'],
  ['https://a.example/', { ALL_PROXY: 'p:3128' }, 'http://p:3128/'],
  ['https://a.example/', { HTTPS_PROXY: 'http://big:1', https_proxy: 'http://small:1' }, 'http://small:1/'],
  ['https://a.example/', { HTTPS_PROXY: 'http://big:1', https_proxy: '' }, null],
  ['https://a.example/', { HTTPS_PROXY: 'socks4://p:1080' }, null],
  ['https://a.example/', { ALL_PROXY: 'socks5h://me:x@p:1080' }, 'socks5h://me:x@p:1080'],
  ['https://a.example/', { HTTPS_PROXY: ':::' }, null],
  ['https://localhost:8080/', { HTTPS_PROXY: 'http://p:3128' }, null],
  ['http://127.0.0.1:11434/', { HTTP_PROXY: 'http://p:3128' }, null],
  ['http://[::1]/', { HTTP_PROXY: 'http://p:3128' }, null],
])('%s with %j goes through %s', (url, variables, proxy) => {
  expect(chosen(url, variables as Record<string, string>)).toBe(proxy);
});

test.each([
  ['https://a.example/', 'a.example', true],
  ['https://b.a.example/', 'a.example', true],
  ['https://b.a.example/', '.a.example', true],
  ['https://b.a.example/', '*.a.example', true],
  ['https://ba.example/', 'a.example', false],
  ['https://a.example/', 'x, A.EXAMPLE', true],
  ['https://a.example/', 'x a.example:443', true],
  ['https://a.example/', 'a.example:80', false],
  ['https://a.example/', '*', true],
  ['https://a.example/', ' , ', false],
  ['https://10.1.2.3/', '10.0.0.0/8', true],
  ['https://11.1.2.3/', '10.0.0.0/8', false],
  ['https://10.1.2.3/', '10.1.2.3', true],
  ['https://[fe80::1]/', '[fe80::1]', true],
  ['https://a.example/', '0.0.0.0/99', false],
])('%s with NO_PROXY=%s is direct: %s', (url, list, isDirect) => {
  expect(chosen(url, { HTTPS_PROXY: 'http://p:3128', NO_PROXY: list }) === null).toBe(isDirect);
});

test('user and password are sent as they are meant', () => {
  expect(proxyAuthorization(new URL('http://p:3128'))).toBeNull();
  expect(proxyAuthorization(new URL('http://me:a%40b%3A@p:3128'))).toBe(`Basic ${Buffer.from('me:a@b:').toString('base64')}`);
});
