// For any schema of a program or a server: every vendor accepts the sent form, and arguments in that form convert back to valid arguments
// of the schema.

import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { refusalWords, vendorRefusal, vendors, type Vendor } from '../../tests/doubles/vendors/vendors.ts';
import { isPlainObject } from './json.ts';
import { cutDescription, sendableSchema, type SentSchema } from './sendable-schema.ts';

/** A request with one tool, in the form of each vendor. */
function requestOf(vendor: Vendor, name: string, parameters: unknown, description: string): Record<string, unknown> {
  const messages = [{ role: 'user', content: 'hi' }];
  if (vendor === 'anthropic') return { model: 'm', max_tokens: 9, messages, tools: [{ name, description, input_schema: parameters }] };
  if (vendor === 'responses') return { model: 'm', input: messages, tools: [{ type: 'function', name, description, parameters }] };
  return { model: 'm', messages, tools: [{ type: 'function', function: { name, description, parameters } }] };
}

function depthOf(node: SentSchema): number {
  const inner = [...Object.values(node.properties ?? {}), ...(node.items === undefined ? [] : [node.items])].map((one) => 1 + depthOf(one));
  return Math.max(0, ...inner, ...(node.anyOf ?? []).map(depthOf));
}

function expectTaken(schema: unknown): void {
  const { parameters, note } = sendableSchema(schema);
  for (const vendor of vendors) {
    const no = vendorRefusal(vendor, requestOf(vendor, 'tool', parameters, cutDescription(note)));
    if (no !== null) throw new Error(`${vendor}: ${refusalWords(no)} ${JSON.stringify(parameters)}`);
  }
  expect(depthOf(parameters)).toBeLessThanOrEqual(5);
}

interface Spec {
  readonly schema: z.ZodType;
  readonly value: fc.Arbitrary<unknown>;
}

const keys = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'a-b', '$ref', '7', 'x y', 'description'), { minLength: 0, maxLength: 4 });
const word = fc.constantFrom('red', 'green', 'x', '');
const spec = (schema: z.ZodType, value: fc.Arbitrary<unknown>): Spec => ({ schema, value });

const leaf: fc.Arbitrary<Spec> = fc.oneof(
  fc.constant(spec(z.string().max(40).describe('Words.'), fc.string({ maxLength: 40 }))),
  fc.constant(spec(z.int().min(1).max(9), fc.integer({ min: 1, max: 9 }))),
  fc.constant(
    spec(
      z.number().multipleOf(0.5),
      fc.integer({ min: -9, max: 9 }).map((n) => n / 2),
    ),
  ),
  fc.constant(spec(z.boolean(), fc.boolean())),
  fc.constant(spec(z.literal(3), fc.constant(3))),
  fc.constant(spec(z.null(), fc.constant(null))),
  fc.constant(spec(z.literal(['a', 2, true]), fc.constantFrom('a', 2, true))),
  fc.uniqueArray(word, { minLength: 1 }).map((words) => spec(z.enum(words), fc.constantFrom(...words))),
  fc.constant(spec(z.iso.datetime(), fc.constant('2026-03-29T09:30:00Z'))),
);

const { any } = fc.letrec<{ any: Spec }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4, depthSize: 'small', withCrossShrink: true },
    leaf,
    leaf,
    tie('any').map(({ schema, value }) => spec(schema.nullable(), fc.option(value))),
    tie('any').map(({ schema, value }) => spec(z.array(schema).max(3), fc.array(value, { maxLength: 3 }))),
    fc.tuple(tie('any'), tie('any')).map(([a, b]) => spec(z.tuple([a.schema, b.schema]), fc.tuple(a.value, b.value))),
    tie('any').map(({ schema, value }) => spec(z.record(z.string(), schema), fc.dictionary(fc.constantFrom('k', 'l m'), value))),
    fc.tuple(tie('any'), tie('any')).map(([a, b]) => spec(z.union([a.schema, b.schema]), fc.oneof(a.value, b.value))),
    objectOf(tie('any')),
    fc.tuple(objectParts(tie('any')), objectParts(tie('any'))).map(([a, b]) => tagged(a, b)),
  ),
}));

type Parts = readonly (readonly [key: string, spec: Spec, isOptional: boolean])[];

function objectParts(inner: fc.Arbitrary<Spec>): fc.Arbitrary<Parts> {
  return keys.chain((names) => fc.tuple(...names.map((name) => fc.tuple(fc.constant(name), inner, fc.boolean()))));
}

function shapeOf(parts: Parts): Record<string, z.ZodType> {
  return Object.fromEntries(parts.map(([key, { schema }, isOptional]) => [key, isOptional ? schema.optional() : schema]));
}

