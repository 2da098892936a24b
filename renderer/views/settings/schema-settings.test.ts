// Reads the whole real schema: every setting has its control and its name.

import { expect, test } from 'vitest';
import * as z from 'zod';
import { configSchema } from '../../../core/contracts/config.ts';
import { english } from '../../lib/i18n/english/whole.ts';
import { createLanguage } from '../../lib/i18n/language.ts';
import { saysNothing, type Control, type Field } from './controls.ts';
import { groupOf } from './setting-groups.ts';
import { scaleFor, summaryOf } from './setting-values.ts';
import { valueAt } from '../../../core/base/json.ts';
import { isSame, readSettings } from './schema-settings.ts';

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
  expect(find('policy.allowCommands')?.control).toEqual({ kind: 'list' });
  expect(find('policy.limits.callsPerMinute')?.control).toEqual({
    kind: 'numbers',
    known: ['network', 'message', 'exec'],
    range: { min: 0, max: 10_000, isWhole: true },
  });
  expect(find('desktop.panicKeys')?.control).toEqual({ kind: 'keys' });
  expect(find('desktop.updateFeed')?.control).toMatchObject({ kind: 'text' });
  expect(find('web.search')?.control).toMatchObject({
    kind: 'forms',
    by: 'provider',
    forms: expect.arrayContaining([
      {
        name: 'brave',
        fields: [
          {
            name: 'apiKey',
            path: 'search.apiKey',
            isNeeded: true,
            standard: undefined,
            control: { kind: 'text', isLong: false, isSecret: true },
          },
          { name: 'baseUrl', path: 'search.baseUrl', isNeeded: false, standard: undefined, control: { kind: 'text', isLong: false } },
        ],
      },
      {
        name: 'searxng',
        fields: [
          { name: 'baseUrl', path: 'search.baseUrl', isNeeded: true, standard: undefined, control: { kind: 'text', isLong: false } },
        ],
      },
    ]),
  });
});

const fieldsOf = (control: Control | undefined): readonly Field[] => (control?.kind === 'fields' ? control.fields : []);
const entryOf = (key: string): Control | undefined => {
  const control = find(key)?.control;
  return control?.kind === 'entries' ? control.entry : undefined;
};
const fieldOf = (key: string, name: string): Control | undefined => fieldsOf(entryOf(key)).find((field) => field.name === name)?.control;

test('lists of objects and objects by name get a control for each field', () => {
  expect(find('models.panels')?.control).toMatchObject({ kind: 'entries', isNamed: true });
  expect(fieldsOf(entryOf('models.panels')).map(({ name, control, isNeeded }) => [name, control.kind, isNeeded])).toEqual([
    ['members', 'list', true],
    ['judge', 'text', false],
  ]);
  expect(find('hooks')?.control).toMatchObject({ kind: 'entries', isNamed: false });
  expect(fieldOf('hooks', 'timeoutMs')).toMatchObject({ kind: 'number', unit: 'ms' });
  expect(fieldsOf(fieldOf('policy.rules', 'when')).map(({ control }) => control.kind)).toContain('choices');
  expect(entryOf('knowledge.sources')).toMatchObject({ kind: 'forms', by: 'kind' });
});

test('an object with required fields is one setting', () => {
  const verify = fieldsOf(find('verify')?.control);
  expect(verify.filter(({ isNeeded }) => isNeeded).map(({ name }) => name)).toEqual(['classes', 'by']);
  expect(verify.find(({ name }) => name === 'replicas')?.control).toEqual({ kind: 'choice', options: [1, 3, 5] });
  expect(verify.find(({ name }) => name === 'commands')?.control).toEqual({ kind: 'entries', entry: { kind: 'list' }, isNamed: true });
  expect(settings.filter(({ key }) => key.startsWith('verify.'))).toEqual([]);
});

test('a list that may be empty keeps "none" apart from "not set"; null is not set', () => {
  const tools = fieldsOf(entryOf('agents')).find(({ name }) => name === 'tools');
  const bounds = fieldsOf(fieldOf('agents', 'bounds'));
  expect(tools?.control).toEqual({ kind: 'optional', list: { kind: 'list' } });
  expect(bounds.find(({ name }) => name === 'folders')?.control).toEqual({ kind: 'optional', list: { kind: 'list' } });
  expect(bounds.find(({ name }) => name === 'steps')?.control).toMatchObject({ kind: 'number' });
  if (tools === undefined) throw new Error('there is no such field');
  expect([saysNothing([], tools), saysNothing(undefined, tools)]).toEqual([false, true]);
  const match = fieldsOf(entryOf('hooks')).find(({ name }) => name === 'match');
  if (match === undefined) throw new Error('there is no such field');
  expect([saysNothing({}, match), saysNothing({}, { ...match, isNeeded: true }), saysNothing({ tools: ['a'] }, match)]).toEqual([
    true,
    false,
    false,
  ]);
});

