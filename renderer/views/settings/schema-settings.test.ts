// The real schema is read whole: every setting has its control and, in every language, its name.

import { expect, test } from 'vitest';
import * as z from 'zod';
import { configSchema } from '../../../core/contracts/config.ts';
import { english } from '../../lib/i18n/english/english.ts';
import { isSame, readSettings, valueAt } from './schema-settings.ts';

const schema = z.toJSONSchema(configSchema, { io: 'input' }) as Record<string, unknown>;
const settings = readSettings(schema);
const find = (key: string) => settings.find((setting) => setting.key === key);

test('each kind of value gets its control', () => {
  expect(find('models.retries')).toMatchObject({
    section: 'models',
    standard: 2,
    control: { kind: 'number', range: { min: 0, max: 10, isWhole: true }, unit: null },
  });
  expect(find('models.timeouts.connectMs')?.control).toEqual({
    kind: 'number',
    range: { min: 1, max: null, isWhole: true },
    unit: 'ms',
  });
  expect(find('budget.perDayUsd')?.control).toMatchObject({ kind: 'number', unit: 'usd', range: { min: 0, isWhole: false } });
  expect(find('sandbox.mode')?.control).toEqual({ kind: 'choice', options: ['off', 'auto', 'required'] });
  expect(find('safety.personalData')).toMatchObject({ control: { kind: 'choices' }, standard: ['card', 'iban'] });
  expect(find('policy.allowCommands')?.control).toEqual({ kind: 'list', pattern: null });
  expect(find('policy.limits.callsPerMinute')?.control).toEqual({
    kind: 'numbers',
    known: ['network', 'message', 'exec'],
    range: { min: 0, max: 10_000, isWhole: true },
  });
  expect(find('policy.rules')?.control).toEqual({ kind: 'json' });
  expect(find('desktop.updateFeed')?.control).toMatchObject({ kind: 'text' });
  expect(find('web.search')?.control).toMatchObject({
    kind: 'forms',
    by: 'provider',
    forms: expect.arrayContaining([
      {
        name: 'brave',
        fields: [
          { name: 'apiKey', isNeeded: true },
          { name: 'baseUrl', isNeeded: false },
        ],
      },
      { name: 'searxng', fields: [{ name: 'baseUrl', isNeeded: true }] },
    ]),
  });
});

test('a schema of its own kind gets a control as well, with its title and description', () => {
  const own = { properties: { on: { type: 'boolean', default: true, title: 'On', description: 'Whether.' }, odd: { anyOf: [{}, {}] } } };
  expect(readSettings(own)).toEqual([
    { key: 'on', section: 'on', control: { kind: 'switch' }, standard: true, title: 'On', help: 'Whether.' },
    { key: 'odd', section: 'odd', control: { kind: 'json' }, standard: undefined, title: null, help: null },
  ]);
});

test('no channel is offered, because none has a module, and every other setting has its name', () => {
  expect(settings.filter(({ key }) => key.startsWith('channels') || key.startsWith('providers'))).toEqual([]);
  const named: Readonly<Record<string, unknown>> = english.settingNames.settings;
  expect(settings.map(({ key }) => key).filter((key) => !(key in named))).toEqual([]);
  expect(Object.keys(named).filter((key) => find(key) === undefined)).toEqual([]);
  const sections: Readonly<Record<string, unknown>> = english.settingNames.sections;
  expect(settings.filter(({ section }) => !(section in sections))).toEqual([]);
});

test('values by their path, and what is the same', () => {
  expect(valueAt({ a: { b: 3 } }, 'a.b')).toBe(3);
  expect(valueAt({ a: null }, 'a.b')).toBeUndefined();
  expect(valueAt({}, 'constructor.name')).toBeUndefined();
  expect(isSame({ a: [1, { b: 2 }], c: 3 }, { c: 3, a: [1, { b: 2 }] })).toBe(true);
  expect(isSame([1], [1, 2])).toBe(false);
});
