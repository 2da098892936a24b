// The steps that a person reads are the gate's: every rule that the gate can name belongs to one of them.

import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { policySteps, stepOfRule } from './policy-steps.ts';

const gate = fileURLToPath(new URL('../../../core/guard/policy', import.meta.url));
const families = new Set(policySteps.flatMap(({ rules }) => rules.map((rule) => rule.split('.')[0])));
/** Event types have the same form as rule ids. */
const noRules = /^(?:taint\.marked|tool\.(?:requested|finished|rejected|spawned|outcome_\w+)|grant\.(?:spent|created|revoked))$/;

test('every rule of the gate has its step', () => {
  const sources = globSync('*.ts', { cwd: gate }).filter((file) => !/\.test\.ts$|-bench\.ts$/.test(file));
  const named = sources
    .flatMap((file) => [...readFileSync(`${gate}/${file}`, 'utf8').matchAll(/'([a-z]+)\.[a-z_-]+'/g)])
    .filter(([, family = '']) => families.has(family))
    .map(([literal]) => literal.slice(1, -1))
    .filter((name) => !noRules.test(name));
  const rules = [...new Set(named)];
  expect(rules.length).toBeGreaterThan(15);
  expect(rules.filter((rule) => stepOfRule(rule) === -1)).toEqual([]);
  expect(stepOfRule('tool.unheard-of')).toBe(-1);
});
