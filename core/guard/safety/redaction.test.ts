import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { toBase32 } from './base32.ts';
import { inPieces } from '../../../tests/rigs/in-pieces.ts';
import { SafetyChecks } from './safety.ts';
import { workMs } from '../../../tests/own-clock.ts';

const open = (): SafetyChecks => new SafetyChecks({ policy: { allowDomains: [], denyDomains: [] } });
const letters = (length: number): string => 'aB3dE5fG7hJ9kL2mN4pQ6rS8tU1vW0xY'.repeat(10).slice(0, length);
const hex = (length: number): string => '0f1e2d3c4b5a69788796a5b4c3d2e1f0'.repeat(4).slice(0, length);
// Joined at run time so that secret scanners do not report this file.
const join = (...parts: string[]): string => parts.join('');

const quotedPrintable = (char: string): string =>
  /[A-Za-z0-9 ]/.test(char) ? char : Buffer.from(char).toString('hex').toUpperCase().replace(/../g, '=$&');

const value = 'S3cr3t/+"va\'lue&<ü> %$x';
const forms: [string, (text: string) => string][] = [
  ['plain', (text) => text],
  ['JSON', (text) => JSON.stringify({ text })],
  ['JSON in JSON', (text) => JSON.stringify(JSON.stringify({ text }))],
  ['ASCII JSON', (text) => JSON.stringify(text).replace(/ü/g, '\\u00fc')],
  ['URL', (text) => encodeURIComponent(text)],
  ['URL, lower case', (text) => encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase())],
  ['form', (text) => new URLSearchParams({ text }).toString()],
  [
    'HTML',
    (text) =>
      text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;'),
  ],
  ['shell', (text) => `'${text.replaceAll("'", `'\\''`)}'`],
  ['hex', (text) => Buffer.from(text).toString('hex')],
  ['HEX', (text) => Buffer.from(text).toString('hex').toUpperCase()],
  ['UTF-16 base64', (text) => Buffer.from(text, 'utf16le').toString('base64')],
  ['HTML with leading zeros', (text) => [...text].map((char) => `&#000000${char.codePointAt(0)};`).join('')],
  ['C, long', (text) => [...text].map((char) => `\\U${(char.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`).join('')],
  ['the colours of a terminal', (text) => text.replace(/(.{4})(.{3})/gu, '$1\u001b[01;31m\u001b[K$2\u001b[m')],
  ['characters that cannot be seen', (text) => text.replace(/(.)/gu, '$1\u200b\u00ad\u202e\ufe0f')],
  ['UTF-16 read as bytes', (text) => Buffer.from(text, 'utf16le').toString('latin1')],
  ['a JSON list of bytes', (text) => JSON.stringify([...Buffer.from(text)])],
  ['bytes in decimal', (text) => Buffer.from(text).join(' ')],
  ['bytes in hex', (text) => Array.from(Buffer.from(text), (byte) => `0x${byte.toString(16)}`).join(', ')],
  [
    'hex with colons',
    (text) =>
      Buffer.from(text)
        .toString('hex')
        .replace(/(..)(?=.)/g, '$1:'),
  ],
  [
    'quoted-printable',
    (text) =>
      Array.from(text, quotedPrintable)
        .join('')
        .replace(/(=\w\w\w)(?=.)/g, '$1=\n'),
  ],
  ['quoted-printable, folded', (text) => text.replace(/(.{6})/gu, '$1=\r\n')],
  ['ROT13', (text) => text.replace(/[a-z]/gi, (char) => String.fromCharCode(char.charCodeAt(0) + (/[a-m]/i.test(char) ? 13 : -13)))],
  ['folded plain', (text) => text.replace(/(.{5})/g, '$1\n')],
  ...[0, 1, 2, 3, 4].map((before): [string, (text: string) => string] => [
    `base32 at ${before}`,
    (text) => toBase32(Buffer.from('x'.repeat(before) + text + 'yz')),
  ]),
  ['base32 behind other bytes', (text) => toBase32(Buffer.concat([Buffer.alloc(3, 0xff), Buffer.from(text)]))],
  ['base32 in lower case', (text) => toBase32(Buffer.from(text)).toLowerCase()],
  ...[0, 1, 2, 3].flatMap((before): [string, (text: string) => string][] => [
    [`base64 at ${before}`, (text) => Buffer.from('x'.repeat(before) + text + 'yz').toString('base64')],
    [`base64url at ${before}`, (text) => Buffer.from('x'.repeat(before) + text).toString('base64url')],
    [
      `folded base64 at ${before}`,
      (text) =>
        Buffer.from('x'.repeat(before) + text)
          .toString('base64')
          .replace(/(.{7})/g, '$1\r\n'),
    ],
  ]),
];

