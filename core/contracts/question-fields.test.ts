// The fields of a server's question: every form of a field in the protocol, and the content that is sent for given values.

import { expect, test } from 'vitest';
import { contentOf, fieldsOf } from './question-fields.ts';

const schema = {
  properties: {
    name: { type: 'string', title: 'Your name', description: 'In full.' },
    size: { type: 'integer', default: 3 },
    sure: { type: 'boolean' },
    kind: { type: 'string', enum: ['a', 'b'], enumNames: ['First', 'Second'] },
    place: { type: 'string', oneOf: [{ const: 'at', title: 'Austria' }, { const: 'de' }] },
    tags: { type: 'array', items: { anyOf: [{ const: 'x', title: 'The x' }] } },
    odd: 'nothing of the kind',
  },
  required: ['name'],
};

test('each kind of field has its control, its choices and its name', () => {
  expect(
    fieldsOf(schema).map(({ name, title, kind, isNeeded, choices }) => [name, title, kind, isNeeded, choices.map((one) => one.title)]),
  ).toEqual([
    ['name', 'Your name', 'text', true, []],
    ['size', 'size', 'number', false, []],
    ['sure', 'sure', 'yes', false, []],
    ['kind', 'kind', 'one', false, ['First', 'Second']],
    ['place', 'place', 'one', false, ['Austria', 'de']],
    ['tags', 'tags', 'several', false, ['The x']],
    ['odd', 'odd', 'text', false, []],
  ]);
  expect([fieldsOf(null), fieldsOf({ properties: [] })]).toEqual([[], []]);
});

test('empty fields are omitted, and numbers are sent as numbers', () => {
  const given = { name: 'Ada', size: '4', sure: false, kind: '', tags: ['x'] };
  expect(contentOf(fieldsOf(schema), given)).toEqual({ name: 'Ada', size: 4, sure: false, tags: ['x'] });
  expect(contentOf(fieldsOf(schema), { size: '' })).toEqual({});
});
