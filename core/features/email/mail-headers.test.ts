import { expect, test } from 'vitest';
import { isAutomatic, isProven, messageIds, readHeaders } from './mail-headers.ts';

const from = 'ada@people.example';
const mx = 'mx.tray.example';
const proven = (...verdicts: string[]): boolean =>
  isProven(readHeaders(verdicts.map((one) => `Authentication-Results: ${one}`).join('\r\n')), from, mx);

test.each([
  ['mx.tray.example; dmarc=pass header.from=people.example'],
  ['mx.tray.example 1; spf=fail; dmarc=pass (p=reject) header.from=people.example'],
  ['mx.tray.example; dkim=pass header.d=people.example header.s=k1'],
  ['MX.tray.example;\r\n\tdkim=pass header.i=@people.example'],
  ['"mx.tray.example"; dmarc=pass (reason "x) header.from="people.example"'],
])('a sender is proven by %s', (verdict) => {
  expect(proven(verdict)).toBe(true);
});

test.each([
  ['of another server', 'mx.evil.example; dmarc=pass header.from=people.example'],
  ['that failed', 'mx.tray.example; dmarc=fail header.from=people.example'],
  ['for another domain', 'mx.tray.example; dmarc=pass header.from=evil.example'],
  ['for a domain that ends alike', 'mx.tray.example; dkim=pass header.d=ople.example'],
  ['for a whole top-level domain', 'mx.tray.example; dkim=pass header.d=example'],
  ['for a domain below', 'mx.tray.example; dkim=pass header.d=mail.people.example'],
  ['of SPF alone', 'mx.tray.example; spf=pass smtp.mailfrom=people.example'],
  ['inside a comment', 'mx.tray.example; dmarc=fail (x; dmarc=pass header.from=people.example) header.from=evil.example'],
  ['inside a comment, as a whole', 'mx.tray.example; dmarc=fail (x; dmarc=pass header.from=people.example ; y) header.from=evil.example'],
  ['after an escaped end of a comment', String.raw`mx.tray.example; dmarc=fail (x \); dmarc=pass header.from=people.example; y)`],
  ['inside a quoted address', 'mx.tray.example; spf=pass smtp.mailfrom="x; dmarc=pass header.from=people.example; y"@evil.example'],
  [
    'after an escaped quote',
    String.raw`mx.tray.example; spf=pass smtp.mailfrom="x\" ; dmarc=pass header.from=people.example; y"@evil.example`,
  ],
  ['that is none', 'mx.tray.example; none'],
  ['whose server has a longer name', 'mx.tray.example.evil.example; dmarc=pass header.from=people.example'],
])('a sender is not proven by a verdict %s', (_what, verdict) => {
  expect(proven(verdict)).toBe(false);
});

test('uses the first verdict of the receiving server and ignores later, forged ones', () => {
  const forged = 'mx.tray.example; dmarc=pass header.from=people.example';
  expect(proven('mx.tray.example; dmarc=fail header.from=people.example', forged)).toBe(false);
  expect(proven('mx.other.example; dmarc=fail', forged)).toBe(true);
});

test.each([
  ['Auto-Submitted: auto-replied'],
  ['Auto-Submitted: auto-generated; owner="x"'],
  ['List-Id: <news.example>'],
  ['List-Unsubscribe: <mailto:x@example.org>'],
  ['Precedence: bulk'],
  ['Return-Path: <>'],
  ['Content-Type: multipart/report; report-type=delivery-status; boundary=x'],
  ['X-Autoreply: yes'],
  ['X-Failed-Recipients: a@example.org'],
])('mail with "%s" counts as sent by a program', (header) => {
  expect(isAutomatic(readHeaders(header), from)).toBe(true);
  expect(isAutomatic(readHeaders(`Subject: hello\r\nX-Note: ${header}`), from)).toBe(false);
});

test('detects mail of programs by the address, and not every "no" is one', () => {
  for (const robot of ['MAILER-DAEMON@x.example', 'no-reply@x.example', 'noreply+17@x.example', 'bounces-3@x.example'])
    expect(isAutomatic([], robot)).toBe(true);
  for (const person of ['norbert@x.example', 'replies@x.example']) expect(isAutomatic([], person)).toBe(false);
  expect(isAutomatic(readHeaders('Auto-Submitted: no'), from)).toBe(false);
});

test('joins folded headers and finds the message ids in them', () => {
  const headers = readHeaders('References: <a@x>\r\n\t<b@x>\r\nSubject: one\r\n two\r\nbroken line\r\n');
  expect(headers).toEqual([
    { name: 'references', value: '<a@x> <b@x>' },
    { name: 'subject', value: 'one two' },
  ]);
  expect(messageIds([headers[0]?.value ?? ''])).toEqual(['<a@x>', '<b@x>']);
});
