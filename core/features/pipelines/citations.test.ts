import { expect, test } from 'vitest';
import { builtInNames, builtInPipeline } from './built-in.ts';
import { checkCitations } from './citations.ts';
import { graphFaults } from './graph.ts';

const pages = [{ url: 'https://Example.org/tower/', text: 'The tower was completed in 1889.\nIt is 330 metres tall.' }];

test.each<[string, string, number, number]>([
  ['a fetched page', 'It is tall [https://example.org/tower].', 1, 1],
  ['the same with a fragment', 'Tall (https://example.org/tower/#top).', 1, 1],
  ['a page that was not fetched', 'Tall (https://example.org/other).', 1, 0],
  ['a quotation that is there', '"completed  in 1889" (https://example.org/tower)', 1, 1],
  ['a quotation that is not', '"completed in 1789" (https://example.org/tower)', 1, 0],
  ['a quotation beside the next address', '"completed in 1889" (https://example.org/tower) and https://example.org/x', 2, 1],
  ['no address', 'It is tall.', 0, 0],
])('%s', (_what, text, cited, valid) => {
  expect(checkCitations(text, pages)).toMatchObject({ cited, valid });
});

test.each(builtInNames)('the built-in pipeline %s has no fault', (name) => {
  const file = builtInPipeline(name);
  expect(file === null ? ['missing'] : graphFaults(file)).toEqual([]);
});
