import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { scriptedGguf } from '../../../../tests/doubles/gguf.ts';
import { readGgufHead } from './gguf-head.ts';

function written(bytes: Buffer): string {
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-head-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'm.gguf'), bytes);
  return join(folder, 'm.gguf');
}

test('the head states the window', () => {
  expect(readGgufHead(written(scriptedGguf()))).toEqual({ contextTokens: 131_072 });
});

test('every truncated head is read or refused, and throws nothing else', () => {
  const whole = scriptedGguf();
  for (let size = 0; size < 400; size++) {
    const path = written(whole.subarray(0, size));
    try {
      expect(readGgufHead(path).contextTokens).toBeOneOf([null, 131_072]);
    } catch (cause) {
      expect(cause).toMatchObject({ code: 'model_rejected', message: 'm.gguf is not a GGUF file.' });
      expect(size).toBeLessThan(24);
    }
  }
});

test('a missing file and another kind of file are reported as such', () => {
  expect(() => readGgufHead('/nonexistent/m.gguf')).toThrow('/nonexistent/m.gguf cannot be read.');
  expect(() => readGgufHead(written(Buffer.from('<html>'.repeat(20))))).toThrow('m.gguf is not a GGUF file.');
});
