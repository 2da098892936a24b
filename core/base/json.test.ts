import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson, parseJson } from './json.ts';

function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, item]) => [key, shuffled(item)] as const)
      .reverse(),
  );
}

test('canonical JSON keeps the value and does not depend on the order of keys', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const text = canonicalJson(value);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(canonicalJson(shuffled(value))).toBe(text);
    }),
    { numRuns: 200 },
  );
});

test('sorts keys by code unit; omits undefined in objects, writes null in arrays', () => {
  expect(canonicalJson({ a: 1, b: [undefined], c: undefined, ä: 'é', B: null })).toBe('{"B":null,"a":1,"b":[null],"ä":"é"}');
});

test('returns an error for text that is not JSON instead of throwing', () => {
  expect(parseJson('{"a":1}')).toEqual({ ok: true, value: { a: 1 } });
  expect(parseJson('{')).toMatchObject({ ok: false });
});
