import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { editText, whyNoEdit } from './text-edit.ts';

const once = (text: string, old: string, replacement: string) => editText(text, { old, new: replacement, replaceAll: false });
const problem = (text: string, old: string, replacement = 'new') => {
  const edited = once(text, old, replacement);
  return edited.ok ? null : edited.error;
};

test('replaces the one place', () => {
  expect(once('a\nb\nc\n', 'b', 'x')).toEqual({ ok: true, value: { text: 'a\nx\nc\n', replaced: 1, firstLine: 2 } });
});

test('reports where an ambiguous text is, and replaces all on request', () => {
  expect(problem('x\ny\nx\n', 'x')).toBe(
    '"old" is there 2 times (lines 1, 3); add surrounding lines until it is unique, or set replaceAll.',
  );
  expect(problem('x '.repeat(30), 'x')).toMatch(/30 times \(lines 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, …\)/);
  expect(editText('x\ny\nx', { old: 'x', new: 'xx', replaceAll: true })).toEqual({
    ok: true,
    value: { text: 'xx\ny\nxx', replaced: 2, firstLine: 1 },
  });
});

test('points to the nearest line', () => {
  const text = 'function one() {\n  return 1;\n}\nconst total = price * count;\n';
  expect(problem(text, 'const total = price * counts;')).toBe(
    '"old" is not in the file. The nearest is line 4: "const total = price * count;" (compare it letter by letter).',
  );
  expect(problem(text, '\treturn 1;')).toBe(
    '"old" is not in the file. The nearest is line 2: "  return 1;" (it differs in white space only).',
  );
  expect(problem(text, 'qqqq')).toBe('"old" is not in the file; read the file and copy the text exactly.');
  expect(whyNoEdit({ old: '', new: 'x' })).toMatch(/^"old" is empty/);
  expect(whyNoEdit({ old: 'x', new: 'x' })).toMatch(/nothing to change/);
  expect(whyNoEdit({ old: 'x', new: 'y' })).toBeNull();
});

test('an edit changes exactly one place, whatever the texts contain', () => {
  const piece = fc.string({ unit: fc.constantFrom('a', 'b', '$', '&', '\n', '\r\n', '€'), maxLength: 12 });
  let changed = 0;
  fc.assert(
    fc.property(piece, piece, piece, piece, (before, old, after, replacement) => {
      const text = before + old + after;
      const edited = once(text, old, replacement);
      const places = old === '' ? 0 : text.split(old).length - 1;
      const isPossible = places === 1 && old !== replacement;
      const at = text.indexOf(old);
      const expected = {
        text: text.slice(0, at) + replacement + text.slice(at + old.length),
        replaced: 1,
        firstLine: text.slice(0, at).split('\n').length,
      };
      expect(edited.ok ? edited.value : 'refused').toEqual(isPossible ? expected : 'refused');
      if (isPossible) changed += 1;
    }),
    { numRuns: 1000 },
  );
  expect(changed).toBeGreaterThan(100);
});
