import { expect, test } from 'vitest';
import { draftOf, extrasOf, routeOf, type Route } from './route-draft.ts';

const route: Route = {
  candidates: ['lab/a', { model: 'cloud/c', when: { contextOver: 30_000 }, weight: 2 }],
  prefer: 'cost',
  localOnly: false,
};

test('an unchanged route stays as it is, with its conditions', () => {
  expect(routeOf(draftOf('everyday', route), route)).toEqual(route);
});

test('candidates can be reordered, added and removed; empty lines and repeats vanish', () => {
  const draft = { ...draftOf('everyday', route), models: ' cloud/c \n\nlab/b\nlab/b\n' };
  expect(routeOf(draft, route).candidates).toEqual([route.candidates[1], 'lab/b']);
});

test('other settings of a candidate are shown as config.yaml writes them', () => {
  expect(route.candidates.map(extrasOf)).toEqual(['', 'contextOver: 30000, weight: 2']);
});
