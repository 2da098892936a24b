// Every section has a group on the settings page, and the page has an order.

import { expect, test } from 'vitest';
import { groupOf, inOrder, settingGroups } from './setting-groups.ts';

test('a section is in its group, a new one among the advanced ones', () => {
  expect(['appearance', 'models', 'secrets', 'limits', 'web', 'hooks', 'brand-new'].map(groupOf)).toEqual([
    'general',
    'models',
    'permissions',
    'money',
    'channels',
    'advanced',
    'advanced',
  ]);
});

test('the name of a group leads to it', () => {
  expect(settingGroups.map(groupOf)).toEqual(settingGroups);
});

test('sections are ordered by group, those without a place last', () => {
  const ids = ['hooks', 'limits', 'channels', 'budget', 'appearance', 'agents'].map((id) => ({ id }));
  expect(inOrder(ids).map(({ id }) => id)).toEqual(['appearance', 'budget', 'limits', 'channels', 'agents', 'hooks']);
});
