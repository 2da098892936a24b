import { expect, test } from 'vitest';
import { fileNameOf } from './save-file.ts';

test('a title makes a name of a file that every system takes', () => {
  expect([
    fileNameOf('Milk: 2 l / "now"', 'md'),
    fileNameOf('../../etc/passwd', 'jsonl'),
    fileNameOf('\u202e\u200b', 'md'),
    fileNameOf('ä'.repeat(200), 'md').length,
  ]).toEqual(['Milk 2 l now.md', 'etc passwd.jsonl', 'session.md', 83]);
});
