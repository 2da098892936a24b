import { expect, test } from 'vitest';
import type { FileImage } from '../../contracts/checkpoints.ts';
import { changeAt, type PathChange } from './restore-plan.ts';

const absent: FileImage = { kind: 'absent' };

function changeOf(path: string): PathChange {
  return { path, before: absent, after: absent, isBroken: false, firstSeq: 1, lastSeq: 1, lastSeqs: new Map() };
}

test('a file that was not changed is refused with those that were', () => {
  const changes = ['/w/a.md', '/w/b.md'].map(changeOf);
  expect(changeAt(changes, '/w/b.md').path).toBe('/w/b.md');
  expect(() => changeAt(changes, '/w/c.md')).toThrow(
    expect.objectContaining({ code: 'not_found', hint: 'These were changed: /w/a.md, /w/b.md.' }) as Error,
  );
});
