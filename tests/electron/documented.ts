// Links a test to the sentence of Electron's documentation that it verifies: the sentence must occur in the installed type definitions.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const definitions = fileURLToPath(new URL('../../node_modules/electron/electron.d.ts', import.meta.url));

/** The comments of the type definitions as running text, without asterisks and line breaks. */
export function documentation(): string {
  return plain(readFileSync(definitions, 'utf8').replaceAll(/\n[ \t]*\*[ \t]?/g, ' '));
}

export function plain(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** Declares a test of the quoted sentence. Line breaks are ignored when the sentence is looked up. */
export function documented(what: string, sentence: string, work: () => Promise<void> | void): void {
  test(`as documented: ${what}`, async () => {
    expect(documentation().includes(plain(sentence)) ? sentence : `${sentence} (is not in electron.d.ts)`).toBe(sentence);
    await work();
  });
}
