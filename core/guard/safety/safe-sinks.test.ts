// Stored content is kept without secrets in every encoding that is shown as text.

import { expect, test } from 'vitest';
import { SafetyChecks } from './safety.ts';

const letters = 'aB3dE5fG7hJ9kL2mN4pQ6rS8tU1vW0xY'.repeat(2).slice(0, 40);

test.each([
  ['Windows-1252', (text: string) => Buffer.from(text, 'latin1')],
  ['UTF-16', (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le')],
  ['UTF-8 with damage', (text: string) => Buffer.concat([Buffer.from(`Größe ${text}`), Buffer.of(0xfc)])],
])('stored content in %s is kept without secrets, and otherwise byte by byte', (_name, bytesOf) => {
  const stored: Uint8Array[] = [];
  const sink = new SafetyChecks({ policy: { allowDomains: [], denyDomains: [] } }).artifacts({
    put: (content) => {
      stored.push(Buffer.from(content as Uint8Array));
      return { sha256: '', name: '', mediaType: '', sizeBytes: 0 };
    },
    read: () => new Uint8Array(),
  });
  const secret = ['sk-ant-', 'api03-', letters].join('');
  for (const text of [`Schlüssel ${secret}\n`, 'Schlüssel liegt bereit\n']) sink.put(bytesOf(text), { name: 'a', mediaType: 'text/plain' });
  const [safe = Buffer.of(), untouched] = stored.map((bytes) => Buffer.from(bytes));
  expect(safe.toString('latin1').replaceAll('\0', '')).toContain('Schl');
  expect(safe.toString('latin1').replaceAll('\0', '')).not.toContain(secret.slice(0, 24));
  expect(untouched).toEqual(bytesOf('Schlüssel liegt bereit\n'));
});
