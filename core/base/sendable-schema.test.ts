import { expect, test } from 'vitest';
import * as z from 'zod';
import { sendableSchema } from './sendable-schema.ts';

const ofZod = (schema: z.ZodType) => sendableSchema(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
const properties = (schema: unknown) => sendableSchema(schema).parameters.properties;
const inside = (schema: unknown) => properties({ type: 'object', properties: { x: schema } })['x'];

const union = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('list') }),
  z.strictObject({ action: z.literal('add'), text: z.string().max(80).describe('What to add.'), at: z.int().optional() }),
  z.strictObject({ action: z.literal('drop'), id: z.string().nullable(), at: z.int() }),
]);

test('a union of objects becomes one object that describes its branches', () => {
  expect(ofZod(union).parameters).toEqual({
    type: 'object',
    properties: {
      action: { type: 'string', enum: ['list', 'add', 'drop'] },
      text: { type: 'string', description: 'For add (required): What to add. (at most 80 characters)' },
      at: { type: 'integer', description: 'For add or drop (required for drop).' },
      id: { type: 'string', description: 'For drop.' },
    },
    required: ['action'],
  });
});

test('a union without a distinguishing key lists its forms', () => {
  const sent = ofZod(z.union([z.object({ url: z.string() }), z.object({ path: z.string(), deep: z.boolean().optional() })]));
  expect(sent.note).toBe('Give the keys of one form: url; or path, deep (optional).');
  expect(sent.parameters).toEqual({
    type: 'object',
    properties: { url: { type: 'string' }, path: { type: 'string' }, deep: { type: 'boolean' } },
  });
});

test.each<[string, unknown, unknown]>([
  ['null beside a type', { type: ['string', 'null'] }, { type: 'string' }],
  ['a union with null', { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }] }, { type: 'integer', description: '(at least 1)' }],
  ['only null', { type: 'null' }, { type: 'string', enum: ['null'] }],
  ['literals', { anyOf: [{ const: 'a' }, { const: 'b' }] }, { type: 'string', enum: ['a', 'b'] }],
  ['numbers that are listed', { enum: [1, 2, 3] }, { type: 'integer', description: '(1, 2 or 3)' }],
  ['an empty text in a list', { enum: ['', 'a'] }, { type: 'string', description: '("" (empty) or a)' }],
  ['true alone', { const: true }, { type: 'boolean', description: '(always true)' }],
  ['scalars of several types', { type: ['string', 'number'] }, { anyOf: [{ type: 'string' }, { type: 'number' }] }],
  ['a format and a range', { type: 'string', format: 'date-time', minLength: 3, maxLength: 9 }, { type: 'string', description: '(3–9 characters; format date-time)' }], // prettier-ignore
  ['an array of anything', { type: 'array' }, { type: 'array', items: { type: 'string', description: '(any value, as JSON text)' } }],
  ['a tuple', { type: 'array', prefixItems: [{ type: 'string' }, { type: 'string' }] }, { type: 'array', items: { type: 'string' }, description: '(in this order: string, string)' }], // prettier-ignore
  ['a tuple of draft 7', { items: [{ type: 'integer' }] }, { type: 'array', items: { type: 'integer' }, description: '(in this order: integer)' }], // prettier-ignore
  ['a record', { type: 'object', additionalProperties: { type: 'number' } }, { type: 'array', items: { type: 'object', properties: { key: { type: 'string' }, value: { type: 'number' } }, required: ['key', 'value'] } }], // prettier-ignore
  ['an object without keys', { type: 'object' }, { type: 'string', description: '(an object, as JSON text)' }],
  ['allOf', { allOf: [{ properties: { a: { type: 'string' } }, required: ['a'] }, { properties: { b: { type: 'number' } } }] }, { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } }, required: ['a'] }], // prettier-ignore
  ['nullable of OpenAPI', { type: 'string', nullable: true, example: 'a' }, { type: 'string' }],
  ['words that contradict each other', { allOf: [{ type: 'string' }, { type: 'number' }] }, { type: 'string' }],
  ['no schema at all', true, { type: 'string', description: '(any value, as JSON text)' }],
])('%s', (_name, schema, sent) => {
  expect(inside(schema)).toEqual(sent);
});

