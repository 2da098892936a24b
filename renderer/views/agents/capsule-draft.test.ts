import { expect, test } from 'vitest';
import type { Capsule } from '../../../core/contracts/features/identity.ts';
import { changesOf, draftOf, promptChoices, withPrompt } from './capsule-draft.ts';

const capsule: Capsule = { role: 'You keep the books.', constraints: ['Never push.', 'Ask first.'], risk: 'balanced', prompts: ['style'] };

test('an untouched form changes nothing, and only a difference is a change', () => {
  const draft = draftOf(capsule);
  expect(draft).toEqual({
    role: 'You keep the books.',
    style: '',
    constraints: 'Never push.\nAsk first.',
    risk: 'balanced',
    prompts: ['style'],
  });
  expect(changesOf(draft, capsule)).toBeNull();
  expect(changesOf({ ...draft, constraints: ' Never push. \n\nAsk first.\n' }, capsule)).toBeNull();
  expect(changesOf({ ...draft, style: ' Short. ', risk: 'careful' }, capsule)).toEqual({ style: 'Short.', risk: 'careful' });
});

test('an emptied field is removed', () => {
  const draft = { ...draftOf(capsule), role: ' ', constraints: '', prompts: [] };
  expect(changesOf(draft, capsule)).toEqual({ role: '', constraints: [], prompts: [] });
});

test('prompts keep their order; a newly chosen one is last', () => {
  expect(promptChoices(['house', 'style'], { ...capsule, prompts: ['style@2', 'house'] })).toEqual(['style@2', 'house', 'style']);
  expect(withPrompt(['a', 'b'], 'a', true)).toEqual(['b', 'a']);
  expect(withPrompt(['a', 'b'], 'a', false)).toEqual(['b']);
});
