import { expect, test } from 'vitest';
import type { SkillListing } from '../../../core/contracts/features/skills.ts';
import { dayOf, whyNot } from './why-not.ts';

const skill: SkillListing = {
  name: 'weather',
  description: 'Tells the weather.',
  version: '1.2.0',
  status: 'active',
  replacedBy: null,
  removeAfter: null,
  origin: 'workspace',
  path: '/skills/weather',
  trust: 'content',
  isEnabled: true,
  requirements: [{ kind: 'bin', name: 'weather', isMet: true, hint: null }],
  tools: [],
  isOffered: true,
  whyNot: null,
  errors: 0,
  warnings: 0,
  shadowed: [],
};
const missing = [{ kind: 'bin', name: 'weather', isMet: false, hint: null }] as const;

test('the reason is the first one in the order of the host', () => {
  const of = (change: Partial<SkillListing>) => whyNot({ ...skill, isOffered: false, whyNot: 'Something.', ...change });
  expect(whyNot(skill)).toBeNull();
  expect(of({ isEnabled: false, status: 'sunset', trust: 'none' })).toBe('off');
  expect(of({ status: 'sunset', trust: 'none' })).toBe('sunset');
  expect(of({ status: 'deprecated', requirements: [...missing] })).toBe('deprecated');
  expect(of({ trust: 'changed', requirements: [...missing] })).toBe('changed');
  expect(of({ trust: 'none' })).toBe('none');
  expect(of({ requirements: [...missing] })).toBe('needs');
  expect(of({})).toBe('other');
});

test('a day is read in the local zone, and text that is not a day is none', () => {
  expect(dayOf('2026-12-31')).toBe(new Date(2026, 11, 31).getTime());
  expect([dayOf(null), dayOf('soon'), dayOf('2026-12')]).toEqual([null, null, null]);
});
