import { expect, test } from 'vitest';
import { callGrammar } from './call-grammar.ts';

const tool = (parameters: Record<string, unknown>) => [{ name: 'read_file', description: '', parameters }];

test('a call names an offered tool, and its arguments follow the schema', () => {
  const grammar = callGrammar(
    tool({ type: 'object', properties: { path: { type: 'string' }, lines: { type: 'integer' } }, required: ['path'] }),
  );
  expect(grammar.split('\n').slice(0, 5)).toEqual([
    'root ::= ws (call-0)',
    'r-1 ::= "\\"path\\"" ":" ws string',
    'r-2 ::= "\\"lines\\"" ":" ws integer',
    'r-3 ::= "{" ws r-1 ("," ws r-2)? ws "}"',
    'call-0 ::= "{" ws "\\"name\\"" ":" ws "\\"read_file\\"" "," ws "\\"arguments\\"" ":" ws r-3 ws "}"',
  ]);
});

test('without required properties, any of them may be present or absent', () => {
  const grammar = callGrammar(tool({ type: 'object', properties: { a: { type: 'boolean' }, b: { enum: ['x', 1] } } }));
  expect(grammar).toContain('r-4 ::= "{" ws (r-1 ("," ws r-3)? | r-3)? ws "}"');
  expect(grammar).toContain('r-2 ::= "\\"x\\"" | "1"');
});

test.each([
  ['no properties', { type: 'object', properties: {} }, 'r-1 ::= "{" ws "}"'],
  ['a map', { type: 'object', additionalProperties: { type: 'number' } }, 'string ":" ws number'],
  [
    'an array',
    { type: 'object', properties: { a: { type: 'array', items: { type: 'string' } } } },
    '"[" ws (string ("," ws string)*)? ws "]"',
  ],
  ['either type', { type: 'object', properties: { a: { type: ['string', 'null'] } } }, 'string | null'],
  ['a reference, which a grammar cannot follow', { type: 'object', properties: { a: { $ref: '#/x' } } }, '"\\"a\\"" ":" ws value'],
])('writes a rule for %s', (_what, schema, rule) => {
  expect(callGrammar(tool(schema))).toContain(rule);
});
