// Every section has a place on the settings page, and the page an order.

import { expect, test } from 'vitest';
import { groupOf, inOrder } from './setting-groups.ts';

test('a section is in its group, one that is new among the advanced ones', () => {
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

test('sections come by group, those without a place last and as they were', () => {
  const ids = ['hooks', 'limits', 'channels', 'budget', 'appearance', 'agents'].map((id) => ({ id }));
  expect(inOrder(ids).map(({ id }) => id)).toEqual(['appearance', 'budget', 'limits', 'channels', 'hooks', 'agents']);
});
