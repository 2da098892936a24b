// The worker that highlights code: one grammar per language, loaded on first use. Receives text and returns tokens.

import { createHighlighterCore, type HighlighterCore } from 'shiki/core';
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript';
import { codeKinds, type CodeKind, type CodeLines, type CodeReply, type CodeRequest } from './code-tokens.ts';
import { grammars, languageNamed } from './grammars.ts';

const theme = 'kinds';
/** Longer lines are data, not code. */
const lineCharsMax = 2000;
/** In the theme each kind has a colour that encodes its name; the page's own styles contain the real ones. */
const colours = new Map<string, CodeKind>(codeKinds.map((kind, index) => [`#0000${index.toString(16).padStart(2, '0')}`, kind]));
const scopes: Readonly<Record<CodeKind, readonly string[]>> = {
  comment: ['comment', 'punctuation.definition.comment'],
  string: ['string', 'markup.inline.raw', 'markup.inserted'],
  constant: [
    'constant',
    'support.constant',
    'variable.language',
    'entity.name.tag.yaml',
    'support.type.property-name',
    'keyword.other.unit',
  ],
  keyword: ['keyword', 'storage', 'entity.name.tag', 'markup.heading', 'markup.deleted', 'variable.language.this'],
  function: ['entity.name.function', 'support.function', 'entity.name.type', 'entity.name.class', 'support.class', 'meta.diff.range'],
  parameter: ['variable.parameter', 'entity.other.attribute-name', 'variable.other.readwrite.shell'],
  punctuation: ['punctuation', 'meta.brace'],
  link: ['markup.underline.link', 'string.other.link'],
};

class CodeReader {
  readonly #core: Promise<HighlighterCore> = createHighlighterCore({
    themes: [kindsTheme()],
    langs: [],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  });

  async read({ id, language, text }: CodeRequest): Promise<CodeReply> {
    try {
      return { id, lines: await this.#tokenize(text, language) };
    } catch {
      // Falls back to plain text if the grammar is missing or unsupported by this engine.
      return { id, lines: null };
    }
  }

  async #tokenize(text: string, language: string): Promise<CodeLines | null> {
    const name = languageNamed(language);
    if (name === null) return null;
    const highlighter = await this.#core;
    if (!highlighter.getLoadedLanguages().includes(name)) await highlighter.loadLanguage(grammars[name]);
    // Has no timeout here; the caller sets one.
    const limits = { tokenizeMaxLineLength: lineCharsMax, tokenizeTimeLimit: 0 };
    const lines = highlighter.codeToTokensBase(text, { lang: name, theme, ...limits });
    return lines.map((line) => line.map(({ content, color }) => [content, colours.get(color?.toLowerCase() ?? '') ?? null] as const));
  }
}

function kindsTheme() {
  const settings = [...colours].map(([foreground, kind]) => ({ scope: [...scopes[kind]], settings: { foreground } }));
  return { name: theme, type: 'light' as const, fg: '#ffffff', bg: '#ffffff', settings };
}

const reader = new CodeReader();

addEventListener('message', ({ data }: MessageEvent<CodeRequest>) => {
  void reader.read(data).then((reply) => postMessage(reply));
});