test('only the settings of plugins are written as JSON', () => {
  expect(settings.filter(({ control }) => jsonIn(control)).map(({ key }) => key)).toEqual(['plugins.settings']);
  expect(groupOf('plugins')).toBe('advanced');
});

function jsonIn(control: Control): boolean {
  return inside(control).some(({ kind }) => kind === 'json');
}

function inside(control: Control): Control[] {
  switch (control.kind) {
    case 'entries':
      return [control, ...inside(control.entry)];
    case 'optional':
      return [control, ...inside(control.list)];
    case 'fields':
      return [control, ...control.fields.flatMap((field) => inside(field.control))];
    case 'forms':
      return [control, ...control.forms.flatMap(({ fields }) => fields.flatMap((field) => inside(field.control)))];
    default:
      return [control];
  }
}

test('every field and every choice inside a setting has its name', () => {
  const { fields: fieldNames, options: optionNames } = english.settingNames;
  const all = settings.flatMap(({ control }) => inside(control));
  const fields = all.flatMap((control) =>
    control.kind === 'fields' ? control.fields : control.kind === 'forms' ? control.forms.flatMap((form) => form.fields) : [],
  );
  expect(fields.filter(({ name, path }) => !(name in fieldNames) && !(path in fieldNames)).map(({ path }) => path)).toEqual([]);
  const nested = fields.flatMap(({ control }) => inside(control));
  const options = nested.flatMap((control) => (control.kind === 'choice' || control.kind === 'choices' ? control.options : []));
  options.push(...all.flatMap((control) => (control.kind === 'forms' ? control.forms.map(({ name }) => name) : [])));
  expect([...new Set(options.map(String))].filter((name) => !(name in optionNames))).toEqual([]);
  const used = new Set([
    ...fields.flatMap(({ name, path }) => [name, path]),
    ...all.flatMap((control) => (control.kind === 'forms' ? [control.by] : [])),
  ]);
  expect(Object.keys(fieldNames).filter((name) => !used.has(name))).toEqual([]);
});

const language = createLanguage();
await language.whole();

test.each([
  [10_000, 'ms', '10 seconds'],
  [90_000, 'ms', '1.5 minutes'],
  [3_600_000, 'ms', '1 hours'],
  [1_234, 'ms', '1234 ms'],
  [0, 'ms', '0 ms'],
  [48_000, 'bytes', '48 kB'],
  [5_000_000, 'bytes', '5 MB'],
  [1_024, 'bytes', '1024 bytes'],
  [512, 'megabytes', '512 MB'],
] as const)('%d %s is edited as %s', (value, unit, text) => {
  const { name, factor } = scaleFor(value, unit);
  expect(`${value / factor} ${name}`).toBe(text);
});

test('an entry in a line says what it holds', () => {
  const rule = { when: { tools: ['web_fetch'], classes: ['network'] }, then: 'deny' };
  expect(summaryOf(rule, language)).toBe('Tools: web_fetch, Classes of calls: Network · Deny');
  expect(summaryOf({}, language)).toBe('');
});

test('another schema gets controls as well, with titles and descriptions', () => {
  const own = { properties: { on: { type: 'boolean', default: true, title: 'On', description: 'Whether.' }, odd: { anyOf: [{}, {}] } } };
  expect(readSettings(own)).toEqual([
    { key: 'on', section: 'on', control: { kind: 'switch' }, standard: true, title: 'On', help: 'Whether.' },
    { key: 'odd', section: 'odd', control: { kind: 'json' }, standard: undefined, title: null, help: null },
  ]);
});

test('channels have no rows, and every other setting has its name', () => {
  expect(settings.filter(({ key }) => key.startsWith('channels') || key.startsWith('providers'))).toEqual([]);
  const named: Readonly<Record<string, unknown>> = english.settingNames.settings;
  const ofContract = new Set(settings.flatMap(({ key, title, help }) => (title === null || help === null ? [] : [key])));
  expect(settings.map(({ key }) => key).filter((key) => key in named === ofContract.has(key))).toEqual([]);
  expect(Object.keys(named).filter((key) => find(key) === undefined)).toEqual([]);
  const sections: Readonly<Record<string, unknown>> = english.settingNames.sections;
  expect(settings.filter(({ section }) => !(section in sections))).toEqual([]);
});

test('values by path, and equality', () => {
  expect(valueAt({ a: { b: 3 } }, 'a.b')).toBe(3);
  expect(valueAt({ a: null }, 'a.b')).toBeUndefined();
  expect(valueAt({}, 'constructor.name')).toBeUndefined();
  expect(isSame({ a: [1, { b: 2 }], c: 3 }, { c: 3, a: [1, { b: 2 }] })).toBe(true);
  expect(isSame([1], [1, 2])).toBe(false);
});