test.each(forms)('a registered value does not survive as %s', (_, encode) => {
  const safety = open();
  safety.register(value, 'my key');
  const { text, found } = safety.redact(`before ${encode(value)} after`);
  expect(found).toEqual(['my_key']);
  expect(text).toMatch(/^before .*\[redacted:my_key\].* after$/s);
  const left = text.replaceAll('[redacted:my_key]', '').replace(/^before | after$/g, '');
  expect(left.length).toBeLessThanOrEqual('"{\\"text\\":\\"\\"}"'.length);
});

test('redacts any value in any encoding and any pieces', () => {
  const anyValue = fc.string({ unit: 'binary', minLength: 8, maxLength: 60 }).filter((text) => text.replace(/[\s'"\\`+]/g, '').length >= 8);
  fc.assert(
    fc.property(anyValue, fc.constantFrom(...forms), fc.array(fc.nat({ max: 12 })), (secret, [, encode], cuts) => {
      const safety = open();
      safety.register(secret, 'k');
      const encoded = encode(secret);
      const text = `a ${encoded} b`;
      const stream = safety.stream();
      let streamed = '';
      let at = 0;
      for (const cut of cuts) {
        streamed += stream.push(text.slice(at, at + cut));
        at += cut;
      }
      streamed += stream.push(text.slice(at)) + stream.end();
      const redacted = safety.redact(text).text;
      expect(streamed).toBe(redacted);
      expect(redacted).toContain('[redacted:k]');
    }),
    { numRuns: 100 },
  );
});

test('a value with escapes cut anywhere leaves no backslash behind', () => {
  const secret = '\u0000'.repeat(8);
  const text = `a ${JSON.stringify(JSON.stringify({ text: secret }))} b`;
  const whole = open();
  whole.register(secret, 'k');
  const expected = whole.redact(text).text;
  expect(expected).toContain('[redacted:k]');
  for (let first = 0; first < 24; first++) {
    for (let second = 0; second < 6; second++) {
      const safety = open();
      safety.register(secret, 'k');
      const stream = safety.stream();
      const pieces = [text.slice(0, first), text.slice(first, first + second), text.slice(first + second)];
      expect([first, second, pieces.map((piece) => stream.push(piece)).join('') + stream.end()]).toEqual([first, second, expected]);
    }
  }
});

test('refuses short values, finds a line of a long one, and uses the newest name', () => {
  const safety = open();
  expect([safety.register('1234567', 'pin'), safety.register('12345678', 'old'), safety.register('12345678', 'new')]).toEqual([
    false,
    true,
    true,
  ]);
  expect(safety.redact('x12345678x 1234567').text).toBe('x[redacted:new]x 1234567');
  safety.register(`first line\n${letters(40)}\nlast line`, 'file');
  expect(safety.redact(`see ${letters(40)}.`).text).toBe('see [redacted:file].');
});

test('keeps the text directly after a value of eight characters', () => {
  const safety = open();
  safety.register('12345678', 'pin');
  expect(safety.redact('{"pin":"12345678", "next": 1}').text).toBe('{"pin":"[redacted:pin]", "next": 1}');
});

const within: [string, (text: string) => string][] = [
  ['a URL in base64', (text) => Buffer.from(`https://example.org/?q=${encodeURIComponent(text)}&page=1`).toString('base64')],
  ['JSON in base64', (text) => Buffer.from(JSON.stringify({ a: `one\ntwo ${text}` })).toString('base64')],
  ['folded base64 in JSON', (text) => JSON.stringify(folded(Buffer.from(`${'some words before it '.repeat(3)}${text}`)))],
  ['base64 in a URL in base64', (text) => Buffer.from(encodeURIComponent(folded(Buffer.from(`one two three ${text}`)))).toString('base64')],
];
const folded = (bytes: Buffer): string => bytes.toString('base64').replace(/(.{64})/g, '$1\n');
const nested = [join('AccountKey=', 'kEX/oTDk984T9LeRE2K+41141WH9AXLh7ScQ0xDyjMhKsiNcWZPxLYnO0SW/6zumRBxoeVhMsreM5Yu64Faj', 'I=='), value];

test.each(within)('finds a secret in %s, whole and in any pieces', (_, encode) => {
  for (const secret of nested) {
    const text = `a ${encode(secret)} b`;
    const safety = open();
    safety.register(value, 'my key');
    const whole = safety.redact(text).text;
    expect(whole).toMatch(/\[redacted:(?:my_key|azure-storage-key)\]/);
    for (let size = 1; size < 40; size++) expect(inPieces(safety, text, size)).toBe(whole);
  }
});

const jwt = join('eyJ', 'hbGciOiJIUzI1NiJ9', '.eyJ', 'zdWIiOiIxMjM0NTY3ODkwIn0', '.', letters(43));
const known: [string, string][] = [
  ['openai-key', join('sk-proj', '-', letters(48))],
  ['api-key', join('sk', '-', letters(48))],
  ['anthropic-key', join('sk-ant', '-api03-', letters(80))],
  ['openrouter-key', join('sk-or', '-v1-', hex(64))],
  ['xai-key', join('xai', '-', letters(80))],
  ['google-api-key', join('AIza', letters(35))],
  ['aws-access-key-id', join('AKIA', 'IOSFODNN7QWERTYU')],
  ['github-token', join('ghp', '_', letters(36))],
  ['github-token', join('github', '_pat_', letters(82))],
  ['gitlab-token', join('glpat', '-', letters(20))],
  ['slack-token', join('xoxb', '-123456789012-', letters(24))],
  ['slack-webhook', join('hooks.slack', '.com/services/T00000000/B00000000/', letters(24))],
  ['stripe-key', join('sk', '_live_', letters(24))],
  ['telegram-token', join('123456789', ':', 'AAH', letters(32))],
  ['discord-token', join('MTIz', 'NDU2Nzg5MDEyMzQ1Njc4', '.Gabcde.', letters(38))],
  ['npm-token', join('npm', '_', letters(36))],
  ['pypi-token', join('pypi', '-AgEIcHlwaS5vcmc', letters(60))],
  ['jwt', jwt],
  ['age-key', join('AGE-SECRET', '-KEY-1', 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE')],
  ['azure-storage-key', join('Account', 'Key=', letters(86), '==')],
  ['azure-client-secret', join('abc', '8Q~', letters(34))],
  ['twilio-key', join('SK', hex(32))],
  ['sendgrid-key', join('SG', '.', letters(22), '.', letters(43))],
  ['huggingface-token', join('hf', '_', letters(34))],
  ['groq-key', join('gsk', '_', letters(52))],
  ['card-number', '4242 4242 4242 4242'],
  ['card-number', '378282246310005'],
  ['iban', 'DE89 3704 0044 0532 0130 00'],
  ['iban', 'GB82WEST12345698765432'],
];

test.each(known)('recognizes %s anywhere and replaces it whole', (name, secret) => {
  const safety = open();
  for (const [before, after] of [
    ['', ''],
    ['see ', ' now'],
    ['{"a":"x\\n', '"}'],
    ['(', ').'],
    ['\n', '\n'],
  ] as const) {
    expect(safety.redact(before + secret + after)).toEqual({ text: `${before}[redacted:${name}]${after}`, found: [name] });
  }
});

const inContext: [string, string, string][] = [
  ['DB_PASSWORD=hunter2-hunter2', 'hunter2-hunter2', 'secret'],
  ['export OPENAI_API_KEY_PROD="abcd1234efgh5678"', 'abcd1234efgh5678', 'secret'],
  [`{"client_secret": "${letters(20)}"}`, letters(20), 'secret'],
  [`{\\"apiKey\\": \\"${letters(20)}\\"}`, letters(20), 'secret'],
  ['mysql --password s3cretPass9 db', 's3cretPass9', 'secret'],
  [`config['token'] = '${letters(24)}'`, letters(24), 'secret'],
  [`X-Api-Key: ${letters(24)}`, letters(24), 'secret'],
  [`api_key=${hex(32)}`, hex(32), 'secret'],
  [`aws_secret_access_key = ${letters(40)}`, letters(40), 'aws-secret-key'],
  [`Authorization: Bearer ${letters(30)}`, letters(30), 'bearer-token'],
  [`-H "Authorization: Basic ${Buffer.from('user:pass1234').toString('base64')}"`, 'dXNlcjpwYXNzMTIzNA==', 'basic-credentials'],
  ['postgres://admin:s3cr3t-pw@db.example.org/x', 's3cr3t-pw', 'url-password'],
  [`Set-Cookie: sid=${letters(24)}; Path=/`, `sid=${letters(24)}; Path=/`, 'cookie'],
];

test.each(inContext)('%s', (text, secret, name) => {
  const redacted = text.replace(secret, `[redacted:${name}]`);
  expect(open().redact(text)).toEqual({ text: redacted, found: [name] });
  expect(open().redact(redacted).text).toBe(redacted);
});

const pem = join('-----BEGIN RSA ', 'PRIVATE KEY-----\n', `${letters(64)}\n${letters(64)}\n`);

test('redacts a private key from its first line to its last, also when truncated', () => {
  const footed = join(pem, '-----END RSA ', 'PRIVATE KEY-----');
  expect(open().redact(`a\n${footed}\nb`).text).toBe('a\n[redacted:private-key]\nb');
  expect(open().redact(JSON.stringify(footed)).text).toBe('"[redacted:private-key]"');
  expect(open().redact(`a\n${pem}`).text).toBe('a\n[redacted:private-key]\n');
});

test('a value that includes the next key does not hide the next value', () => {
  const text = `token=${letters(24)}X-Api-Key: ${letters(24)}`;
  expect(open().redact(text).text).not.toContain(letters(24));
});

const harmless = [
  'id,token,pos\n1,foo,2\n2,barBaz12,3',
  '| Setting | Secret |\n|---|---|\n| a | no |\n| b | yes, in 2025 |',
  'password_hash_algorithm: argon2id token: TokenKind::Ident1 password - at least 12 characters (password (optional))',
  'const f = (password: string) => check(password, "argon2id-v19"); PASS=12 FAIL=0 PASSWORD=$SECRET1 CACHE_KEY=v3-linux-node-24',
  'commit da39a3ee5e6b4b0d3255bfef95601890afd80709',
  'token: da39a3ee5e6b4b0d3255bfef95601890afd80709',
  'id 123e4567-e89b-12d3-a456-426614174000, token=123e4567-e89b-12d3-a456-426614174000',
  '"integrity": "sha512-aFT2yU9HNVs3mZ3Wq1Bj8yLNzM2Tf1Xn0vVzO4mQ8Qe8i6rj2pX4hGzYJ9U0fJ6Qd1qV3bH5L7kC8tE2sR4wA=="',
  'const token = await getToken1234();',
  'password: string; secret: process.env.SECRET_1; apiKey: config.keys.first2',
  'token_type=abcdefgh12345 password_file=/run/secrets/db2 secret_name: my-tls-cert-01',
  'max_tokens: 4096, tokens=123456789012, inputTokens: 12345678',
  'password=$DB_PASSWORD1 token={{ token1 }} secret=${S3CRET_X} api_key=your_api_key_1 pwd=********',
  'at 1750000000000 and 1750000000000000, 4242424242424241, order 4111111111111112',
  'task-sk-spinner-large disk-usage-report-2024 MTU 1500 SKU AC SK',
  'https://example.org:8080/a@b git@github.com:user/repo.git http://localhost:3000/?a=b:c@d',
  'pass: 12 passed1234567 "pass": "Letter-spacing is set" bypass: true12345 compass=northwest1 _build_path: a1b2c3d4',
  'the token is base64-encoded1; the password is Argon2id-Hashed; token is CommaToken$1; exports.forEachToken = forEachToken',
  'https://example.org/?key=Some-long-anchor-2024-Xyz&page=2&session=default-session-1 https://ada@example.org /a?v=0f1e2d3c4b5a6978',
  'docker run -p 127.0.0.1:8080:8080 x; mkdir -p src/components1; ssh -p 2222 ada@x; curl -u ada https://x; rsync -u a:b1c2d3 e',
  'Authorization: Bearer <token>, Authorization: Basic $TOKEN1, the authorization: required-for-all-2 {"k":"v1"} {"d":"M12 2L2 7l10 5 10-5-10-5z"}',
  'fw_version=1.2.3 rnd_seed=12 re_match_something_here live_reload_enabled pk_live_aB3dE5fG7hJ9kL2mN4pQ6rS8tU1vW0 sdk-version api-gateway-2',
  '| key | value |\n| API_KEY | Your API key 1 |; cat secret | sha256sum12; name: DB_PASSWORD\n  valueFrom: secretKeyRef1',
  '<password>${db.password1}</password> <token>string</token> session_id: 123e4567-e89b-12d3-a456-426614174000',
  `public_key=${hex(64)} cache_key=${hex(40)} sort-key: created1_at2 password_sha256: ${hex(64)} idempotency-key: x1y2`,
  'the bearer of this letter; Basic usage of the thing; a secret is a secret: always',
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
];

test.each(harmless)('keeps unchanged: %s', (text) => {
  expect(open().redact(text)).toEqual({ text, found: [] });
});

test("keeps a lock file of integrity hashes and this project's sources unchanged", () => {
  for (const path of ['package-lock.json', 'core/contracts/ops.ts', 'core/contracts/config.ts', 'core/guard/safety/provider-rules.ts']) {
    expect(open().redact(readFileSync(path, 'utf8')).found).toEqual([]);
  }
});

const RUNS = 200;
const piece = fc.oneof(
  fc.constantFrom(...known.map(([, secret]) => secret)),
  fc.constantFrom(...inContext.map(([text]) => text)),
  fc.constantFrom(...harmless),
  fc.constantFrom(' ', '\n', '", "', '-', ': ', '=', 'word ', '4242', 'DE', 'sk-', 'password', '"', pem),
);

test('a stream in any pieces gives the same result as the whole text', () => {
  const safety = open();
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), fc.array(fc.nat({ max: 30 }), { maxLength: 40 }), (pieces, cuts) => {
      const text = pieces.join('');
      const whole = safety.redact(text).text;
      const stream = safety.stream();
      let streamed = '';
      let at = 0;
      for (const cut of cuts) {
        streamed += stream.push(text.slice(at, at + cut));
        at += cut;
      }
      streamed += stream.push(text.slice(at)) + stream.end();
      expect(streamed).toBe(whole);
    }),
    { numRuns: RUNS },
  );
});

test('does not redact a token glued to other letters, in a stream as in a whole', () => {
  const safety = open();
  for (let behind = 0; behind <= 150; behind++) {
    const text = `${hex(40)}${jwt}${'aB3dE5fG7h'.repeat(15).slice(0, behind)}Set-Cookie: sid=aB3dE5fG7hJ9kL2mN4pQ6rS8; Path=/`;
    const stream = safety.stream();
    expect(stream.push(text) + stream.end()).toBe(safety.redact(text).text);
  }
});

test('ordinary text passes a stream at once, at most a word or two behind', () => {
  const stream = open().stream();
  let behind = 0;
  for (const word of 'Here is the answer you asked for: forty-two, as the token of a story; nothing else was found.'.split(/(?= )/)) {
    behind += word.length - stream.push(word).length;
    expect(behind).toBeLessThan(16);
  }
  expect(stream.end().length).toBe(behind);
});

test('limits the text that a stream holds back', () => {
  const stream = open().stream();
  let given = stream.push('://').length;
  for (let i = 0; i < 100; i++) given += stream.push('a'.repeat(1000)).length;
  given += stream.push(join('-----BEGIN ', 'PRIVATE KEY-----\n')).length;
  for (let i = 0; i < 100; i++) given += stream.push('word. '.repeat(200)).length;
  expect(given).toBeGreaterThan(100_000 + 120_000 - 66_000);
});

test('stays fast for text made to be slow', () => {
  const safety = open();
  safety.register('abababababababababab-1', 'k');
  const seeds = [
    'eyJ-',
    'eyJ.',
    'bearer+1',
    'cookie:a=b1;',
    '://',
    '://a:',
    'password=a1',
    '-----BEGIN ',
    'sk-',
    '4242 ',
    'DE89 3704 ',
    'ab',
    'secret_',
  ];
  const tookMs = workMs(() => {
    for (const seed of [...seeds, ...known.map(([, secret]) => secret.slice(0, 12))]) {
      safety.redact(seed.repeat(Math.ceil(100_000 / seed.length)));
    }
  });
  expect(tookMs).toBeLessThan(6000);
});

test.each([
  ['one run', 'B'.repeat(8_000_000)],
  ['lines that are no base64', `${'B'.repeat(76)}\n`.repeat(30_000)],
  ['words as long as a run', 'abcdefghijklmnopqrst '.repeat(100_000)],
  ['a list of bytes', '1,'.repeat(2_000_000)],
  ['a list of bytes in hex', '0x1,'.repeat(1_000_000)],
])('megabytes of %s are read in time, with a secret at the end', { timeout: 30_000 }, (_, text) => {
  const safety = open();
  safety.register('correct horse battery', 'k');
  const numbers = [...Buffer.from('correct horse battery')].join(',');
  for (const form of ['correct horse battery', Buffer.from('correct horse battery').toString('base64'), numbers])
    expect(safety.redact(`${text}\n${form}`).text.slice(-20)).toContain('[redacted:k]');
  const joined = safety.redact(`${'1,'.repeat(2990)}${numbers}`).text;
  expect(joined).toContain('[redacted:k]');
});
