import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { needs, type Need } from '../../../tests/needs.ts';
import { markedLine } from './remote-line.ts';

const odd = `printf '%s|' "it's" 'a\\\\b' 'c\\' "!d !" "$(echo e)" 50%; case x in\nx) echo 'two\nlines'; esac # \\`;

const shells: readonly (readonly [Need, string])[] = [
  ['a Unix system', 'sh'],
  ['fish', 'fish'],
  ['zsh', 'zsh'],
];
for (const [need, shell] of shells) {
  test(`${shell} does not change the command`, { ...needs(need), timeout: 30_000 }, () => {
    const plain = spawnSync('sh', ['-c', odd]);
    const { stdout, stderr, status } = spawnSync(shell, ['-c', markedLine(odd, 'mark')]);
    expect([stdout.toString(), status]).toEqual([plain.stdout.toString(), plain.status]);
    expect(stderr.toString()).toMatch(/^mark \d+ \d+\n$/);
  });
}

test('the line contains no character that login shells treat differently', needs('a Unix system'), () => {
  const [, inner = ''] = /^sh -c '([^']*)'$/.exec(markedLine(odd, 'mark')) ?? [];
  // Inside quotes, fish gives a meaning to two kinds of backslash, and csh to an exclamation mark but not to a line break.
  expect(inner).not.toMatch(/[!\n\r]|\\(?!0\d{3})/);
  expect(inner).toContain('printf %b');
});