function valueOf(parts: Parts): fc.Arbitrary<Record<string, unknown>> {
  const model = Object.fromEntries(parts.map(([key, { value }]) => [key, value]));
  return fc.record(model, { requiredKeys: parts.filter(([, , isOptional]) => !isOptional).map(([key]) => key) });
}

function objectOf(inner: fc.Arbitrary<Spec>): fc.Arbitrary<Spec> {
  return objectParts(inner).map((parts) => spec(z.strictObject(shapeOf(parts)), valueOf(parts)));
}

function tagged(a: Parts, b: Parts): Spec {
  const branch = (tag: string, parts: Parts) => z.strictObject({ kind: z.literal(tag), ...shapeOf(parts) });
  const value = (tag: string, parts: Parts) => valueOf(parts).map((one) => ({ kind: tag, ...one }));
  return spec(z.discriminatedUnion('kind', [branch('one', a), branch('two', b)]), fc.oneof(value('one', a), value('two', b)));
}

const jsonSchemaOf = (schema: z.ZodType): unknown => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });

test('every vendor accepts the tool for any schema of a program', () => {
  fc.assert(
    fc.property(any, ({ schema }) => expectTaken(jsonSchemaOf(schema))),
    { numRuns: 400 },
  );
});

test('every vendor accepts the tool for any JSON that a server calls a schema', () => {
  const wordOf = fc.constantFrom('type', 'properties', 'required', 'items', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', '$ref', 'prefixItems', 'additionalProperties', 'not', 'pattern', 'format', 'default', 'description', 'minimum', 'nullable'); // prettier-ignore
  const typeOf = fc.constantFrom('object', 'array', 'string', 'number', 'integer', 'boolean', 'null', 'any', '#', '#/$defs/x', '');
  const schema = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 6, depthSize: 'medium' },
      typeOf,
      fc.constantFrom(null, true, false, 3, 0.5),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(fc.oneof(wordOf, wordOf, fc.constantFrom('a', '$defs', 'a b', '__proto__')), tie('any'), { maxKeys: 5 }),
    ),
  })).any;
  fc.assert(fc.property(schema, expectTaken), { numRuns: 1000 });
});

/** The arguments of a model that follows the sent form: text for JSON text, null for omitted values. */
function asModel(sent: SentSchema, value: unknown): unknown {
  if (sent.anyOf !== undefined) return asModel(sent.anyOf.find((one) => fits(one, value)) ?? sent.anyOf.at(-1) ?? {}, value);
  if (sent.type === 'string') return typeof value === 'string' ? value : JSON.stringify(value);
  if (sent.type === 'array' && isPlainObject(value)) {
    return Object.entries(value).map(([key, one]) => ({ key, value: asModel(sent.items?.properties?.['value'] ?? {}, one) }));
  }
  if (sent.type === 'array' && Array.isArray(value)) return value.map((one) => asModel(sent.items ?? {}, one));
  return value;
}

function fits({ type, items }: SentSchema, value: unknown): boolean {
  if (type === 'array') return Array.isArray(value) || (isPlainObject(value) && items?.properties?.['key'] !== undefined);
  return type === 'object' ? isPlainObject(value) : type === 'integer' ? typeof value === 'number' : typeof value === type;
}

function withoutNulls(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== null));
}

test('converts arguments in the sent form back, with null for omitted values', () => {
  const flat = objectParts(leaf).chain((parts) => valueOf(parts).map((value) => ({ schema: z.strictObject(shapeOf(parts)), value })));
  fc.assert(
    fc.property(flat, ({ schema, value }) => {
      const sendable = sendableSchema(jsonSchemaOf(schema));
      const sent = Object.entries(sendable.parameters.properties);
      const originals = Object.keys(schema.shape);
      const args = Object.fromEntries(
        sent.map(([name, node]) => {
          const key =
            originals.find((one) => one === name || (node.anyOf?.[0] ?? node).description?.includes(`(the key ${JSON.stringify(one)})`)) ??
            name;
          return [name, Object.hasOwn(value, key) ? asModel(node, value[key]) : null];
        }),
      );
      // Where null is accepted, it is a value. Elsewhere it marks an omitted value.
      expect(withoutNulls(schema.parse(sendable.fromModel(args)))).toEqual(withoutNulls(value));
    }),
    { numRuns: 500 },
  );
});

test('valid arguments in the form of the schema itself stay valid', () => {
  fc.assert(
    fc.property(
      any.chain(({ schema, value }) => value.map((one) => ({ schema, one }))),
      ({ schema, one }) => {
        const { fromModel } = sendableSchema(jsonSchemaOf(z.strictObject({ x: schema })));
        expect(schema.safeParse((fromModel({ x: one }) as { x: unknown }).x).success).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});
