import { expect, test } from 'vitest';
import * as original from 'zod';
import * as z from './shared-zod.ts';

test('equal plain schemas are the same object', () => {
  expect(z.string()).toBe(z.string());
  expect(z.string().min(1).max(200).optional()).toBe(z.string().min(1).max(200).optional());
  expect(z.number().int().min(0).nullable()).toBe(z.number().int().min(0).nullable());
  expect(z.boolean().default(false)).toBe(z.boolean().default(false));
  expect(z.string().array()).toBe(z.string().array());
});

test('different schemas are different objects', () => {
  expect(z.string().min(1)).not.toBe(z.string().min(2));
  expect(z.string().min(1)).not.toBe(z.string().max(1));
  expect(z.string().min(1)).not.toBe(z.string().min(1, 'say something'));
  expect(z.string().default('true')).not.toBe(z.string().default('false'));
  expect(z.number().max(Infinity)).not.toBe(z.number().max(-Infinity));
  expect(z.number().min(1).max(2)).not.toBe(z.number().min(1));
});

test('a description belongs only to the schema it is written on', () => {
  const named = z.string().min(1).describe('a name');
  expect(named.description).toBe('a name');
  expect(z.string().min(1).description).toBeUndefined();
  expect(z.string().min(1).describe('a title')).not.toBe(named);
});

test('a strict object refuses other keys', () => {
  expect(z.strictObject({ name: z.string() }).safeParse({ name: 'Ada', more: 1 }).success).toBe(false);
  expect(z.strictObject({ name: z.string() }, 'no person').safeParse(1).error?.issues[0]?.message).toBe('no person');
});

type Zod = Pick<typeof z, 'string' | 'number' | 'boolean' | 'strictObject'>;

/** The same schema, written with either library. */
const write = (from: Zod) =>
  from.strictObject({
    name: from.string().min(1).max(20),
    nick: from.string('a nickname').min(1).optional(),
    age: from.number().int().min(0).nullable(),
    ratio: from.number().min(0).max(1).default(0.5),
    isKnown: from.boolean().default(false),
    words: from.string().min(1).array().max(3),
  });

test('accepts, refuses and describes values like the original library', () => {
  const [own, theirs] = [write(z), write(original)];
  expect(z.toJSONSchema(own)).toEqual(original.toJSONSchema(theirs));
  for (const value of [
    { name: 'Ada', age: 36, words: ['one'] },
    { name: 'Ada', nick: 'A', age: null, ratio: 0, isKnown: true, words: [] },
    { name: '', nick: 3, age: -1, ratio: 2, isKnown: 'yes', words: ['', 'b', 'c', 'd'], more: 1 },
    { name: 'Ada', age: 1.5, words: 'none' },
    null,
  ])
    expect(own.safeParse(value)).toEqual(theirs.safeParse(value));
});
