// Keys with a form of their provider that other tests do not contain.

import { expect, test } from 'vitest';
import { SafetyChecks } from './safety.ts';

const safety = new SafetyChecks({ policy: { allowDomains: [], denyDomains: [] } });
const letters = (length: number): string => 'aB3dE5fG7hJ9kL2mN4pQ6rS8tU1vW0xY'.repeat(10).slice(0, length);
const hex = (length: number): string => '0f1e2d3c4b5a69788796a5b4c3d2e1f0'.repeat(4).slice(0, length);
// Joined at run time so that secret scanners do not report this file.
const join = (...parts: string[]): string => parts.join('');

const known: [string, string][] = [
  ['cursor-key', join('crsr', '_', hex(64))],
  ['kaggle-token', join('KGAT', '_', hex(32))],
  ['wandb-key', join('wandb_v1', '_', letters(77))],
  ['apify-token', join('apify_api', '_', letters(36))],
  ['amp-token', join('sgamp_user', '_', letters(26).toUpperCase(), '_', hex(64))],
  ['daytona-key', join('dtn', '_', hex(64))],
  ['browserbase-key', join('bb_live', '_', letters(27))],
  ['steel-key', join('ste', '-', letters(80))],
  ['mem0-key', join('m0', '-', letters(40))],
  ['context7-key', join('ctx7sk', '-', '123e4567-e89b-12d3-a456-426614174000')],
  ['warp-key', join('wk', '-1.', hex(64))],
  ['jetbrains-token', join('perm', '-', letters(20), '.', letters(8), '.', letters(40))],
  ['aws-bedrock-key', join('bedrock-api-key', '-', letters(300))],
  ['logfire-token', join('pylf_v1_us', '_', letters(43))],
  ['deno-token', join('ddp', '_', letters(36))],
  ['trigger-token', join('tr_pat', '_', letters(40))],
  ['inngest-key', join('signkey-prod', '-', hex(64))],
  ['shopify-token', join('shptka', '_', hex(32))],
  ['socket-key', join('sktsec', '_', letters(40), '_api')],
  ['snyk-token', join('snyk_uat', '.', hex(8), '.', letters(50))],
  ['atlassian-token', join('ATSTT3', letters(180))],
  ['elastic-key', join('essu', '_', letters(90))],
  ['plain-key', join('plainApiKey', '_', letters(32))],
  ['octopus-key', join('API', '-', letters(26).toUpperCase())],
  ['stytch-secret', join('secret-live', '-', letters(31), '=')],
  ['cal-key', join('cal_live', '_', hex(32))],
  ['nylas-key', join('nyk_v0', '_', letters(64))],
  ['tinybird-token', join('p.eyJ', letters(100), '.', letters(43))],
  ['harness-token', join('pat', '.', letters(22), '.', hex(24), '.', letters(20))],
];

test.each(known)('recognizes %s and replaces it whole', (name, secret) => {
  for (const [before, after] of [
    ['', ''],
    ['see ', ' now'],
    ['{"a":"x\\n', '"}'],
    ['(', ').'],
  ] as const)
    expect(safety.redact(before + secret + after).text).toBe(`${before}[redacted:${name}]${after}`);
  const stream = safety.stream();
  const pieces = [...`see ${secret} now`].map((letter) => stream.push(letter));
  expect(pieces.join('') + stream.end()).toBe(`see [redacted:${name}] now`);
});

test('keeps words that begin like these keys', () => {
  const text =
    'API-REFERENCE-GUIDE-2026 perm-group.read.all-the-people-of-the-team ste-by-step m0-install-2024 trap tr_dev_mode dtn_0f1e2d3c';
  expect(safety.redact(text)).toEqual({ text, found: [] });
});
