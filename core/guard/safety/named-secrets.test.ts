import { expect, test } from 'vitest';
import { inPieces } from '../../../tests/rigs/in-pieces.ts';
import { SafetyChecks } from './safety.ts';
import { growth } from '../../../tests/own-clock.ts';

const open = (): SafetyChecks => new SafetyChecks({ policy: { allowDomains: [], denyDomains: [] } });
const letters = (length: number): string => 'aB3dE5fG7hJ9kL2mN4pQ6rS8tU1vW0xY'.repeat(10).slice(0, length);
const hex = (length: number): string => '0f1e2d3c4b5a69788796a5b4c3d2e1f0'.repeat(4).slice(0, length);
// Joined at run time so that secret scanners do not report this file.
const weak = ['S0mmer', '2025!'].join('');
const named = [
  'DB_PASS=§',
  'Mot de passe : §',
  'Пароль: §',
  '密码：§',
  'passcode: §',
  'pw: §',
  '**Password:** §',
  '**Password**: `§`',
  '<td>Password</td><td>§</td>',
  '<key>password</key>\n<string>§</string>',
  '<input type="password" name="p" value="§">',
  'password     =     §',
  'password -> §',
  'password → §',
  'password - §',
  'password (§)',
  'Password\t§',
  'Use the password "§" to sign in.',
  'La password è §',
  '.setPassword("§");',
  "os.environ.get('DB_PASSWORD', '§')",
  "CREATE USER u WITH PASSWORD '§';",
  'password: >-\n  §',
  'Content-Disposition: form-data; name="password"\r\n\r\n§\r\n',
  "sqlcmd -S h -U sa -P '§'",
  "zip -P '§' a.zip b",
  'lftp -u u,§ h',
  'WIFI:T:WPA;S:Home;P:§;;',
  'user:§@tcp(127.0.0.1:3306)/db',
];

test.each(named)('redacts a value behind what says it is a password: %s', (form) => {
  const { text, found } = open().redact(form.replace('§', weak));
  expect([text.includes(weak), found.length]).toEqual([false, 1]);
});

// Weak values count where nothing but a password can be.
test.each([
  ['DB_PASSWORD=letmein', 'letmein'],
  ['password: hunter2\n', 'hunter2'],
  ['{"password":"84729163"}', '84729163'],
  [`FAL_KEY=123e4567-e89b-42d3-a456-426614174000:${hex(32)}`, hex(32)],
])('redacts the weak value of %s', (text, secret) => {
  expect(open().redact(text).text).not.toContain(secret);
});

const secretKey = letters(40);
test.each([
  `HUAWEICLOUD_SK=${secretKey}`,
  `export VOLC_SK="${secretKey}"`,
  `ak: HPUA1B2C3D4E5F6G7H8I\nsk: ${secretKey}`,
  `[cloud]\nsk = ${secretKey}`,
  `{"ak":"HPUA1B2C3D4E5F6G7H8I","sk":"${secretKey}"}`,
  `+QIANFAN_SK=${hex(32)}`,
  `export BW_SESSION="${letters(86)}=="`,
  `bw list items --session ${letters(86)}==`,
  `{"username":"ana","totp":"${['JBSWY3DP', 'EHPK3PXP'].join('')}"}`,
  `https://a.example/k?OSSAccessKeyId=x&Signature=${letters(27)}%3D`,
  `https://a.example/k?q-ak=x&q-signature=${hex(40)}`,
])('redacts the secret alone: %s', (text) => {
  const { text: shown, found } = open().redact(text);
  expect(found).toHaveLength(1);
  expect(shown).not.toMatch(/aB3dE5fG|JBSWY3DP|0f1e2d3c/);
});

test('keeps what only ends like the name of a secret key', () => {
  const text =
    'task: buildEverything2024AndMore risk=veryLowInThisCase2026 disk: "nvme0n1p2SomeLongName7" https://a.example/b?sk=987fdc4c7b0';
  expect(open().redact(text)).toEqual({ text, found: [] });
});

// Joined at run time as well.
const signed = ['Tr0ub', '4dor&3x'].join('');
const odd = ['aB3$,x', '(9)k;Q|z&'].join('');

test.each([
  [`password: ${signed}`, signed],
  [`my password is ${signed}Y`, signed],
  [`DB_PASSWORD=${signed} npm start`, signed],
  [`{"password":"${odd}"}`, odd],
  [`password: '${odd}'`, odd],
  [String.raw`{\"passwd\":\"${odd}\"}`, odd],
])('redacts a password with signs to its end, whole and in any pieces: %s', (text, secret) => {
  const whole = open().redact(text).text;
  expect(whole).not.toContain(secret.slice(-4));
  for (let size = 1; size < 30; size++) expect(inPieces(open(), text, size)).toBe(whole);
});

test.each([
  ['the next parameter', 'password=abc12345x&user=bob', 'password=[redacted:secret]&user=bob'],
  ['the next command', 'PASSWORD=abc12345x&&ls', 'PASSWORD=[redacted:secret]&&ls'],
  ['a slot', 'password: "{{vars.PASSWORD1,x}}"', 'password: "{{vars.PASSWORD1,x}}"'],
  ['a variable', 'password: "${process.env.DB_PASS1}"', 'password: "${process.env.DB_PASS1}"'],
  ['a placeholder', 'password="<your-Password1>"', 'password="<your-Password1>"'],
  ['a call', 'const password = "getValue(Input1)"', 'const password = "getValue(Input1)"'],
])('a password ends before, or is not, %s', (_, text, shown) => {
  expect(open().redact(text).text).toBe(shown);
});

const tables: [string, string[]][] = [
  [`# Accounts\n\n\tA\tB\tC\n1\tUser\tPassword\tNote\n2\tada\t${weak}\tx\n3\tbob\thunter2\ty\n\nend`, [weak, 'hunter2']],
  [`user;passwort\nada;${weak}\nbob;aB3dE5fG7hJ9\n`, [weak, 'aB3dE5fG7hJ9']],
  [`| Host | API key |\n|---|---|\n| a | ${letters(20)} |\n`, [letters(20)]],
  [`name,"password",url\n"b, c","${weak}",https://x.example\n\nthe end`, [weak]],
];

test.each(tables)('redacts a column called what it holds, whole and in any pieces: %j', (text, secrets) => {
  const whole = open().redact(text).text;
  for (const secret of secrets) expect(whole).not.toContain(secret);
  expect(whole.split('\n')).toHaveLength(text.split('\n').length);
  for (let size = 1; size < 40; size++) expect(inPieces(open(), text, size)).toBe(whole);
});

test.each([
  ['cells whose quotes do not end', `user,password\n${'"a,'.repeat(100_000)},y\n`],
  ['a cell of white space', `user,password\nx${' '.repeat(300_000)}x,y\n`],
  ['lines that could be headings', 'a,password\n'.repeat(30_000)],
  ['names of secret keys', 'sk: sk="sk=a1B2'.repeat(20_000)],
  ['parts of keys', `${'s.a'.repeat(25_000)}${'0f1e2d3c-'.repeat(25_000)}`],
  ['words that could be headings', `${'my password, '.repeat(150)}\n`.repeat(150)],
])('300 KB of %s are read in time', (_, text) => {
  expect(growth(text, (part) => open().redact(part))).toBeLessThan(20);
});
