import { expect, test } from 'vitest';
import type { FileImage } from '../../contracts/checkpoints.ts';
import { changeAt, composeChanges, type PathChange } from './restore-plan.ts';

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

test('an undo that the program did not finish changes nothing about the undo of its calls', () => {
  const image = (mode: number): FileImage => ({ kind: 'file', sha256: 'a'.repeat(64), sizeBytes: 1, mode });
  const [before, after] = [image(0o600), image(0o644)];
  const common = { sessionId: 's', turnId: 't', atMs: 1, made: [] };
  const call = { ...common, seq: 1, callId: 'call', closed: true, undoes: [], files: [{ path: '/w/a', before, after }] };
  const undo = {
    ...common,
    seq: 2,
    callId: 'undo',
    closed: false,
    undoes: ['call'],
    files: [{ path: '/w/a', before: after, after: null }],
  };
  expect(composeChanges([call, undo])).toEqual(composeChanges([call]));
  // Without the call, the state that the undo left is not known.
  expect(composeChanges([undo])).toMatchObject([{ path: '/w/a', before: after, after: null }]);
});