test('resolves references; a recursive schema ends after two rounds', () => {
  const tree = {
    type: 'object',
    properties: { name: { $ref: '#/$defs/name' }, under: { type: 'array', items: { $ref: '#' } } },
    $defs: { name: { type: 'string', description: 'A name.' } },
  };
  const text = JSON.stringify(sendableSchema(tree).parameters);
  expect(text).not.toContain('$ref');
  expect(text.match(/A name\./g)).toHaveLength(3);
  expect(inside({ $ref: 'https://example.org/other.json' })).toMatchObject({ type: 'string' });
});

test('sends refused keys under plain names and converts them back', () => {
  const { parameters, fromModel } = sendableSchema({
    properties: { 'a-b': { type: 'string' }, a_b: { type: 'string' }, 7: { type: 'number' } },
  });
  expect(Object.keys(parameters.properties)).toEqual(['_7', 'a_b_2', 'a_b']);
  expect(fromModel({ a_b_2: 'one', a_b: 'two', _7: 3 })).toEqual({ 'a-b': 'one', a_b: 'two', 7: 3 });
});

test('asks for arguments without named keys under one key', () => {
  const { parameters, fromModel } = ofZod(z.record(z.string(), z.number()));
  expect(Object.keys(parameters.properties)).toEqual(['input']);
  expect(fromModel({ input: [{ key: 'a', value: 1 }] })).toEqual({ a: 1 });
  expect(fromModel({ a: 1, b: 2 })).toEqual({ a: 1, b: 2 });
  expect(ofZod(z.object({})).parameters).toEqual({ type: 'object', properties: {} });
  expect(sendableSchema({ type: 'object' }).parameters).toEqual({ type: 'object', properties: {} });
});

test('null counts as absent only where null is not accepted', () => {
  const schema = z.strictObject({
    a: z.string().optional(),
    b: z.string().nullable(),
    c: z.object({ d: z.number().optional() }).optional(),
  });
  const { fromModel } = ofZod(schema);
  expect(fromModel({ a: null, b: null, c: { d: null } })).toEqual({ b: null, c: {} });
  expect(fromModel({})).toEqual({ b: null });
});

test('drops placeholders for other branches and keeps real values', () => {
  const { fromModel } = ofZod(union);
  expect(fromModel({ action: 'list', text: null, at: null, id: '' })).toEqual({ action: 'list' });
  expect(fromModel({ action: 'list', text: 'milk' })).toEqual({ action: 'list', text: 'milk' });
  expect(union.safeParse(fromModel({ action: 'drop', at: '3' })).data).toEqual({ action: 'drop', id: null, at: 3 });
});

test('chooses a branch with additional keys only if their values fit', () => {
  const schema = z.union([
    z.record(z.string(), z.literal(3)),
    z.strictObject({ kind: z.literal('one'), none: z.null(), text: z.string() }),
  ]);
  const { fromModel } = ofZod(z.strictObject({ x: schema }));
  expect(fromModel({ x: { kind: 'one', none: null, text: '' } })).toEqual({ x: { kind: 'one', none: null, text: '' } });
  expect(fromModel({ x: { a: 3 } })).toEqual({ x: { a: 3 } });
});

test('prefers a branch that accepts a value unchanged to one that would convert it', () => {
  const branch = (item: z.ZodType) => z.strictObject({ inner: z.strictObject({ list: z.array(item) }) });
  const { fromModel } = ofZod(z.strictObject({ x: z.union([branch(z.int()), branch(z.string())]) }));
  expect(fromModel({ x: { inner: { list: ['1'] } } })).toEqual({ x: { inner: { list: ['1'] } } });
  expect(fromModel({ x: { inner: { list: [1] } } })).toEqual({ x: { inner: { list: [1] } } });
});

test('parses JSON text back into its value', () => {
  const { fromModel } = ofZod(z.object({ any: z.unknown(), list: z.array(z.int()), text: z.string(), bag: z.looseObject({}) }));
  expect(fromModel({ any: '{"a":[1]}', list: '[1,2]', text: '[1]', bag: '{"k":true}' })).toEqual({
    any: { a: [1] },
    list: [1, 2],
    text: '[1]',
    bag: { k: true },
  });
  expect(fromModel({ any: 'plain words', list: 'no', text: '', bag: {} })).toMatchObject({ any: 'plain words', list: 'no' });
});

test('treats an object key called __proto__ like any other', () => {
  const { fromModel } = ofZod(z.looseObject({ a: z.string().optional() }));
  expect(Object.hasOwn(fromModel(JSON.parse('{"__proto__":{"x":1}}')) as object, '__proto__')).toBe(true);
});
