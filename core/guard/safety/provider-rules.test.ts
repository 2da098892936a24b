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
  ['jsr-token', join('jsrp', '_', letters(40))],
  ['cursor-key', join('key', '_', hex(64))],
  ['telnyx-key', join('KEY', hex(32).toUpperCase(), '_', letters(22))],
  ['composio-key', join('uak', '_', letters(20))],
  ['browser-use-key', join('bu', '_', letters(43))],
  ['confluent-secret', join('cflt', letters(60))],
  ['nebius-token', join('v1.', 'CmMK', letters(160))],
  ['yandex-key', join('AQ', 'VN', letters(36))],
  ['yandex-key', join('YC', 'AJE', letters(20))],
  ['yandex-key', join('YC', 'M', letters(37))],
  ['vault-token', join('hvr', '.', letters(90))],
  ['vault-token', join('s', '.', letters(24))],
  ['mailgun-key', join(hex(32), '-', hex(8), '-', hex(8))],
  ['newrelic-key', join(hex(32), '0f1e', 'NR', 'AL')],
  ['yandex-token', join('t1', '.', letters(80), '.', letters(86))],
  ['tencent-key', join('AK', 'ID', letters(32))],
  ['alibaba-key', join('LTAI', '5t', letters(18))],
  ['volcengine-key', join('AK', 'LT', letters(43))],
  ['baidu-key', join('bce-v3', '/ALTAK-', letters(21), '/', hex(40))],
  ['zep-key', join('z_', '1dWlkI', letters(60), '.', letters(40))],
  ['v0-key', join('v1', ':', letters(24), ':', letters(24))],
  ['rpc-key', join('infura.io/v3/', hex(32))],
  ['rpc-key', join('alchemy.com/v2/', letters(32))],
  ['ntfy-token', join('tk', '_', letters(29).toLowerCase())],
  ['trello-token', join('AT', 'TA', hex(72))],
  ['segment-token', join('sgp', '_', letters(64))],
  ['statsig-key', join('secret', '-', letters(43))],
  ['woocommerce-key', join('cs', '_', hex(40))],
  ['sumup-key', join('sup_sk', '_', letters(32))],
  ['gocardless-token', join('live', '_', letters(20), '-', letters(19))],
  ['upcloud-token', join('ucat', '_', letters(26).toUpperCase())],
  ['backblaze-key', join('K0', '05', letters(27))],
  ['dbt-token', join('dbtc', '_', letters(40))],
  ['aiven-password', join('AV', 'NS_', letters(19))],
  ['chromatic-token', join('chpt', '_', hex(15))],
  ['openshift-token', join('sha256', '~', letters(43))],
  ['zoho-token', join('1000', '.', hex(32), '.', hex(32))],
  ['vk-token', join('vk1', '.a.', letters(180))],
  ['pinterest-token', join('pina', '_', letters(60))],
  ['adobe-secret', join('p8e', '-', letters(32))],
  ['onesignal-key', join('os_v2_app', '_', letters(103).toLowerCase())],
  ['xata-key', join('xau', '_', letters(40))],
  ['apollo-key', join('service', ':my-graph:', letters(22))],
  ['apollo-key', join('user', ':fh.', letters(22))],
  ['retool-token', join('retool', '_01', letters(40).toLowerCase())],
  ['zuplo-key', join('zpka', '_', hex(32), '_', hex(8))],
  ['percy-token', join('web', '_', hex(64))],
  ['minisign-key', join('RWRT', 'Y0Iy', letters(200))],
  ['azure-key', join(letters(76), 'AZ', 'DO', letters(4))],
  ['private-key', join('b3BlbnNz', 'aC1rZXktdjEAAAAA', letters(60), '\\n', letters(60))],
  ['password-hash', join('$2y$', '12$', letters(53))],
  ['password-hash', join('$6$', letters(16), '$', letters(86))],
  ['password-hash', join('$y$', 'j9T$', letters(22), '$', letters(43))],
  ['password-hash', join('$argon2id$', 'v=19$m=65536,t=3,p=4$', letters(22), '$', letters(43))],
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
    'API-REFERENCE-GUIDE-2026 perm-group.read.all-the-people-of-the-team ste-by-step m0-install-2024 trap tr_dev_mode dtn_0f1e2d3c sha256~not-a-digest K001 s.hasOwnPropertyDescriptor YCMn 0f1e2d3c4b5a69788796a5b4c3d2e1f0-0f1e2d3c service:web:8080 app_name web_0f1e2d3c';
  expect(safety.redact(text)).toEqual({ text, found: [] });
});
