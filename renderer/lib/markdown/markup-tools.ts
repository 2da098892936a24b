// The tools that render an answer: one sanitizer with its rules for answers and formulas, the highlighter, the diagrams. Loaded with the code
// that shows an answer.

import createDOMPurify from 'dompurify';
import type { Words } from '../i18n/words.ts';
import { Diagrams } from './diagrams.svelte.ts';
import { createFormulas } from './formulas.ts';
import { WorkerHighlighter } from './highlighter.ts';
import { getRichText, type MarkupTools } from './rich-text.ts';
import { createBlockSanitizer } from './sanitize.ts';
import { createCodeWorkerStarter } from './start-code-worker.ts';

/** The tools of the window, for a component that is being created. */
export function getMarkupTools(): MarkupTools {
  return getRichText()(createMarkupTools);
}

function createMarkupTools(words: () => Words): MarkupTools {
  const purify = createDOMPurify(window);
  return {
    highlighter: new WorkerHighlighter(createCodeWorkerStarter(window)),
    diagrams: new Diagrams(document),
    sanitizer: createBlockSanitizer(purify, () => words().chat.document),
    formulas: createFormulas(purify),
  };
}
