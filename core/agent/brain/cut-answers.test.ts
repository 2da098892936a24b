import { expect, test } from 'vitest';
import { decide, emptyTurn } from './brain.ts';

test.each([
  ['stop', 'half', 'half'],
  ['length', 'half', "half\n\n(The answer was cut off at the model's length limit.)"],
  ['content_filter', 'half', "half\n\n(The answer was cut off by the content filter of the model's provider.)"],
  ['stop', ' ', 'The model ended its turn without an answer.'],
  ['content_filter', '', "The content filter of the model's provider withheld the answer. Say it in other words, or choose another model."],
] as const)('an answer that ended by %s with %j says so', (finishReason, text, said) => {
  expect(decide({ ...emptyTurn, status: 'running', reply: { text, finishReason } })).toMatchObject({
    kind: 'respond',
    status: 'done',
    text: said,
  });
});
