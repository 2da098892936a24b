// The page's sanitizer, with its rules for answers and formulas. Loaded with the code that shows an answer.

import createDOMPurify from 'dompurify';
import type { Words } from '../i18n/words.ts';
import { createFormulas } from './formulas.ts';
import type { Purified } from './rich-text.ts';
import { createBlockSanitizer } from './sanitize.ts';

export function createPurified(words: () => Words): Purified {
  const purify = createDOMPurify(window);
  return { sanitizer: createBlockSanitizer(purify, () => words().chat.document), formulas: createFormulas(purify) };
}
