// The errors for invalid settings, parameters or arguments: our own sentences, never those of the schema library.

import { expect, test } from 'vitest';
import * as z from 'zod';
import { configSchema } from './config.ts';
import { describeIssues } from './describe-issues.ts';
import { opTable } from './ops.ts';

function described(schema: z.ZodType, given: unknown): string[] {
  const parsed = schema.safeParse(given);
  return parsed.success ? [] : describeIssues(parsed.error.issues, { given, whole: 'the file' });
}

test.each([
  [{ models: { default: 7 } }, 'models.default must be text, not a number'],
  [{ models: { default: 'gpt' } }, 'models.default must be provider/model'],
  [{ models: { retries: 99 } }, 'models.retries must be at most 10'],
  [{ models: { retries: 1.5 } }, 'models.retries must be a whole number, not a number'],
  [{ limits: { steps: 0 } }, 'limits.steps must be at least 1'],
  [{ budget: { perDayUsd: Infinity } }, 'budget.perDayUsd must be a finite number'],
  [{ budget: { perDayUsd: NaN } }, 'budget.perDayUsd must be a finite number'],
  [{ workspace: { path: '' } }, 'workspace.path must not be empty'],
  [{ policy: { mode: 'loose' } }, 'policy.mode must be one of supervised, workspace-free, locked-down'],
  [
    { providers: { lab: {} } },
    'providers.lab.kind is missing (it must be one of openai, anthropic, openai-compatible, ollama, cortensor, embedded, ai-sdk, demo)',
  ],
  [{ providers: { lab: { kind: 'openai-compatible' } } }, 'providers.lab.baseUrl is missing (it must be text)'],
  [{ providers: { lab: { kind: 'openai', apiKey: 'sk-abc' } } }, /^providers\.lab\.apiKey must be keychain:NAME, env:NAME or file:PATH/],
  [{ providers: { lab: { kind: 'ollama', baseUrl: 'here' } } }, 'providers.lab.baseUrl must be a web address such as https://example.org'],
  [{ budjet: 1, models: { tiemouts: 1 } }, 'models.tiemouts is not a known key'],
  [
    { providers: { lab: { kind: 'x' } } },
    'providers.lab.kind must be one of openai, anthropic, openai-compatible, ollama, cortensor, embedded, ai-sdk, demo',
  ],
  [[], 'the file must be keys with values, not a list'],
])('%j is described in plain English', (given, sentence) => {
  expect(described(configSchema, given)[0]).toMatch(typeof sentence === 'string' ? new RegExp(`^${escaped(sentence)}$`) : sentence);
});

test('distinguishes missing from empty parameters, and shortens a long list', () => {
  expect(described(opTable['policy.explain'].params, { tool: 'calc' })).toEqual(['args is missing']);
  expect(described(opTable['message.send'].params, {})).toEqual(['text is missing (it must be text)']);
  expect(described(opTable['turn.steer'].params, { turnId: 't', text: '' })).toEqual(['text must not be empty']);
  const strict = z.strictObject({ list: z.array(z.string()) });
  expect(described(strict, { list: Array.from({ length: 12 }, () => 1) }).at(-1)).toBe('and 2 more');
});

test('names every type that a value may have', () => {
  const either = z.strictObject({ input: z.union([z.string(), z.array(z.string())]) });
  expect(described(either, { input: 5 })).toEqual(['input must be text or a list, not a number']);
});

test('no sentence comes from the schema library', () => {
  const forms = [
    null,
    1,
    'x',
    [],
    {},
    { text: 1 },
    { kind: 1 },
    { name: '', value: '' },
    { name: 'a b', key: 'a b', id: 'a b', path: '' },
    { provider: {} },
    { decision: 'maybe', approvalId: 1 },
  ];
  for (const [name, { params }] of Object.entries(opTable)) {
    for (const given of forms) {
      for (const line of described(params, given))
        expect(`${name}: ${line}`).not.toMatch(/Invalid|Too (?:small|big)|expected|received|discriminator|the right form/);
    }
  }
});

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
