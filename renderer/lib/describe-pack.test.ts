// The window's description of a pack: every reason has a text, and every omission belongs to a section.

import { expect, test } from 'vitest';
import { packAddenda, packReasons, packSectionOrder } from '../../core/contracts/pack-words.ts';
import type { Wording } from './describe-note.ts';
import { describeReason, measurePack, sectionRows, type PackView } from './describe-pack.ts';
import { english } from './i18n/english/whole.ts';
import { Formats } from './i18n/formats.ts';

const said: Wording = { words: english, format: new Formats('en-GB', english.common) };

const pack: PackView = {
  packId: 'trn_1-p1',
  turnId: 'trn_1',
  tokens: 1030,
  budgetTokens: 2000,
  sections: [
    { name: 'system', tokens: 600, items: 1 },
    { name: 'messages', tokens: 400, items: 3 },
    { name: 'memory', tokens: 30, items: 1 },
  ],
  dropped: [
    { what: 'memory: The birthday', count: 1, tokens: 90, reason: packReasons.share },
    { what: 'knowledge', count: 1, tokens: 0, reason: packReasons.late },
    { what: 'a pinned rule', count: 1, tokens: 40, reason: packReasons.rules },
    { what: 'oldest messages', count: 6, tokens: 900, reason: `${packReasons.whole}; ${packAddenda.unsummed}` },
  ],
  truncated: [{ what: 'result of exec', fromTokens: 500, toTokens: 100, reason: packReasons.whole }],
  messages: [],
  parts: [{ section: 'memory', id: 'mem_1', title: 'The garden', source: 'memory mem_1', tokens: 30 }],
  texts: [{ section: 'memory', text: 'Roses.', asOf: 'then' }],
  reported: { inputTokens: 1000, cachedInputTokens: 250 },
};

test('rows are in the order of the pack, including empty sections, with their losses', () => {
  const rows = sectionRows(pack, said);
  expect(rows.map(({ name, tokens }) => [name, tokens])).toEqual([
    ['system', 600],
    ['rules', 0],
    ['messages', 400],
    ['memory', 30],
    ['knowledge', 0],
  ]);
  expect(rows.map(({ losses }) => losses)).toEqual([
    [],
    ["Left out: a pinned rule (1 item, 40\u{a0}tokens). The model's window is too small for all pinned rules."],
    [
      'Left out: the oldest messages (6 items, 900\u{a0}tokens). The budget of the whole request was used up. No summary covers them yet.',
      'Cut: result of exec from 500\u{a0}tokens to 100\u{a0}tokens. The budget of the whole request was used up.',
    ],
    ["Left out: The birthday (1 item, 90\u{a0}tokens). This section's share was used up."],
    ['Left out: all of it (1 item, 0\u{a0}tokens). It was not ready in time.'],
  ]);
  expect(rows[3]).toMatchObject({ text: { text: 'Roses.' }, parts: [{ title: 'The garden' }] });
});

test('every reason has its own words, and one of a later program stays as it was said', () => {
  const all = Object.values(packReasons).map((reason) => describeReason(reason, said));
  expect(new Set(all).size).toBe(all.length);
  expect(all.filter((text) => Object.values<string>(packReasons).includes(text))).toEqual([]);
  expect(packSectionOrder.filter((name) => !(name in said.words.chat.pack.sectionNames))).toEqual([]);
  expect(describeReason('the moon was full', said)).toBe('the moon was full');
  expect(describeReason(`${packReasons.refused}; and more`, said)).toBe('The model had refused a larger request. and more');
});

test('what the server counted is measured against the estimate, and nothing is measured where it did not say', () => {
  expect(measurePack(pack)).toEqual({ inputTokens: 1000, cachedTokens: 250, cachedShare: 0.25, errorShare: 0.03 });
  expect(measurePack({ ...pack, reported: null })).toBeNull();
  expect(measurePack({ ...pack, reported: { inputTokens: 0, cachedInputTokens: 0 } })).toBeNull();
});
