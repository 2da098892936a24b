import { expect, test } from 'vitest';
import { toBase32 } from './base32.ts';
import { SafetyChecks } from './safety.ts';

const open = (): SafetyChecks => new SafetyChecks({ policy: { allowDomains: [], denyDomains: [] } });
const letters = (length: number): string => 'aB3dE5fG7hJ9kL2mN4pQ6rS8tU1vW0xY'.repeat(2).slice(0, length);
// Joined at run time so that secret scanners do not report this file.
const join = (...parts: string[]): string => parts.join('');

/** Each at the start of a line, as the program writes it. */
const dumps: [string, (text: string) => string][] = [
  ['xxd', (text) => dump(text, { address: ': ', width: 2, gap: '  ', around: '' })],
  ['hexdump -C', (text) => dump(text, { address: '  ', width: 1, gap: '  ', around: '|' })],
  ['od -tx1', (text) => dump(text, { address: ' ', width: 1 })],
  ['hexdump', (text) => dump(text, { address: ' ', width: 2, isSwapped: true })],
  ['xxd -e', (text) => dump(text, { address: ': ', width: 4, isSwapped: true, gap: '  ', around: '' })],
  ['od -b', (text) => rows(text, (bytes) => bytes.map((byte) => ` ${byte.toString(8).padStart(3, '0')}`).join(''))],
  ['od -c', (text) => rows(text, (bytes) => bytes.map(cell).join(''))],
  ['xxd -b', bitRows],
  ['od -tu1', (text) => rows(text, decimalRow)],
  ['od -An -tu1', (text) => rows(text, decimalRow).replaceAll(/^\d{7}/gm, '')],
  [
    'od',
    (text) =>
      rows(text, (bytes) =>
        bytes
          .flatMap((byte, at) => (at % 2 === 0 ? [` ${(byte + ((bytes[at + 1] ?? 0) << 8)).toString(8).padStart(6, '0')}`] : []))
          .join(''),
      ),
  ],
];

/** In rows of six bytes, with a column of text. */
function bitRows(text: string): string {
  const bytes = Buffer.from(text);
  const lines = Array.from({ length: Math.ceil(bytes.length / 6) }, (_, at) => {
    const row = bytes.subarray(at * 6, at * 6 + 6);
    const digits = [...row].map((byte) => byte.toString(2).padStart(8, '0')).join(' ');
    return `${(at * 6).toString(16).padStart(8, '0')}: ${digits.padEnd(54)} ${row.toString('latin1').replace(/[^ -~]/g, '.')}`;
  });
  return `\n${lines.join('\n')}\n`;
}

const decimalRow = (bytes: number[]): string => bytes.map((byte) => String(byte).padStart(4)).join('');

const cell = (byte: number): string =>
  byte >= 0x20 && byte < 0x7f ? `   ${String.fromCharCode(byte)}` : ` ${byte.toString(8).padStart(3, '0')}`;

function rows(text: string, row: (bytes: number[]) => string): string {
  const bytes = [...Buffer.from(text)];
  const lines = Array.from(
    { length: Math.ceil(bytes.length / 16) },
    (_, at) => `${(at * 16).toString(8).padStart(7, '0')}${row(bytes.slice(at * 16, at * 16 + 16))}`,
  );
  return `\n${lines.join('\n')}\n`;
}

interface DumpForm {
  readonly address: string;
  /** Bytes in a group. */
  readonly width: number;
  readonly isSwapped?: boolean;
  readonly gap?: string;
  readonly around?: string;
}

function dump(text: string, { address, width, isSwapped = false, gap, around = '' }: DumpForm): string {
  const bytes = Buffer.from(text);
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = bytes.subarray(at, at + 16);
    const groups: string[] = [];
    for (let from = 0; from < row.length; from += width) {
      const group = [...row.subarray(from, from + width)].map((byte) => byte.toString(16).padStart(2, '0'));
      groups.push((isSwapped ? group.toReversed() : group).join(''));
    }
    const shown = row.toString('latin1').replace(/[^ -~]/g, '.');
    const digits = groups.join(' ').padEnd((16 / width) * (width * 2 + 1) - 1);
    lines.push(
      `${at.toString(16).padStart(8, '0')}${address}${gap === undefined ? groups.join(' ') : `${digits}${gap}${around}${shown}${around}`}`,
    );
  }
  return `\n${lines.join('\n')}\n`;
}

test.each(dumps)('a registered value does not survive a dump by %s, whole or in pieces', (_, encode) => {
  const secret = 'S3cr3t/va=lue-&<%$x and more';
  // The last one ends in a row of four bytes, which is too short for a list of numbers.
  for (const [before, after] of [
    ['', ' after'],
    ['abc', ' after'],
    ['twelve bytes', ' after'],
    ['8 bytes ', ''],
  ] as const) {
    const safety = open();
    safety.register(secret, 'k');
    const text = `x${encode(`${before}${secret}${after}`)}\nend`;
    const redacted = safety.redact(text).text;
    expect(redacted).toMatch(/\[redacted:k\]/);
    expect(redacted).not.toMatch(/S3cr3t|va=lue|and more|5333|3353/);
    for (const size of [1, 7, 40]) {
      const stream = safety.stream();
      let streamed = '';
      for (let at = 0; at < text.length; at += size) streamed += stream.push(text.slice(at, at + size));
      expect(streamed + stream.end()).toBe(redacted);
    }
  }
});

test('finds an unregistered token in base32 and in dumps, and leaves hashes and addresses alone', () => {
  const token = join('gh', 'p_', letters(36));
  for (const [, encode] of dumps) expect(open().redact(`x${encode(`a ${token} b`)}`).found).toEqual(['github-token']);
  for (const before of ['', ' ', 'a ', 'ab ', 'abc ']) {
    const encoded = toBase32(Buffer.from(before + token));
    for (const text of [encoded, encoded.toLowerCase(), `x\n${encoded}\nwords`])
      expect(open().redact(text).found).toEqual(['github-token']);
  }
  const harmless = [
    'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
    `${'0f1e2d3c4b'.repeat(4)} refs/heads/main`,
    '00007f3a 1c2d3e4f 5a6b7c8d  x',
    'A=12&B=3F',
    `deadbeef\nadd\nbe`,
  ];
  for (const text of harmless) expect(open().redact(text)).toEqual({ text, found: [] });
});
