import { describe, expect, test } from 'vitest';
import { limitControls } from './limit-controls.ts';
import { outputControls } from './output-controls.ts';
import type { Part } from './refused.ts';
import { controls, says, valid } from './vendor-controls.ts';
import { refusalWords, vendorRefusal, vendors, type Vendor } from './vendors.ts';

describe.each(vendors)('%s', (vendor) => {
  test('accepts a valid request', () => {
    expect(vendorRefusal(vendor, valid[vendor])).toBeNull();
  });

  test.each(
    [...controls[vendor], ...(outputControls[vendor] ?? []), ...(limitControls[vendor] ?? [])].map((control) => ({
      what: control[0],
      control,
    })),
  )('refuses $what', ({ control }) => {
    const [, change, wordsOfIt, status = 400] = control;
    const changed = Object.entries({ ...valid[vendor], ...change }).filter(([, value]) => value !== undefined);
    // Serialised and parsed as on the wire.
    const no = vendorRefusal(vendor, JSON.parse(JSON.stringify(Object.fromEntries(changed))) as Part);
    expect([no?.status, no === null ? '' : refusalWords(no)]).toEqual([status, expect.stringContaining(wordsOfIt)]);
  });
});

test("a refusal has its vendor's form", () => {
  const bodyOf = (vendor: Vendor, change: object): unknown => vendorRefusal(vendor, { ...valid[vendor], ...change })?.body;
  expect(bodyOf('openai', says())).toEqual({
    error: {
      message: expect.stringContaining('empty array') as unknown,
      type: 'invalid_request_error',
      param: 'messages',
      code: 'empty_array',
    },
  });
  expect(bodyOf('anthropic', says())).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
  expect(bodyOf('gemini', { seed: 1 })).toMatchObject([{ error: { code: 400, status: 'INVALID_ARGUMENT' } }]);
  expect(bodyOf('mistral', says())).toMatchObject({ object: 'error', type: 'invalid_request_message_order', code: '3230' });
  expect(bodyOf('xai', { stop: ['a'] })).toEqual({ code: 'Client specified an invalid argument', error: expect.any(String) as unknown });
  expect(bodyOf('ollama', { model: '' })).toEqual({ error: 'model is required' });
  expect(bodyOf('openrouter', { messages: null })).toMatchObject({ error: { code: 400 } });
});
