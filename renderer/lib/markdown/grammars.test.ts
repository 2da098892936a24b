// The languages with highlighting: each grammar loads alone and distinguishes tokens.

import { createHighlighterCore } from 'shiki/core';
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript';
import { expect, test } from 'vitest';
import { grammars, type LanguageName } from './grammars.ts';

const theme = {
  name: 'keywords',
  type: 'light' as const,
  fg: '#000000',
  bg: '#ffffff',
  settings: [{ scope: ['keyword', 'storage'], settings: { foreground: '#ff0000' } }],
};

test('every grammar loads, and Ruby is read without those of other languages', async () => {
  const highlighter = await createHighlighterCore({ themes: [theme], langs: [], engine: createJavaScriptRegexEngine({ forgiving: true }) });
  for (const name of Object.keys(grammars) as LanguageName[]) {
    await highlighter.loadLanguage(grammars[name]);
    expect(highlighter.getLoadedLanguages()).toContain(name);
  }
  const lines = highlighter.codeToTokensBase('def go\n  puts <<~SQL\n    select 1\n  SQL\nend\n', { lang: 'ruby', theme: 'keywords' });
  const red = lines.flat().filter(({ color }) => color?.toLowerCase() === '#ff0000');
  expect(red.map(({ content }) => content.trim())).toEqual(expect.arrayContaining(['def', 'end']));
  highlighter.dispose();
});
